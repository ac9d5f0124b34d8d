//! What is listed depends neither on the connection that asks nor on what was asked there before.
//!
//! The exchanges of the whole run are compared: `of: connections` takes the first whole list of each connection, `of:
//! requests` the first and the last of each, and `of: any` both. A list that changes for everybody changes over time,
//! which is allowed, so a difference counts only where the first connection still lists what it listed before. `of:
//! order` asks whether the same items come in the same order.

use serde_json::Value;

use super::{
    Check, Fault, Given, Report,
    pages_agree::{keys, short},
};

pub const CHECK: Check = Check { name: "lists-agree", given: &["lists", "of"], run };

/// A whole list on one connection: its pages one after another.
struct Whole {
    link: u64,
    /// Sorted, and as they came.
    keys: Vec<String>,
    in_order: Vec<String>,
    /// Index of its first exchange.
    at: usize,
}

fn run(given: &Given) -> Report {
    let wholes = wholes(given.value("lists").as_array().map(Vec::as_slice).unwrap_or_default());
    let mut report = match given.text("of") {
        "connections" => connections(&wholes),
        "requests" => requests(&wholes),
        "order" => order(&wholes),
        _ => {
            let (mut both, requests) = (connections(&wholes), requests(&wholes));
            both.checked += requests.checked;
            both.faults.extend(requests.faults);
            both
        }
    };
    let method = given.value("lists")[0]["method"].as_str().map(str::to_owned);
    report.faults.iter_mut().for_each(|fault| fault.subject.clone_from(&method));
    report
}

/// Whole lists of the same items, whoever asked.
fn order(wholes: &[Whole]) -> Report {
    let mut report = Report::default();
    for (index, whole) in wholes.iter().enumerate() {
        let Some(before) = wholes[..index].iter().find(|earlier| earlier.keys == whole.keys) else { continue };
        report.checked += 1;
        if before.in_order != whole.in_order {
            let place = before.in_order.iter().zip(&whole.in_order).find(|(before, now)| before != now);
            let (before, now) = place.map_or(("", ""), |(before, now)| (before.as_str(), now.as_str()));
            report.faults.push(Fault {
                given: "lists",
                pointer: format!("/{}", whole.at),
                message: format!("the same items in another order: {now} where {before} was before"),
                ..Fault::default()
            });
        }
    }
    report
}

fn connections(wholes: &[Whole]) -> Report {
    let Some(first) = wholes.first() else { return Report::default() };
    let others: Vec<&Whole> = wholes.iter().filter(|whole| whole.link != first.link).collect();
    let unchanged = wholes.iter().filter(|whole| whole.link == first.link).all(|whole| whole.keys == first.keys);
    if others.is_empty() || !unchanged {
        return Report::default();
    }
    // A list that has changed for all later connections has changed over time.
    let Some(odd) = others.iter().find(|whole| whole.keys != first.keys) else { return Report::of(Vec::new()) };
    let several = others.iter().any(|other| other.link != odd.link);
    if several && others.iter().all(|whole| whole.keys == odd.keys) && others.iter().all(|w| w.at > first.at) {
        let later_on_first = wholes.iter().rev().find(|whole| whole.link == first.link).is_some_and(|w| w.at > odd.at);
        if !later_on_first {
            return Report::default();
        }
    }
    Report::of(vec![differing(odd, first, "another connection lists")])
}

fn requests(wholes: &[Whole]) -> Report {
    let mut checked = 0;
    let mut faults = Vec::new();
    for (index, whole) in wholes.iter().enumerate() {
        let Some(before) = wholes[..index].iter().rev().find(|earlier| earlier.link == whole.link) else { continue };
        checked += 1;
        let elsewhere = wholes.iter().any(|other| other.link != whole.link && other.keys == whole.keys);
        if before.keys != whole.keys && !elsewhere && wholes.iter().any(|other| other.link != whole.link) {
            faults.push(differing(whole, before, "before other requests this connection listed"));
        }
    }
    Report { checked, faults, broken: None }
}

fn differing(odd: &Whole, other: &Whole, what: &str) -> Fault {
    Fault {
        given: "lists",
        pointer: format!("/{}", odd.at),
        message: format!("the list holds {}; {what} {}", short(&odd.keys), short(&other.keys)),
        expected: Some(Value::from(other.keys.clone())),
        received: Some(Value::from(odd.keys.clone())),
        ..Fault::default()
    }
}

/// Puts pages together: a request without cursor begins a list, the cursor of the page before goes on with it.
fn wholes(exchanges: &[Value]) -> Vec<Whole> {
    let mut done = Vec::new();
    let mut open: Vec<(Whole, String)> = Vec::new();
    for (at, exchange) in exchanges.iter().enumerate() {
        let (link, params, result) = (exchange["link"].as_u64().unwrap_or(0), &exchange["params"], &exchange["result"]);
        let asks_for_all =
            params.get("uri").is_none() && params.get("prefix").is_none() && params.get("filter").is_none();
        let mut whole = match params["cursor"].as_str() {
            _ if !asks_for_all => continue,
            None => Whole { link, keys: Vec::new(), in_order: Vec::new(), at },
            Some(cursor) => match open.iter().position(|(whole, next)| whole.link == link && next == cursor) {
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
