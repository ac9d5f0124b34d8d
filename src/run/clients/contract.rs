//! What a client receives when it is started: its command line and its environment.
//!
//! Clients of the official conformance suite read the name of a scenario and act as it says, so the name that comes closest to
//! the actions is given. Clients that follow instructions read the actions themselves.

use std::time::Duration;

use serde_json::{Value, json};

use super::stage::Stage;
use crate::{evidence::Transport, revision::Revision, suite::Scenario};

/// In arguments of the command: what the client connects to.
const PLACES: [&str; 2] = ["{url}", "{stub}"];

/// The command with the target in the place that it names, or at the end.
pub fn command(command: &[String], target: &str) -> Vec<String> {
    let named = |argument: &String| PLACES.iter().any(|place| argument.contains(place));
    let filled =
        command.iter().map(|argument| PLACES.iter().fold(argument.clone(), |text, place| text.replace(place, target)));
    let last = (!command.iter().any(named)).then(|| target.to_owned());
    filled.chain(last).collect()
}

pub fn environment(
    scenario: &Scenario,
    revision: Revision,
    transport: Transport,
    stage: &Stage,
    left: Duration,
) -> Vec<(String, String)> {
    let carrier = carrier(&scenario.drive);
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
fn actions(scenario: &Scenario) -> Value {
    let first = json!({ "do": "connect" });
    let last = json!({ "do": "close" });
    let mut drive = scenario.drive.clone();
    // A suite counts its own actions.
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

const LISTS: &str = "initialize";
const CALLS: &str = "http-custom-headers";
const READS: &str = "http-standard-headers";

/// The official scenario whose client does most of this.
fn carrier(drive: &[Value]) -> &'static str {
    let does = |names: &[&str]| drive.iter().any(|action| names.iter().any(|name| action["do"] == *name));
    let lists_more = drive.iter().any(|action| action["do"] == "list" && action["of"] != "tools");
    match () {
        () if does(&["read", "get"]) || lists_more => READS,
        () if does(&["call"]) => CALLS,
        () => LISTS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_stands_where_the_command_has_it_or_at_the_end() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(command(&words("client --to {url} -v"), "http://x"), words("client --to http://x -v"));
        assert_eq!(command(&words("client --server={stub}"), "/s"), words("client --server=/s"));
        assert_eq!(command(&words("client -v"), "http://x"), words("client -v http://x"));
    }

    #[test]
    fn the_official_scenario_that_comes_closest_is_named() {
        assert_eq!(carrier(&[]), LISTS);
        assert_eq!(carrier(&[json!({ "do": "list", "of": "tools" })]), LISTS);
        assert_eq!(carrier(&[json!({ "do": "list", "of": "prompts" })]), READS);
        assert_eq!(carrier(&[json!({ "do": "call", "name": "echo" })]), CALLS);
    }
}
