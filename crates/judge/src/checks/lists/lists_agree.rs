//! A list depends neither on the connection nor on earlier requests on it.
//!
//! The exchanges of the whole run are compared: with `of: connections` each complete list with those of other
//! connections, with `of: requests` with those of the same connection, and with `of: any` with both. A list may change
//! over time for everybody, and change back. So a difference counts only if another connection later lists the earlier
//! items again, and the deviating connection still differs after that. `of: order` compares the order of the same
//! items. A list may depend on the client's capabilities, so only lists for the same capabilities are compared.

use serde_json::Value;

use super::pages_agree::{keys, short};
use crate::checks::{Check, Fault, Given, Report};

/// `calls` are the connection, frames, params and end of each tool call, in order; `tools` are the listed tools.
pub const CHECK: Check = Check { name: "lists-agree", given: &["lists", "of", "calls?", "tools?"], run };

/// A complete list on one connection: its pages in sequence.
struct Whole {
    link: u64,
    /// Sorted, and in the order received.
    keys: Vec<String>,
    in_order: Vec<String>,
    declared: Value,
    /// The number of earlier calls on its connection that may have changed something.
    changes: usize,
    /// Index of its first exchange.
    at: usize,
}

fn run(given: &Given) -> Report {
    let wholes = wholes(given.list("lists"), &changing_calls(given));
    let mut report = match given.text("of") {
        "order" => order(&wholes),
        "connections" => compared(&unchanged(wholes), |same_link| !same_link),
        of => compared(&wholes, |same_link| of == "any" || same_link),
    };
    let method = given.value("lists")[0]["method"].as_str().map(str::to_owned);
    report.faults.iter_mut().for_each(|fault| fault.subject.clone_from(&method));
    report
}

/// Compares the order of complete lists with the same items, on any connection.
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

/// The lists of connections that always received the same list and changed nothing. On others, the requests in between
/// may be the cause.
fn unchanged(wholes: Vec<Whole>) -> Vec<Whole> {
    let comparable = |whole: &Whole, other: &Whole| other.link == whole.link && other.declared == whole.declared;
    let stays = |whole: &Whole| {
        whole.changes == 0 && wholes.iter().all(|other| !comparable(whole, other) || other.keys == whole.keys)
    };
    let kept: Vec<bool> = wholes.iter().map(stays).collect();
    wholes.into_iter().zip(kept).filter_map(|(whole, kept)| kept.then_some(whole)).collect()
}

/// Compares each list with the last one before it, on the same connection and on others, as far as `wanted`.
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
            if !agrees && !still_differs(whole, before, later) {
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

/// Whether another connection still lists the earlier items, and the deviating one still differs after that.
fn still_differs(odd: &Whole, before: &Whole, later: &[Whole]) -> bool {
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

/// The connection and frame of each call that may have changed something. This includes successful calls of unlisted
/// tools, since they have no annotations.
fn changing_calls(given: &Given) -> Vec<(u64, u64)> {
    let tools = given.list("tools");
    let changes = |call: &&[Value]| match tools.iter().find(|tool| tool["name"] == call[2]["name"]) {
        Some(tool) => tool["annotations"]["readOnlyHint"] != true,
        None => call[3] == "result",
    };
    let calls = given.list("calls").chunks_exact(4).filter(changes);
    calls.filter_map(|call| Some((call[0].as_u64()?, call[1][0].as_u64()?))).collect()
}

/// Joins pages: a request without cursor starts a list, and the cursor of the previous page continues it.
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
            // Perhaps only the first page of an earlier list was requested.
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
    use conform_model::revision::Revision;

    /// The findings for lists requested in this order: the connection, and the items. `!` calls a tool that may change
    /// something, `?` one that does not, `+` one that is not listed, and `-` one that does not exist.
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
        // The list changes back.
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
