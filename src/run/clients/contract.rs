//! The environment variables that a client is started with.
//!
//! Clients of the official conformance suite read the name of a scenario and perform its actions. They get the name of
//! the official scenario that is closest to the actions. Clients that follow instructions read the actions themselves.

use std::time::Duration;

use serde_json::{Value, json};

use super::stage::Stage;
use crate::{evidence::Transport, revision::Revision, suite::Scenario};

pub fn environment(
    scenario: &Scenario,
    carrier: &str,
    revision: Revision,
    transport: Transport,
    stage: &Stage,
    left: Duration,
) -> Vec<(String, String)> {
    let mut context = json!({ "name": carrier });
    if carrier == CALLS {
        let calls = scenario.drive.iter().filter(|action| action["do"] == "call");
        let call = |action: &Value| json!({ "name": action["name"], "arguments": arguments(action) });
        context["toolCalls"] = calls.map(call).collect();
    }
    let mut variables = vec![
        ("SCENARIO", carrier.to_owned()),
        ("PROTOCOL_VERSION", revision.to_string()),
        ("TRANSPORT", transport.to_string()),
        ("ACTIONS", actions(scenario).to_string()),
        ("REPORT", stage.report().display().to_string()),
        ("TIMEOUT_MS", left.as_millis().to_string()),
    ];
    if carrier == CALLS {
        variables.push(("CONTEXT", context.to_string()));
    }
    if !scenario.answers.is_null() {
        variables.push(("ANSWERS", scenario.answers.to_string()));
    }
    variables.into_iter().map(|(name, value)| (format!("MCP_CONFORMANCE_{name}"), value)).collect()
}

/// All actions of the client, from connect to close.
pub fn actions(scenario: &Scenario) -> Value {
    let first = json!({ "do": "connect" });
    let last = json!({ "do": "close" });
    let mut drive = scenario.drive.clone();
    // The suite's number does not count `connect`, the client's number does.
    for action in drive.iter_mut().filter(|action| action["do"] == "cancel") {
        if let Some(number) = action["action"].as_u64() {
            action["action"] = json!(number + 1);
        }
    }
    [vec![first], drive, vec![last]].concat().into()
}

/// How long the client waits when it follows its actions.
pub fn waits(scenario: &Scenario) -> Duration {
    let waits = scenario.drive.iter().filter(|action| action["do"] == "wait");
    Duration::from_millis(waits.filter_map(|action| action["ms"].as_u64()).sum())
}

fn arguments(action: &Value) -> Value {
    action.get("arguments").cloned().unwrap_or_else(|| json!({}))
}

/// Calls the tools that the context lists.
const CALLS: &str = "http-custom-headers";
/// Calls `add_numbers`.
const ONE_CALL: &str = "tools_call";
/// Lists and uses a tool, a resource and a prompt.
const READS: &str = "http-standard-headers";
/// Connects and lists tools, up to 2025-11-25 and since 2026-07-28. Some clients speak only that revision there.
const LISTS: [&str; 2] = ["initialize", "request-metadata"];

/// The official scenarios that cover most of these actions, the closest first. Few clients know all of them.
pub fn official_scenarios(drive: &[Value], revision: Revision) -> Vec<&'static str> {
    let does = |names: &[&str]| drive.iter().any(|action| names.iter().any(|name| action["do"] == *name));
    let lists_more = drive.iter().any(|action| action["do"] == "list" && action["of"] != "tools");
    let mut names = Vec::new();
    if does(&["read", "get"]) || lists_more {
        names.push(READS);
    }
    if does(&["call"]) {
        names.extend([CALLS, ONE_CALL]);
    }
    names.push(LISTS[usize::from(revision.features().stateless)]);
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_official_scenario_that_comes_closest_is_named() {
        let of = |drive: &[Value]| official_scenarios(drive, Revision::V2025_11_25);
        assert_eq!(of(&[]), ["initialize"]);
        assert_eq!(of(&[json!({ "do": "list", "of": "tools" })]), ["initialize"]);
        assert_eq!(of(&[json!({ "do": "list", "of": "prompts" })]), [READS, "initialize"]);
        assert_eq!(of(&[json!({ "do": "call", "name": "echo" })]), [CALLS, ONE_CALL, "initialize"]);
        assert_eq!(official_scenarios(&[], Revision::V2026_07_28), ["request-metadata"]);
    }
}
