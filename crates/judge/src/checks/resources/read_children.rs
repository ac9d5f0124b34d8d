//! The other resources in the result of reading a container. `part: known` reports those that are not below it, `part:
//! direct` those that are not direct children, and `part: metadata` those without metadata of their own.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use crate::checks::{Check, Fault, Given, Report};
use conform_model::evidence::ListEnd;

pub const CHECK: Check =
    Check { name: "read-children", given: &["read", "visits?", "end?", "depth?", "described?", "part"], run };

fn run(given: &Given) -> Report {
    let read = given.value("read");
    let container = read["resource"]["uri"].as_str().unwrap_or_default();
    let contents = read.pointer("/reply/result/contents").and_then(Value::as_array);
    let others = contents.into_iter().flatten().enumerate().filter(|(_, content)| content["uri"] != *container);
    let wrong: &dyn Fn(&Value) -> Option<String> = match given.text("part") {
        "metadata" => &|content| metadata_error(content, &read["resource"], given.value("described")),
        part => {
            let visits: HashMap<&str, &Value> = visits(given.value("visits"));
            let is_whole = |uri: &str| visits.get(uri).is_none_or(|visit| ListEnd::is_complete(&visit["reply"]));
            if !visits.contains_key(container) || !is_whole(container) {
                return Report::default();
            }
            let below =
                if part == "direct" { children(&visits, container).collect() } else { below(&visits, container) };
            // The result may hold resources further below than the walk went.
            let goes_on = |uri: &&str| !is_whole(uri) || is_cut(visits.get(uri).copied(), given.value("depth"));
            let ended = matches!(given.text("end"), "complete" | "depth-limit");
            if part == "known" && (!ended || below.iter().chain([&container]).any(goes_on)) {
                return Report::default();
            }
            return judge(others, &|content| {
                let uri = content["uri"].as_str()?;
                let what = if part == "direct" { "a direct child" } else { "anywhere below it" };
                (!below.contains(uri)).then(|| format!("{uri} is not {what} according to resources/list"))
            });
        }
    };
    judge(others, wrong)
}

fn judge<'a>(others: impl Iterator<Item = (usize, &'a Value)>, wrong: &dyn Fn(&Value) -> Option<String>) -> Report {
    let mut report = Report::default();
    for (index, content) in others {
        report.checked += 1;
        report.faults.extend(wrong(content).map(|message| Fault {
            given: "read",
            pointer: format!("/reply/result/contents/{index}"),
            message,
            ..Fault::default()
        }));
    }
    report
}

/// What is wrong with the metadata of a child. A value that equals the container's may still be correct.
fn metadata_error(content: &Value, container: &Value, described: &Value) -> Option<String> {
    let uri = content["uri"].as_str()?;
    if content.get("name").is_none() {
        return Some(format!("{uri} has no name"));
    }
    let own = described.as_array()?.iter().find(|entry| entry["uri"] == *uri)?.pointer("/reply/result/resource")?;
    let borrowed = ["name", "title", "mimeType"].into_iter().find(|member| {
        content.get(*member).is_some_and(|value| *value == container[*member] && *value != own[*member])
    })?;
    Some(format!("{uri} has the {borrowed} of the container"))
}

fn visits(visits: &Value) -> HashMap<&str, &Value> {
    visits.as_array().into_iter().flatten().filter_map(|visit| Some((visit["key"].as_str()?, visit))).collect()
}

fn children<'a>(visits: &HashMap<&str, &'a Value>, uri: &str) -> impl Iterator<Item = &'a str> {
    let listed = visits.get(uri).and_then(|visit| visit["children"].as_array());
    listed.into_iter().flatten().filter_map(Value::as_str)
}

/// Whether the visit has children beyond the depth limit of the walk.
fn is_cut(visit: Option<&Value>, deepest: &Value) -> bool {
    let (Some(visit), Some(deepest)) = (visit, deepest.as_u64()) else { return false };
    visit["children"] != json!([]) && visit["depth"].as_u64().is_some_and(|depth| depth + 1 >= deepest)
}

fn below<'a>(visits: &HashMap<&str, &'a Value>, uri: &str) -> HashSet<&'a str> {
    let mut found: HashSet<&str> = HashSet::new();
    let mut ahead: Vec<&str> = children(visits, uri).collect();
    while let Some(uri) = ahead.pop() {
        if found.insert(uri) {
            ahead.extend(children(visits, uri));
        }
    }
    found
}
