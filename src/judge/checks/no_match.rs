//! A text has nothing in it that a regular expression finds.

use regex::Regex;

use super::{Check, Fault, Given, Report};

pub const CHECK: Check = Check { name: "no-match", given: &["text", "pattern"], run };

fn run(given: &Given) -> Report {
    let Some(text) = given.value("text").as_str() else { return Report::default() };
    let Ok(pattern) = Regex::new(given.text("pattern")) else {
        return Report { broken: Some("the pattern is no regular expression".into()), ..Report::default() };
    };
    let fault = pattern.find(text).map(|found| Fault {
        given: "text",
        message: format!("holds `{}`", found.as_str()),
        received: Some(text.into()),
        ..Fault::default()
    });
    Report::of(fault.into_iter().collect())
}
