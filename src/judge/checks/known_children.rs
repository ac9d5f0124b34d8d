//! What containers list against the children that the configuration says they have: `part: only` finds what is too
//! much, `part: complete` what is missing.

use serde_json::{Value, json};

use super::{Check, Fault, Given, Report};

pub const CHECK: Check = Check { name: "known-children", given: &["visits", "children", "part"], run };

fn run(given: &Given) -> Report {
    let mut report = Report::default();
    for (index, visit) in given.value("visits").as_array().into_iter().flatten().enumerate() {
        let key = visit["key"].as_str().unwrap_or_default();
        let Some(known) = given.value("children")[key].as_array() else { continue };
        let whole = visit["reply"]["end"] == "complete";
        let Some(listed) = visit["children"].as_array() else { continue };
        let (odd, what): (Vec<&Value>, _) = match given.text("part") {
            // A container may list itself.
            "only" => {
                (listed.iter().filter(|uri| !known.contains(uri) && uri.as_str() != Some(key)).collect(), "no child")
            }
            _ if !whole => continue,
            _ => (known.iter().filter(|uri| !listed.contains(uri)).collect(), "missing"),
        };
        report.checked += 1;
        if let Some(first) = odd.first() {
            report.faults.push(Fault {
                given: "visits",
                pointer: format!("/{index}"),
                message: match odd.len() {
                    1 => format!("{first} is {what}"),
                    more => format!("{first} and {} more are {what}", more - 1),
                },
                subject: Some(key.to_owned()),
                expected: Some(json!(known)),
                received: Some(json!(listed)),
            });
        }
    }
    report
}
