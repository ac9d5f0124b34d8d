//! The children that a container lists, compared with those in the configuration. `part: only` reports extra ones,
//! `part: complete` missing ones.

use serde_json::{Value, json};

use crate::checks::{Check, Fault, Given, Report};
use conform_model::evidence::ListEnd;

pub const CHECK: Check = Check { name: "known-children", given: &["visit", "children", "part"], run };

fn run(given: &Given) -> Report {
    let visit = given.value("visit");
    let key = visit["key"].as_str().unwrap_or_default();
    let (Some(known), Some(listed)) = (given.value("children")[key].as_array(), visit["children"].as_array()) else {
        return Report::default();
    };
    let whole = ListEnd::is_complete(&visit["reply"]);
    let (odd, what): (Vec<&Value>, _) = match given.text("part") {
        // A container may list itself.
        "only" => (listed.iter().filter(|uri| !known.contains(uri) && uri.as_str() != Some(key)).collect(), "no child"),
        _ if !whole => return Report::default(),
        _ => (known.iter().filter(|uri| !listed.contains(uri)).collect(), "missing"),
    };
    let said = match odd.as_slice() {
        [] => return Report::of(Vec::new()),
        [one] => format!("{one} is {what}"),
        [first, more @ ..] => format!("{first} and {} more are {what}", more.len()),
    };
    Report::of(vec![Fault {
        given: "visit",
        message: said,
        subject: Some(key.to_owned()),
        expected: Some(json!(known)),
        received: Some(json!(listed)),
        ..Fault::default()
    }])
}
