//! A list filtered by prefix, compared with the whole list requested before and after it.
//!
//! `part: only` reports items without the prefix, `all` items with it that are missing, and `known` items that the
//! whole list lacks. `pages` reports errors between pages, and `filled` pages that are too short.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::checks::{Check, Fault, Given, Report};
use conform_model::evidence::ListEnd;

pub const CHECK: Check =
    Check { name: "prefix-filter", given: &["filtered", "prefix", "before", "after", "part"], run };

fn run(given: &Given) -> Report {
    let (filtered, prefix) = (given.value("filtered"), given.text("prefix"));
    let items = keys(filtered);
    let (before, after) = (whole(given.value("before")), whole(given.value("after")));
    let all = before.as_ref().zip(after.as_ref()).filter(|(before, after)| before == after).map(|(before, _)| before);
    let is_whole = ListEnd::is_complete(filtered);
    // An item without a URI cannot be compared with a prefix.
    let lists = [filtered, given.value("before"), given.value("after")];
    let has_unnamed = lists.into_iter().any(|list| keys(list).contains(&""));
    if has_unnamed || filtered.pointer("/pages/0/end") != Some(&json!("result")) {
        return Report::default();
    }
    match given.text("part") {
        "only" => each(&items, |key| (!key.starts_with(prefix)).then(|| format!("{key} does not start with {prefix}"))),
        "known" => all.map_or_else(Report::default, |all| {
            each(&items, |key| (!all.contains(&key)).then(|| format!("{key} is not in the complete list")))
        }),
        "all" => {
            let due = |all: &&Vec<&str>| is_whole && all.iter().any(|key| key.starts_with(prefix));
            all.filter(due).map_or_else(Report::default, |all| missing(all, &items, prefix))
        }
        "pages" if filtered["pages"].as_array().is_some_and(|pages| pages.len() > 1) => {
            pages(filtered, &items, prefix, all.map(Vec::as_slice))
        }
        "filled" => filled(filtered, given.value("before")),
        _ => Report::default(),
    }
}

/// The identifiers of the items in a list.
fn keys(list: &Value) -> Vec<&str> {
    let items = list["items"].as_array().into_iter().flatten();
    items.map(|item| item["uri"].as_str().or(item["uriTemplate"].as_str()).unwrap_or_default()).collect()
}

/// All identifiers of a complete list.
fn whole(list: &Value) -> Option<Vec<&str>> {
    ListEnd::is_complete(list).then(|| keys(list))
}

fn each(items: &[&str], wrong: impl Fn(&str) -> Option<String>) -> Report {
    let faults = items.iter().enumerate().filter_map(|(index, key)| Some((index, wrong(key)?)));
    Report::of(faults.map(|(index, message)| fault(format!("/items/{index}"), message)).take(3).collect())
}

fn missing(all: &[&str], items: &[&str], prefix: &str) -> Report {
    let lost = all.iter().filter(|key| key.starts_with(prefix) && !items.contains(*key));
    let lost: Vec<_> =
        lost.map(|key| fault(String::new(), format!("{key} starts with {prefix}, but is missing"))).collect();
    Report::of(lost.into_iter().take(3).collect())
}

fn pages(filtered: &Value, items: &[&str], prefix: &str, all: Option<&[&str]>) -> Report {
    if !matches!(ListEnd::of(filtered), Some(ListEnd::Complete | ListEnd::PageLimit)) {
        let message = format!("the list with prefix {prefix} did not end: {}", filtered["end"]);
        return Report::of(vec![fault(String::new(), message)]);
    }
    let mut seen = HashSet::new();
    let wrong = items.iter().enumerate().find_map(|(index, key)| {
        let why = if !key.starts_with(prefix) {
            "does not start with the prefix"
        } else if !seen.insert(*key) {
            "is listed twice"
        } else {
            return None;
        };
        Some(fault(format!("/items/{index}"), format!("{key} {why} ({prefix})")))
    });
    let lost = || Some(missing(all?, items, prefix).faults).filter(|_| ListEnd::is_complete(filtered));
    Report::of(wrong.map_or_else(|| lost().unwrap_or_default(), |wrong| vec![wrong]))
}

/// Reports a page with fewer items than the first page of the whole list, although more follow.
fn filled(filtered: &Value, before: &Value) -> Report {
    let size = |page: &Value| {
        let result = &page["result"];
        result["resources"].as_array().or(result["resourceTemplates"].as_array()).map(Vec::len)
    };
    let pages = filtered["pages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let (Some(full), [earlier @ .., _]) = (before.pointer("/pages/0").and_then(size), pages) else {
        return Report::default();
    };
    let short =
        earlier.iter().enumerate().filter_map(|(index, page)| Some((index, size(page).filter(|size| *size < full)?)));
    let faults = short.map(|(index, size)| {
        let message =
            format!("page {} has {size} items and a `nextCursor`; pages of the complete list have {full}", index + 1);
        fault(format!("/pages/{index}/result"), message)
    });
    Report { checked: earlier.len(), faults: faults.collect(), broken: None }
}

fn fault(pointer: String, message: String) -> Fault {
    Fault { given: "filtered", pointer, message, ..Fault::default() }
}
