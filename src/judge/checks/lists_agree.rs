//! What is listed depends neither on the connection that asks nor on what was asked there before.
//!
//! The exchanges of the whole run are compared: `of: connections` each whole list with those of other connections, `of:
//! requests` with those of the same one, and `of: any` with both. A list that changes for everybody changes over time,
//! which is allowed, and it may change back. So a difference counts only where another connection lists later on what
//! was listed before, and after that the odd one is still odd. `of: order` asks whether the same items come in the same
//! order. What a client declares may decide on what it is shown, so only lists for the same capabilities are compared.

use serde_json::Value;

use super::{
    Check, Fault, Given, Report,
    pages_agree::{keys, short},
};

/// `calls` are the link, the frames, the params and the end of each call of a tool, one after another; `tools` those that are
/// listed.
pub const CHECK: Check = Check { name: "lists-agree", given: &["lists", "of", "calls?", "tools?"], run };

/// A whole list on one connection: its pages sequentially.
struct Whole {
    link: u64,
    /// Sorted, and as they came.
    keys: Vec<String>,
    in_order: Vec<String>,
    declared: Value,
    /// How many calls that may have changed something came before it on its connection.
    changes: usize,
    /// Index of its first exchange.
    at: usize,
}

fn run(given: &Given) -> Report {
    let wholes = wholes(given.list("lists"), &changing_calls(given));
    let mut report = match given.text("of") {
        "order" => order(&wholes),
        "connections" => compared(&steady(wholes), |same_link| !same_link),
        of => compared(&wholes, |same_link| of == "any" || same_link),
    };
    let method = given.value("lists")[0]["method"].as_str().map(str::to_owned);
    report.faults.iter_mut().for_each(|fault| fault.subject.clone_from(&method));
    report
}

/// Whole lists of the same items, whoever asked.
fn order(wholes: &[Whole]) -> Report {
    let mut report = Report::default();
    for (index, whole) in wholes.iter().enumerate() {
        let same = |earlier: &&Whole| earlier.keys == whole.keys && earlier.declared == whole.declared;
        if whole.keys.len() < 2 {
            continue;
        }
        let Some(before) = wholes[..index].iter().find(same) else { continue };
        report.checked += 1;
        if before.in_order != whole.in_order {
            let place = before.in_order.iter().zip(&whole.in_order).find(|(before, now)| before != now);
            let (before, now) = place.map_or(("", ""), |(before, now)| (before.as_str(), now.as_str()));
            report.faults.push(Fault {
                given: "lists",
                pointer: format!("/{}", whole.at),
                message: format!("the same items in another order: {now} at the position of {before}"),
                ..Fault::default()
            });
        }
    }
    report
}

/// Those of connections that were always shown the same, and changed nothing: where one was not, it may be for the
/// requests in between.
fn steady(wholes: Vec<Whole>) -> Vec<Whole> {
    let comparable = |whole: &Whole, other: &Whole| other.link == whole.link && other.declared == whole.declared;
    let stays = |whole: &Whole| {
        whole.changes == 0 && wholes.iter().all(|other| !comparable(whole, other) || other.keys == whole.keys)
    };
    let kept: Vec<bool> = wholes.iter().map(stays).collect();
    wholes.into_iter().zip(kept).filter_map(|(whole, kept)| kept.then_some(whole)).collect()
}

/// Each list with the last one before it, on the same connection and on others, as far as that is wanted.
fn compared(wholes: &[Whole], wanted: impl Fn(bool) -> bool) -> Report {
    let (mut checked, mut faults) = (0, Vec::new());
    if wholes.iter().all(|whole| whole.link == wholes[0].link) {
        return Report::default();
    }
    for (index, whole) in wholes.iter().enumerate() {
        let (earlier, later) = (&wholes[..index], &wholes[index + 1..]);
        for same_link in [true, false].into_iter().filter(|&same_link| wanted(same_link)) {
            let last = |other: &&Whole| other.declared == whole.declared && (other.link == whole.link) == same_link;
            let Some(before) = earlier.iter().rev().find(last) else { continue };
            if same_link && before.changes != whole.changes {
                continue;
            }
            let agrees = before.keys == whole.keys;
            if !agrees && !stays_odd(whole, before, later) {
                continue;
            }
            checked += 1;
            if !agrees {
                let of = if same_link { "before other requests this connection" } else { "another connection" };
                faults.push(differing(whole, before, &format!("{of} listed")));
            }
        }
    }
    Report { checked, faults, broken: None }
}

