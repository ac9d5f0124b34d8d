//! A server that declares `listChanged` announces each change of the list.
//!
//! Each complete list of a connection is compared with the one before it. A change counts as announced if its
//! connection received any announcement after the earlier list, since no time limit is specified. A change counts only
//! if the list is requested once more after it, so that there was time to announce it.

use std::collections::HashMap;

use serde_json::Value;

use super::pages_agree::{keys, short};
use crate::checks::{Check, Fault, Given, Report};

/// `frames` are the list requests, possible responses to them, and the announcements.
pub const CHECK: Check = Check { name: "changes-told", given: &["frames"], run };

struct Whole {
    link: u64,
    keys: Vec<String>,
    /// Index of the frame of its first page.
    at: usize,
}

fn run(given: &Given) -> Report {
    let frames = given.list("frames");
    let wholes = wholes(frames);
    let changes: Vec<_> = changes(&wholes).collect();
    let announces = |frame: &&Value| frame["from"] == "server" && frame["message"].get("method").is_some();
    let is_told =
        |before: &Whole| frames[before.at..].iter().filter(announces).any(|frame| frame["link"] == before.link);
    let untold = changes.iter().find(|(before, _)| !is_told(before)).map(|(before, now)| untold(before, now));
    Report { checked: changes.len(), faults: untold.into_iter().collect(), broken: None }
}

/// Joins pages: a request without params starts a list, and the cursor of the previous page continues it.
fn wholes(frames: &[Value]) -> Vec<Whole> {
    let mut asked = HashMap::new();
    let mut open: HashMap<(u64, String), Whole> = HashMap::new();
    let mut wholes = Vec::new();
    for (at, frame) in frames.iter().enumerate() {
        let (link, message) = (frame["link"].as_u64().unwrap_or(0), &frame["message"]);
        let request = (link, message["id"].to_string());
        if frame["from"] == "client" {
            let params = message["params"].as_object();
            if params.is_none_or(|params| params.keys().all(|name| ["_meta", "cursor"].contains(&name.as_str()))) {
                asked.insert(request, message["params"]["cursor"].as_str().map(str::to_owned));
            }
            continue;
        }
        let whole = match asked.remove(&request) {
            Some(None) => Some(Whole { link, keys: Vec::new(), at }),
            Some(Some(cursor)) => open.remove(&(link, cursor)),
            None => None,
        };
        let Some(mut whole) = whole else { continue };
        whole.keys.extend(keys(&message["result"]));
        match message["result"]["nextCursor"].as_str() {
            Some(next) => drop(open.insert((link, next.to_owned()), whole)),
            None => wholes.push(whole),
        }
    }
    for whole in &mut wholes {
        whole.keys.sort();
    }
    wholes
}

/// Each list that differs from the previous one on its connection, with that one.
fn changes(wholes: &[Whole]) -> impl Iterator<Item = (&Whole, &Whole)> {
    wholes.iter().enumerate().filter_map(|(index, now)| {
        let before = wholes[..index].iter().rev().find(|other| other.link == now.link)?;
        let is_asked_again = wholes[index + 1..].iter().any(|later| later.link == now.link);
        (before.keys != now.keys && is_asked_again).then_some((before, now))
    })
}

fn untold(before: &Whole, now: &Whole) -> Fault {
    Fault {
        given: "frames",
        pointer: format!("/{}", now.at),
        message: format!(
            "the list has {}, before it had {}, and no notification announced the change",
            short(&now.keys),
            short(&before.keys)
        ),
        expected: Some(Value::from(before.keys.clone())),
        received: Some(Value::from(now.keys.clone())),
        ..Fault::default()
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use serde_json::json;

    use super::*;
    use conform_model::revision::Revision;

    /// The findings for lists with these items, by connection, with an announcement on each connection in `told`.
    fn found(lists: &[(u64, &str)], told: &[u64]) -> (usize, Vec<String>) {
        let mut frames = Vec::new();
        for (id, (link, names)) in lists.iter().enumerate() {
            let tools: Vec<_> = names.chars().map(|name| json!({ "name": name })).collect();
            let request = json!({ "id": id, "method": "tools/list" });
            frames.push(json!({ "link": link, "from": "client", "message": request }));
            frames
                .push(json!({ "link": link, "from": "server", "message": { "id": id, "result": { "tools": tools } } }));
        }
        let notice = json!({ "method": "notifications/tools/list_changed" });
        frames.extend(told.iter().map(|link| json!({ "link": link, "from": "server", "message": notice })));
        let report = run(&Given { values: vec![("frames", Cow::Owned(json!(frames)))], revision: Revision::NEWEST });
        (report.checked, report.faults.into_iter().map(|fault| fault.pointer).collect())
    }

    #[test]
    fn a_change_that_nothing_tells_of_is_found() {
        assert_eq!(found(&[(1, "a"), (1, "ab"), (1, "ab")], &[2]), (1, vec!["/3".to_owned()]));
        assert_eq!(found(&[(1, "a"), (1, "ab"), (1, "ab")], &[1]), (1, vec![]));
    }

    #[test]
    fn other_connections_and_the_last_list_do_not_count() {
        assert_eq!(found(&[(1, "a"), (2, "ab"), (1, "a"), (2, "ab")], &[]), (0, vec![]));
        assert_eq!(found(&[(1, "a"), (1, "ab")], &[]), (0, vec![]));
        assert_eq!(found(&[(1, "ab"), (1, "ba"), (1, "ab")], &[]), (0, vec![]));
    }
}
