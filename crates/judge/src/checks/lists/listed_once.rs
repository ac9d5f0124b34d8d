//! No URI is listed twice. The pages of a list that changes between them may repeat URIs. So a repetition counts only
//! if the list, requested again, has the same URIs equally often, whatever else changed. It also counts if both lists
//! have repetitions: the list hardly changed while it was read both times, so it has no stable order. With `pages`, which
//! says for each item where it was listed, a URI counts once for each page.

use std::collections::HashSet;

use serde_json::Value;

use crate::checks::{Check, Fault, Given, Report};

pub const CHECK: Check = Check { name: "listed-once", given: &["items", "again", "pages?", "again-pages?"], run };

fn run(given: &Given) -> Report {
    let uris = uris(given.list("items"), given.list("pages"));
    let again = self::uris(given.list("again"), given.list("again-pages"));
    let (sorted, sorted_again) = (sorted(&uris), sorted(&again));
    let repeats = |sorted: &[&str]| sorted.windows(2).any(|pair| pair[0] == pair[1]);
    if uris.len() < 2 || sorted != sorted_again && !(repeats(&sorted) && repeats(&sorted_again)) {
        return Report::default();
    }
    let mut seen = HashSet::new();
    let faults = uris.iter().filter(|(_, uri)| !seen.insert(*uri)).map(|(index, uri)| Fault {
        given: "items",
        pointer: format!("/{index}/uri"),
        message: format!("{} is listed more than once", Value::from(*uri)),
        ..Fault::default()
    });
    Report { checked: uris.len(), faults: faults.collect(), broken: None }
}

fn sorted<'a>(uris: &[(usize, &'a str)]) -> Vec<&'a str> {
    let mut uris: Vec<&str> = uris.iter().map(|(_, uri)| *uri).collect();
    uris.sort_unstable();
    uris
}

/// The URIs with their places.
fn uris<'a>(items: &'a [Value], pages: &[Value]) -> Vec<(usize, &'a str)> {
    let mut of_pages = HashSet::new();
    let uris = items.iter().enumerate().filter_map(|(index, item)| Some((index, item["uri"].as_str()?)));
    uris.filter(|(index, uri)| pages.get(*index).is_none_or(|page| of_pages.insert((page.to_string(), *uri)))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{sorted, uris};

    #[test]
    fn the_same_list_may_tell_other_times_in_another_order() {
        let items =
            json!([{ "uri": "a:", "annotations": { "lastModified": "1" } }, { "uri": "b:" }, { "uri": "a:" }, {}]);
        let again = json!([{ "uri": "b:" }, { "uri": "a:" }, { "uri": "a:", "annotations": { "lastModified": "2" } }]);
        let [items, again] = [&items, &again].map(|items| items.as_array().expect("a list"));
        assert_eq!(sorted(&uris(items, &[])), sorted(&uris(again, &[])));
        assert_ne!(sorted(&uris(items, &[])), ["a:", "b:"]);
        let of_pages = |pages: [u64; 3]| uris(again, &pages.map(Value::from));
        assert_eq!(of_pages([7, 7, 7]), [(0, "b:"), (1, "a:")]);
        assert_eq!(of_pages([7, 7, 9]), [(0, "b:"), (1, "a:"), (2, "a:")]);
    }
}