/// Whether another connection still lists what was listed before, and the odd one something else even then.
fn stays_odd(odd: &Whole, before: &Whole, later: &[Whole]) -> bool {
    let mut later = later.iter().filter(|other| other.declared == odd.declared);
    later.any(|other| other.link != odd.link && other.keys == before.keys)
        && later.any(|other| other.link == odd.link && other.keys != before.keys)
}

fn differing(odd: &Whole, other: &Whole, what: &str) -> Fault {
    Fault {
        given: "lists",
        pointer: format!("/{}", odd.at),
        message: format!("the list has {}; {what} {}", short(&odd.keys), short(&other.keys)),
        expected: Some(Value::from(other.keys.clone())),
        received: Some(Value::from(odd.keys.clone())),
        ..Fault::default()
    }
}

/// The link and the frame of each call that may have changed something. A tool that is not listed, though there is one, says
/// nothing of itself.
fn changing_calls(given: &Given) -> Vec<(u64, u64)> {
    let tools = given.list("tools");
    let changes = |call: &&[Value]| match tools.iter().find(|tool| tool["name"] == call[2]["name"]) {
        Some(tool) => tool["annotations"]["readOnlyHint"] != true,
        None => call[3] == "result",
    };
    let calls = given.list("calls").chunks_exact(4).filter(changes);
    calls.filter_map(|call| Some((call[0].as_u64()?, call[1][0].as_u64()?))).collect()
}

