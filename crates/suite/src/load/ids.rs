//! Checks across all files: duplicate ids, and `after` and `evidence` that name nothing known or form a cycle.

use std::collections::HashMap;

use super::Draft;
use crate::{file::SuiteFile, pattern::fits};
use conform_source::{diagnostic::suggestion, yaml::At};

/// Reports duplicate ids, and `after` that names no rule or forms a cycle. `taken` are ids of other suites.
pub fn check(drafts: &mut [Draft<'_>], taken: &[String]) {
    let mut first: HashMap<String, String> = taken.iter().map(|id| (id.clone(), "another suite".to_owned())).collect();
    for draft in &mut *drafts {
        for id in draft.typed.iter().flat_map(ids) {
            if let Some(place) = first.get(&id.value) {
                draft.problems.add(id.at, format!("the id `{}` is already used by {place}", id.value));
            } else {
                first.insert(id.value.clone(), format!("{}:{}", draft.file, id.at.line));
            }
        }
    }

    let rules: Vec<String> = drafts.iter().flat_map(|draft| causes(draft.typed.as_ref())).map(|(id, _)| id).collect();
    let all: HashMap<String, Vec<String>> = drafts
        .iter()
        .flat_map(|draft| causes(draft.typed.as_ref()))
        .map(|(id, after)| (id, after.iter().map(|cause| cause.value.clone()).collect()))
        .collect();
    for Draft { typed, problems, .. } in drafts {
        for pattern in typed.iter().filter_map(|typed| typed.replaces.as_ref()).flat_map(|replaces| &replaces.0) {
            if !rules.iter().chain(taken).any(|id| fits(&pattern.value, id)) {
                let help = suggestion(&pattern.value, rules.iter().chain(taken).map(String::as_str));
                problems.add_with(pattern.at, format!("unknown rule `{}`", pattern.value), help);
            }
        }
        for id in typed.iter().filter_map(|typed| typed.requires.as_ref()).flat_map(|suites| &suites.0) {
            if !first.contains_key(&id.value) {
                problems.add(id.at, format!("unknown suite `{}`", id.value));
            }
        }
        for (id, after) in causes(typed.as_ref()) {
            // `*` names every rule.
            for cause in after.iter().filter(|cause| cause.value != "*") {
                if leads_to(&cause.value, &id, &all, &mut Vec::new()) {
                    problems.add(cause.at, format!("`after` has a cycle: `{id}` depends on itself"));
                } else if !rules.contains(&cause.value) && !taken.contains(&cause.value) {
                    let help = suggestion(&cause.value, rules.iter().chain(taken).map(String::as_str));
                    problems.add_with(cause.at, format!("unknown rule `{}`", cause.value), help);
                }
            }
        }
    }
}

fn ids(typed: &SuiteFile) -> Vec<At<String>> {
    let rules = typed.rules.iter().flat_map(|rules| &rules.0).map(|rule| &rule.id);
    let untested = typed.untested.iter().flatten().map(|untested| &untested.id);
    [&typed.suite].into_iter().chain(rules).chain(untested).flatten().cloned().collect()
}

/// Every rule with the names in its `after`.
fn causes(typed: Option<&SuiteFile>) -> Vec<(String, Vec<At<String>>)> {
    let rules = typed.and_then(|typed| typed.rules.as_ref()).into_iter().flat_map(|rules| &rules.0);
    rules
        .filter_map(|rule| {
            let after = rule.after.as_ref().map(|after| after.0.clone()).unwrap_or_default();
            Some((rule.id.as_ref()?.value.clone(), after))
        })
        .collect()
}

fn leads_to<'a>(from: &'a str, to: &str, all: &'a HashMap<String, Vec<String>>, seen: &mut Vec<&'a str>) -> bool {
    if from == to {
        return true;
    }
    if seen.contains(&from) {
        return false;
    }
    seen.push(from);
    all.get(from).into_iter().flatten().any(|next| leads_to(next, to, all, seen))
}
