//! The lists of different containers are not all equal, and the list of a container that does not exist is not the
//! default list.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::checks::{Check, Fault, Given, Report, lists::pages_agree::keys};
use conform_model::evidence::ListEnd;

pub const CHECK: Check = Check { name: "scopes-differ", given: &["visits", "default", "unknown"], run };

fn run(given: &Given) -> Report {
    let default: BTreeSet<String> = keys(given.value("default")).into_iter().collect();
    if default.len() < 2 {
        return Report::default();
    }
    let unknown = &given.value("unknown")["result"];
    let mut report = Report::default();
    report.checked += usize::from(unknown.is_object());
    if unknown.is_object() && keys(unknown).into_iter().collect::<BTreeSet<_>>() == default {
        let message = "the list for an unknown URI is the default list".to_owned();
        report.faults.push(Fault { given: "unknown", pointer: "/result".into(), message, ..Fault::default() });
        return report;
    }
    let lists: Vec<BTreeSet<&str>> = given
        .value("visits")
        .as_array()
        .into_iter()
        .flatten()
        .filter(|visit| ListEnd::is_complete(&visit["reply"]))
        .map(|visit| visit["children"].as_array().into_iter().flatten().filter_map(Value::as_str).collect())
        .collect();
    let same =
        |list: &BTreeSet<&str>| Some(list) == lists.first() && default.iter().all(|uri| list.contains(uri.as_str()));
    report.checked += usize::from(lists.len() > 1);
    if lists.len() > 1 && lists.iter().all(same) {
        let message = format!("the lists of all {} containers are the same, and contain the default list", lists.len());
        report.faults.push(Fault { given: "visits", pointer: "/0".into(), message, ..Fault::default() });
    }
    report
}
