//! URIs are among the named ones, or below one. A URI that extends another one at `/`, `?` or `#` is below it. `part:
//! each` reports every URI that is neither; `part: some` reports only if all are.

use serde_json::json;

use super::same_uri::same;
use crate::checks::{Check, Fault, Given, Report, lists::pages_agree::short, texts};

pub const CHECK: Check = Check { name: "below-one-of", given: &["uris", "named", "part"], run };

fn run(given: &Given) -> Report {
    let (uris, named) = (texts(given.value("uris")), texts(given.value("named")));
    if uris.is_empty() || named.is_empty() {
        return Report::default();
    }
    let foreign = |uri: &&&str| !named.iter().any(|named| same(uri, named) || below(uri, named));
    let mut odd: Vec<&str> = uris.iter().filter(foreign).copied().collect();
    if given.text("part") == "some" && odd.len() < uris.len() {
        odd.clear();
    }
    let fault = |odd: &[&str]| Fault {
        given: "uris",
        message: format!("requested {1}, the response describes {0}", told(odd), told(&named)),
        expected: Some(json!(named)),
        received: Some(json!(odd)),
        ..Fault::default()
    };
    let faults = if odd.is_empty() { Vec::new() } else { vec![fault(&odd)] };
    Report { checked: uris.len(), faults, broken: None }
}

fn told(uris: &[&str]) -> String {
    short(&uris.iter().map(|uri| (*uri).to_owned()).collect::<Vec<_>>())
}

pub(super) fn below(uri: &str, of: &str) -> bool {
    uri.strip_prefix(of)
        .is_some_and(|rest| !rest.is_empty() && (of.ends_with('/') || rest.starts_with(['/', '?', '#'])))
}

#[cfg(test)]
mod tests {
    use super::below;

    #[test]
    fn only_whole_segments_lead_below() {
        assert!(below("file:///a/b", "file:///a"));
        assert!(below("file:///a/b", "file:///a/"));
        assert!(below("db://t#row", "db://t"));
        assert!(!below("file:///ab", "file:///a"));
        assert!(!below("file:///a", "file:///a"));
    }
}
