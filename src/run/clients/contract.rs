//! The environment variables that a client is started with.
//!
//! Clients of the official conformance suite read the name of a scenario and perform its actions. They get the name of
//! the official scenario that is closest to the actions. Clients that follow instructions read the actions themselves.

use std::time::Duration;

use serde_json::{Value, json};

use super::stage::Stage;
use crate::{
    evidence::Transport,
    revision::Revision,
    suite::{Action, Do, Scenario},
};

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
        let call = |action: &Action| match &action.what {
            Do::Call { name, arguments, .. } => {
                Some(json!({ "name": name, "arguments": arguments.clone().unwrap_or_default() }))
            }
            _ => None,
        };
        context["toolCalls"] = scenario.drive.iter().filter_map(call).collect();
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
    let mut drive = scenario.drive.clone();
    // The suite's number does not count `connect`, the client's number does.
    for action in &mut drive {
        if let Do::Cancel { action } = &mut action.what {
            *action += 1;
        }
    }
    json!([vec![Do::Connect.into()], drive, vec![Do::Close.into()]].concat())
}

/// How long the client waits when it follows its actions.
pub fn waits(scenario: &Scenario) -> Duration {
    let wait = |action: &Action| match action.what {
        Do::Wait { ms } => Duration::from_millis(ms as u64),
        _ => Duration::ZERO,
    };
    scenario.drive.iter().map(wait).sum()
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
pub fn official_scenarios(drive: &[Action], revision: Revision) -> Vec<&'static str> {
    let does = |fits: fn(&Do) -> bool| drive.iter().any(|action| fits(&action.what));
    let mut names = Vec::new();
    let reads = |what: &Do| match what {
        Do::Read { .. } | Do::Get { .. } => true,
        Do::List { of, .. } => of.save != "tools",
        _ => false,
    };
    if does(reads) {
        names.push(READS);
    }
    if does(|what| matches!(what, Do::Call { .. })) {
        names.extend([CALLS, ONE_CALL]);
    }
    names.push(LISTS[usize::from(revision.features().stateless)]);
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::LISTS;

    #[test]
    fn the_official_scenario_that_comes_closest_is_named() {
        let of = |drive: &[Do]| {
            let drive: Vec<Action> = drive.iter().cloned().map(Action::from).collect();
            official_scenarios(&drive, Revision::V2025_11_25)
        };
        let list = |index: usize| Do::List { of: &LISTS[index], pages: None, uri: None, prefix: None };
        let call = Do::Call { name: "echo".to_owned(), arguments: None, bytes: None, task: None };
        assert_eq!(of(&[]), ["initialize"]);
        assert_eq!(of(&[list(0)]), ["initialize"]);
        assert_eq!(of(&[list(2)]), [READS, "initialize"]);
        assert_eq!(of(&[call]), [CALLS, ONE_CALL, "initialize"]);
        assert_eq!(official_scenarios(&[], Revision::V2026_07_28), ["request-metadata"]);
    }
}
