//! Resource templates, and the values of their variables.

use crate::content::{
    files::{self, LOG_DAYS},
    generated::NUMBERS,
};

/// The values of variables that are already known.
pub type Settled<'a> = dyn Fn(&str) -> Option<String> + 'a;

pub struct Template {
    pub uri: &'static str,
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    pub mime: Option<&'static str>,
    /// All values of a variable.
    values: fn(variable: &str, settled: &Settled) -> Option<Vec<String>>,
}

pub static TEMPLATES: [Template; 6] = [
    Template {
        uri: "file:///logs/{day}.log",
        name: "log",
        title: "Log of a day",
        description: "What happened on one day of January 2026.",
        mime: Some("text/plain"),
        values: |variable, _| (variable == "day").then(|| owned(&LOG_DAYS)),
    },
    Template {
        uri: "number:///{number}",
        name: "number",
        title: "Number",
        description: "Whether a number below one thousand is odd or even.",
        mime: Some("text/plain"),
        values: |variable, _| (variable == "number").then(|| NUMBERS.map(|number| number.to_string()).collect()),
    },
    Template {
        uri: "file:///src/{+path}",
        name: "source",
        title: "Source file",
        description: "A source file, in whatever directory.",
        mime: None,
        values: |variable, _| (variable == "path").then(|| owned(&["main.rs", "lib.rs", "nested/deep.rs"])),
    },
    Template {
        uri: "db://shop/{table}/{row}",
        name: "row",
        title: "Row of a table",
        description: "One row; which rows there are depends on the table.",
        mime: Some("application/json"),
        values: |variable, settled| match variable {
            "table" => Some(owned(&["customers", "orders"])),
            "row" => Some(match settled("table").as_deref() {
                Some("customers") => owned(&["ada", "grace"]),
                Some("orders") => owned(&["1001", "1002"]),
                Some(_) => Vec::new(),
                None => owned(&["1001", "1002", "ada", "grace"]),
            }),
            _ => None,
        },
    },
    Template {
        uri: "file:///docs/{name}",
        name: "document",
        title: "Document",
        description: "A document by its name.",
        mime: None,
        values: |variable, _| (variable == "name").then(document_names),
    },
    Template {
        uri: "search://notes{?q,sort}",
        name: "search",
        title: "Search in notes",
        description: "What is found in notes.",
        mime: Some("application/json"),
        values: |variable, _| (variable == "sort").then(|| owned(&["new", "old"])),
    },
];

impl Template {
    /// `None` for an unknown variable.
    pub fn values(&self, variable: &str, settled: &Settled) -> Option<Vec<String>> {
        (self.values)(variable, settled)
    }
}

fn document_names() -> Vec<String> {
    let nodes = files::nodes();
    let documents = nodes.iter().filter(|node| node.uri.starts_with("file:///docs/"));
    documents.map(|node| node.name.clone()).collect()
}

fn owned(values: &[&str]) -> Vec<String> {
    values.iter().map(|&value| value.to_owned()).collect()
}
