//! Tools and prompts that the configuration names but the server does not list. They are probably typos, which would
//! otherwise show only as rules that were not exercised.

use serde_json::Value;

use crate::{
    evidence::RunContext,
    suite::{SURVEY, diagnostic::suggestion},
};

/// A note for each such name in that file, without duplicates.
pub fn notes(file: &str, facts: &Value, scenes: &[RunContext]) -> Vec<String> {
    let mut notes = Vec::new();
    for (list, noun, named) in [("tools", "tool", tools(facts)), ("prompts", "prompt", keys(&facts["prompts"]))] {
        let Some(listed) = listed(list, scenes) else { continue };
        for name in named.into_iter().filter(|name| !listed.contains(name)) {
            let meant = suggestion(name, listed.iter().copied()).map(|meant| format!("; {meant}")).unwrap_or_default();
            let note = format!("{file} names the {noun} `{name}`, which the server does not list{meant}");
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    notes
}

/// The names in that list, in any revision; `None` if the list is incomplete.
fn listed<'a>(list: &str, scenes: &'a [RunContext]) -> Option<Vec<&'a str>> {
    let lists = scenes.iter().filter_map(|scene| scene.saves.get(SURVEY)?.get(list));
    let whole: Vec<&Value> = lists.filter(|list| list["end"] == "complete").collect();
    let items = whole.iter().flat_map(|list| list["items"].as_array().into_iter().flatten());
    (!whole.is_empty()).then(|| items.filter_map(|item| item["name"].as_str()).collect())
}

/// The tools with a table in the configuration, and those in facts.
fn tools(facts: &Value) -> Vec<&str> {
    let of_facts = facts.as_object().into_iter().flatten().filter_map(|(_, fact)| fact["tool"].as_str());
    let asking = facts["asking"].as_object().into_iter().flatten();
    let asking = asking.flat_map(|(_, names)| names.as_array().into_iter().flatten()).filter_map(Value::as_str);
    keys(&facts["tools"]).into_iter().chain(of_facts).chain(asking).collect()
}

fn keys(table: &Value) -> Vec<&str> {
    table.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect()
}
