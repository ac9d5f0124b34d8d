//! What a server lists, and which of these may be called.

use serde_json::json;

use super::{Caller, Settings, subject::Subject};
use conform_model::evidence::{LISTS, RunContext};

const COMPLETE: &str = "complete";

/// The lists of the server, as suites know them.
pub async fn survey(caller: &mut Caller, context: &mut RunContext) {
    let mut saves = json!({});
    for list in &LISTS {
        let offered = context.offers(list.capability);
        saves[list.save] = match offered {
            true => match caller.list(list.method, list.field).await {
                Some(items) => json!({ "end": COMPLETE, "items": items }),
                None => json!({ "end": "error", "items": [] }),
            },
            false => json!({ "items": [] }),
        };
    }
    context.saves.insert("survey".into(), saves);
}

/// The subjects that may be called, and notes on those that are not.
pub fn subjects(context: &RunContext, settings: &Settings) -> (Vec<Subject>, Vec<String>) {
    let survey = &context.saves["survey"];
    let items = |list: &str| survey[list]["items"].as_array().cloned().unwrap_or_default();
    let (mut subjects, mut left, mut destructive): (Vec<Subject>, Vec<String>, Vec<String>) = Default::default();
    let mut notes = Vec::new();
    for tool in items("tools") {
        let Some(subject) = Subject::tool(&tool) else {
            notes.push(format!("a tool has no usable `name` or `inputSchema`: {}", tool["name"]));
            continue;
        };
        let is_named = settings.only.contains(&subject.name)
            || settings.named.contains(&subject.name)
            || settings.replay.as_ref().is_some_and(|stored| stored.is_of(&subject));
        let allowed = is_named
            || subject.has_hint("readOnlyHint")
            || (settings.call_tools && !subject.has_hint("destructiveHint"));
        if tool["execution"]["taskSupport"] == "required" {
            notes.push(format!("{}: not called, because it runs only as a task", subject.name));
        } else if subjects.iter().any(|known| known.name == subject.name) {
            // Of several tools with one name only the first is called.
        } else if allowed {
            subjects.push(subject);
        } else if settings.call_tools {
            destructive.push(subject.name);
        } else {
            left.push(subject.name);
        }
    }
    let shown = |names: &[String]| {
        names.iter().take(5).cloned().collect::<Vec<_>>().join(", ") + if names.len() > 5 { ", ..." } else { "" }
    };
    if !left.is_empty() {
        let names = shown(&left);
        notes.push(format!("tools not called (they may have side effects): {names}; --only NAME allows one, --call-tools allows all but destructive ones"));
    }
    if !destructive.is_empty() {
        notes.push(format!("destructive tools not called: {}; --only NAME allows one", shown(&destructive)));
    }
    let prompts: Vec<Subject> = items("prompts").iter().filter_map(Subject::prompt).collect();
    let templates: Vec<Subject> = items("templates").iter().filter_map(Subject::template).collect();
    if context.offers("completions") {
        subjects.extend(prompts.iter().chain(&templates).flat_map(Subject::completions));
    }
    subjects.extend(prompts.into_iter().chain(templates));
    let listed = [("tools", "tools/list"), ("prompts", "prompts/list"), ("resources", "resources/list")];
    // A list that fails without a cursor says nothing about cursors.
    let works = |list: &str| survey[list]["end"] == COMPLETE;
    subjects.extend(listed.iter().filter(|(list, _)| works(list)).map(|(_, method)| Subject::list(method)));
    if !settings.only.is_empty() {
        subjects.retain(|subject| settings.only.contains(&subject.name));
    }
    (subjects, notes)
}
