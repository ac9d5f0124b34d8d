//! A text, or none of those inside of a value, has anything in it that a regular expression finds.

use regex::Regex;

use super::{Check, Fault, Given, Report, leaves::each_leaf};
use crate::outcome::masked;

pub const CHECK: Check = Check { name: "no-match", given: &["text", "pattern"], run };

fn run(given: &Given) -> Report {
    let Ok(pattern) = Regex::new(given.text("pattern")) else {
        return Report { broken: Some("the pattern is no regular expression".into()), ..Report::default() };
    };
    if given.value("text").is_null() {
        return Report::default();
    }
    let mut faults = Vec::new();
    each_leaf(given.value("text"), &mut |pointer, leaf| {
        let found = leaf.as_str().and_then(|text| pattern.find(text));
        faults.extend(found.map(|found| Fault {
            given: "text",
            pointer: pointer.to_owned(),
            message: format!("holds `{}`", masked(found.as_str().trim())),
            received: leaf.as_str().map(|text| masked(text).into()),
            ..Fault::default()
        }));
    });
    Report::of(faults)
}
