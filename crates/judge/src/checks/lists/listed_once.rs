//! No URI is listed twice. The pages of a list that changes between them may repeat URIs. So a repetition counts only
//! if the list, requested again, has the same URIs equally often, whatever else changed. It also counts if both lists
//! have repetitions: the list hardly changed while it was read both times, so it has no stable order.

use std::collections::HashSet;

use serde_json::Value;

use crate::checks::{Check, Fault, Given, Report};

pub const CHECK: Check = Check { name: "listed-once", given: &["items", "again"], run };

fn run(given: &Given) -> Report {
    let (uris, again) = (uris(given.value("items")), uris(given.value("again")));
    let (sorted, sorted_again) = (sorted(&uris), sorted(&again));
    let repeats = |sorted: &[&str]| sorted.windows(2).any(|pair| pair[0] == pair[1]);
    if uris.len() < 2 || sorted != sorted_again && !(repeats(&sorted) && repeats(&sorted_again)) {
        return Report::default();
    }
    let mut seen = HashSet::new();
    let faults = uris.iter().filter(|(_, uri)| !seen.insert(*uri)).map(|(index, uri)| Fault {
        given: "items",
        pointer: format!("{index}/uri"),
        message: format!("{} is listed more than once", Value::from(*uri)),
        ..Fault::default()
    });
    Report { checked: uris.len(), faults: faults.collect(), broken: None }
}

fn sorted<'a>(uris: &[(String, &'a str)]) -> Vec<&'a str> {
    let mut uris: Vec<&str> = uris.iter().map(|(_, uri)| *uri).collect();
    uris.sort_unstable();
    uris
}

/// The URIs with their places. In a list of pages a URI counts once for each page.
fn uris(items: &Value) -> Vec<(String, &str)> {
    let mut found = Vec::new();
    for (index, item) in items.as_array().into_iter().flatten().enumerate() {
        found.extend(item["uri"].as_str().map(|uri| (format!("/{index}"), uri)));
        let mut of_page = HashSet::new();
        for (place, item) in item.as_array().into_iter().flatten().enumerate() {
            let new = item["uri"].as_str().filter(|uri| of_page.insert(*uri));
            found.extend(new.map(|uri| (format!("/{index}/{place}"), uri)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{sorted, uris};

    #[test]
    fn the_same_list_may_tell_other_times_in_another_order() {
        let items =
            json!([{ "uri": "a:", "annotations": { "lastModified": "1" } }, { "uri": "b:" }, { "uri": "a:" }, {}]);
        let again = json!([{ "uri": "b:" }, { "uri": "a:" }, { "uri": "a:", "annotations": { "lastModified": "2" } }]);
        assert_eq!(sorted(&uris(&items)), sorted(&uris(&again)));
        assert_ne!(sorted(&uris(&items)), ["a:", "b:"]);
        let pages = json!([[{ "uri": "a:" }, { "uri": "a:" }], [{ "uri": "b:" }, { "uri": "a:" }]]);
        assert_eq!(uris(&pages), [("/0/0".to_owned(), "a:"), ("/1/0".to_owned(), "b:"), ("/1/1".to_owned(), "a:")]);
    }
}
