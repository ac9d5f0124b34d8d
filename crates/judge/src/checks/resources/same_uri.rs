//! A URI, or each in a list, is equivalent to another one: they are equal after the normalization of RFC 3986.

use iri_string::types::UriStr;
use serde_json::Value;

use crate::checks::{Check, Fault, Given, Report};

pub const CHECK: Check = Check { name: "same-uri", given: &["uri", "to"], run };

fn run(given: &Given) -> Report {
    let to = given.text("to");
    let one = std::slice::from_ref(given.value("uri"));
    let (uris, whole) = given.value("uri").as_array().map_or((one, true), |uris| (uris.as_slice(), false));
    let faults = uris.iter().enumerate().filter(|(_, uri)| !uri.as_str().is_some_and(|uri| same(uri, to)));
    let faults = faults.map(|(index, uri)| Fault {
        given: "uri",
        pointer: if whole { String::new() } else { format!("/{index}") },
        message: format!("requested {to}, the response describes {uri}"),
        expected: Some(Value::from(to)),
        received: Some(uri.clone()),
        ..Fault::default()
    });
    Report { checked: uris.len(), faults: faults.collect(), broken: None }
}

pub fn same(uri: &str, other: &str) -> bool {
    uri == other || normal(uri).is_some_and(|normal_form| Some(normal_form) == normal(other))
}

fn normal(uri: &str) -> Option<String> {
    UriStr::new(uri).ok().map(|uri| uri.normalize().to_string())
}

#[cfg(test)]
mod tests {
    use super::same;

    #[test]
    fn another_spelling_is_the_same_uri() {
        assert!(same("file:///a/./b", "file:///a/b"));
        assert!(same("HTTPS://Example.com/%7ea", "https://example.com/~a"));
        assert!(same("no uri", "no uri"));
        assert!(!same("file:///a%2Fb", "file:///a/b"));
        assert!(!same("file:///a#b", "file:///a"));
    }
}
