//! The MIME type of a resource in a list is among those in the result of reading it. Parameters such as a charset may
//! differ.

use serde_json::{Value, json};

use crate::checks::{Check, Fault, Given, Report};

pub const CHECK: Check = Check { name: "mime-listed", given: &["listed", "contents"], run };

fn run(given: &Given) -> Report {
    let read: Vec<&str> = given
        .value("contents")
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|content| content["mimeType"].as_str())
        .collect();
    let Some(listed) = given.value("listed").as_str().filter(|_| !read.is_empty()) else { return Report::default() };
    if read.iter().any(|read| essence(read) == essence(listed)) {
        return Report::of(Vec::new());
    }
    Report::of(vec![Fault {
        given: "listed",
        message: format!("listed as {listed}, read as {}", read.join(", ")),
        expected: Some(json!(read)),
        received: Some(Value::from(listed)),
        ..Fault::default()
    }])
}

fn essence(mime: &str) -> String {
    mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}
