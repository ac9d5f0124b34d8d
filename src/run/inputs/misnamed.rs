//! Tools and prompts that the configuration names but the server does not list, and configured arguments that the schema
//! of the tool forbids. They are probably mistakes, which would otherwise show only as rules that were not exercised.

use serde_json::Value;

use crate::{
    config::toml_line,
    evidence::{ListEnd, RunContext},
    gather::{example, misfit},
    suite::{SURVEY, diagnostic::suggestion, foreign::violations},
};

/// A note for each such name in that file, without duplicates.
pub fn notes(file: &str, facts: &Value, contexts: &[RunContext]) -> Vec<String> {
    let mut notes = Vec::new();
    for (list, noun, named) in [("tools", "tool", tools(facts)), ("prompts", "prompt", keys(&facts["prompts"]))] {
        let Some(listed) = listed(list, contexts) else { continue };
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

/// A note for each tool in that file with arguments that its schema forbids, in any revision. Such a call is not made.
pub fn misfits(file: &str, facts: &Value, contexts: &[RunContext]) -> Vec<String> {
    let lists = contexts.iter().filter_map(|context| context.saves.get(SURVEY)?["tools"]["items"].as_array());
    let mut notes = Vec::new();
    for tool in lists.flatten() {
        let Some(name) = tool["name"].as_str() else { continue };
        let Some(arguments) = facts["tools"].get(name).and_then(|given| misfit(tool, given)) else { continue };
        let schema = &tool["inputSchema"];
        let first = violations(schema, &arguments).and_then(|told| told.into_iter().next());
        let why = first.map(|first| format!("`with{}` {}", first.pointer.replace('/', "."), first.message));
        let example = toml_line(&["tools", name, "with"], &example(schema));
        let note = format!(
            "error in {file}: `{}` violates the inputSchema of the tool, so this call was not sent: {}; expected for example `{example}`",
            toml_line(&["tools", name, "with"], &arguments),
            why.unwrap_or_default(),
        );
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
}

/// The names in that list, in any revision; `None` if the list is incomplete.
fn listed<'a>(list: &str, contexts: &'a [RunContext]) -> Option<Vec<&'a str>> {
    let lists = contexts.iter().filter_map(|context| context.saves.get(SURVEY)?.get(list));
    let whole: Vec<&Value> = lists.filter(|list| ListEnd::is_complete(list)).collect();
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
