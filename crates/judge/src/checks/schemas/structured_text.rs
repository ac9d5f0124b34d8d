//! Structured content is repeated as JSON in a text block, for clients that do not support it.
//!
//! A value that is not an object may be described in words: the specification itself shows a list with a sentence.

use serde_json::Value;

use crate::checks::{Check, Fault, Given, Report};

use conform_suite::matcher::equal;

pub const CHECK: Check = Check { name: "structured-text", given: &["result"], run };

fn run(given: &Given) -> Report {
    let result = given.value("result");
    let Some(structured) = result.get("structuredContent") else { return Report::default() };
    let texts = || {
        let blocks = result["content"].as_array().into_iter().flatten();
        blocks.filter(|block| block["type"] == "text").filter_map(|block| block["text"].as_str())
    };
    let same = |text: &str| serde_json::from_str::<Value>(text).is_ok_and(|value| equal(&value, structured));
    let told = texts().any(|text| same(text) || (!structured.is_object() && !text.trim().is_empty()));
    let message = match texts().next() {
        None => "`content` has no text next to `structuredContent`",
        Some(_) => "no text in `content` is the JSON of `structuredContent`",
    };
    let fault = || Fault { given: "result", pointer: "/content".into(), message: message.into(), ..Fault::default() };
    Report::of((!told).then(fault).into_iter().collect())
}