/// Puts pages together: a request without cursor begins a list, the cursor of the page before goes on with it.
fn wholes(exchanges: &[Value], calls: &[(u64, u64)]) -> Vec<Whole> {
    let mut done = Vec::new();
    let mut open: Vec<(Whole, String)> = Vec::new();
    for (at, exchange) in exchanges.iter().enumerate() {
        let (link, params, result) = (exchange["link"].as_u64().unwrap_or(0), &exchange["params"], &exchange["result"]);
        let asks_for_all =
            params.get("uri").is_none() && params.get("prefix").is_none() && params.get("filter").is_none();
        let mut whole = match params["cursor"].as_str() {
            _ if !asks_for_all => continue,
            None => {
                let declared = params["_meta"]["io.modelcontextprotocol/clientCapabilities"].clone();
                let asked = exchange["frames"][0].as_u64().unwrap_or_default();
                let changes = calls.iter().filter(|(on, frame)| *on == link && *frame < asked).count();
                Whole { link, keys: Vec::new(), in_order: Vec::new(), declared, changes, at }
            }
            // Of an earlier list, perhaps only the first page was requested.
            Some(cursor) => match open.iter().rposition(|(whole, next)| whole.link == link && next == cursor) {
                Some(index) => open.remove(index).0,
                None => continue,
            },
        };
        whole.keys.extend(keys(result));
        if let Some(next) = result["nextCursor"].as_str() {
            open.push((whole, next.to_owned()));
        } else {
            whole.in_order.clone_from(&whole.keys);
            whole.keys.sort();
            done.push(whole);
        }
    }
    done
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use serde_json::json;

    use super::*;
    use crate::revision::Revision;

    /// What is found in lists that were asked for one after another: by link, and with these items. `!` calls a tool
    /// that may change something, `?` one that does not, `+` one that is not listed, and `-` one that does not exist.
    fn found(of: &str, lists: &[(u64, &str)]) -> Vec<String> {
        let (mut exchanges, mut calls) = (Vec::new(), Vec::new());
        for (frame, (link, uris)) in lists.iter().enumerate() {
            if ["!", "?", "+", "-"].contains(uris) {
                let end = if *uris == "-" { "error" } else { "result" };
                calls.extend([json!(link), json!([frame]), json!({ "name": uris }), json!(end)]);
                continue;
            }
            let resources: Vec<_> = uris.chars().map(|uri| json!({ "uri": uri })).collect();
            let result = json!({ "resources": resources });
            let mut exchange = json!({ "link": link, "method": "resources/list", "params": {}, "result": result });
            exchange["frames"] = json!([frame]);
            exchanges.push(exchange);
        }
        let values = vec![
            ("lists", Cow::Owned(json!(exchanges))),
            ("of", Cow::Owned(json!(of))),
            ("calls", Cow::Owned(json!(calls))),
            ("tools", Cow::Owned(json!([{ "name": "!" }, { "name": "?", "annotations": { "readOnlyHint": true } }]))),
        ];
        let report = run(&Given { values, revision: Revision::NEWEST });
        report.faults.into_iter().map(|fault| fault.pointer).collect()
    }

    #[test]
    fn pages_continue_the_list_that_was_begun_last() {
        let page = |link: u64, cursor: Option<&str>, uri: &str, next: Option<&str>| {
            json!({
                "link": link, "params": cursor.map_or(json!({}), |cursor| json!({ "cursor": cursor })),
                "result": next.map_or(json!({ "resources": [{ "uri": uri }] }), |next| json!({ "resources": [{ "uri": uri }], "nextCursor": next })),
            })
        };
        let exchanges =
            [page(1, None, "only looked at", Some("2")), page(1, None, "a", Some("2")), page(1, Some("2"), "b", None)];
        let wholes = wholes(&exchanges, &[]);
        assert_eq!(wholes.iter().map(|whole| whole.at).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn what_changes_for_everybody_changes_over_time() {
        assert_eq!(found("any", &[(1, "a"), (2, "ab"), (1, "ab"), (3, "ab")]), [""; 0]);
        assert_eq!(found("any", &[(1, "a"), (2, "ab"), (3, "abc"), (1, "abcd")]), [""; 0]);
        assert_eq!(found("any", &[(1, "a"), (1, "ab")]), [""; 0]);
        // And back.
        assert_eq!(found("any", &[(1, "a"), (2, "ab"), (1, "a"), (2, "a")]), [""; 0]);
        assert_eq!(found("any", &[(1, "a"), (1, "ab"), (2, "a")]), [""; 0]);
    }

    #[test]
    fn what_a_tool_adds_in_a_process_is_no_fault() {
        let lists = |call| [(1, "a"), (1, call), (1, "ab"), (2, "a"), (1, "ab"), (2, "a")];
        assert_eq!((found("requests", &lists("!")), found("connections", &lists("!"))), (vec![], vec![]));
        assert_eq!(found("requests", &lists("+")), [""; 0]);
        assert_eq!(
            (found("requests", &lists("?")), found("requests", &lists("-"))),
            (vec!["/1".into()], vec!["/1".into()])
        );
        assert_eq!(found("connections", &[(1, "!"), (1, "ab"), (2, "a"), (1, "ab"), (2, "a")]), [""; 0]);
    }

    #[test]
    fn what_one_connection_alone_shows_is_found() {
        assert_eq!(found("connections", &[(1, "a"), (2, "ab"), (1, "a"), (2, "ab")]), ["/1"]);
        assert_eq!(found("requests", &[(1, "a"), (1, "ab"), (2, "a"), (1, "abc")]), ["/1"]);
        assert_eq!(found("requests", &[(1, "a"), (2, "ab"), (1, "a"), (2, "ab")]), [""; 0]);
        let unlocked = [(1, "a"), (1, "ab"), (2, "a"), (1, "ab"), (2, "a")];
        assert_eq!((found("requests", &unlocked), found("connections", &unlocked)), (vec!["/1".to_owned()], vec![]));
    }
}
