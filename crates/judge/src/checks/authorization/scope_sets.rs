//! The same rejection has the same scopes each time, in any order.

use std::collections::BTreeSet;

use crate::checks::{Check, Fault, Given, Report, texts};

pub const CHECK: Check = Check { name: "scope-sets", given: &["scopes"], run };

fn run(given: &Given) -> Report {
    let scopes = texts(given.value("scopes"));
    let set = |scope: &str| scope.split(' ').filter(|scope| !scope.is_empty()).map(str::to_owned).collect();
    let Some((first, others)) = scopes.split_first().filter(|(_, others)| !others.is_empty()) else {
        return Report::default();
    };
    let known: BTreeSet<String> = set(first);
    let differing = others.iter().find(|other| set(other) != known);
    let fault = differing.map(|other| Fault {
        given: "scopes",
        message: format!("the scopes were \"{first}\", later \"{other}\""),
        ..Fault::default()
    });
    Report::of(fault.into_iter().collect())
}
