//! The client profiles that a server sees in one run, and the suites that they are for.

use serde_json::Value;

use crate::{
    evidence::{Recorder, RunContext},
    plan::{Plan, left_out},
    run::inputs::job::Job,
    session::ClientProfile,
    suite::{Capabilities, Suite},
};

/// The client with full capabilities, with the roots of the configuration.
pub fn usual(job: &Job) -> ClientProfile {
    let mut profile = job.profile.clone();
    if let (Some(roots), Some(root)) = (&mut profile.roots, job.facts["outside_roots"]["root"].as_str()) {
        *roots = vec![root.to_owned()];
    }
    profile
}

/// The suites that run, and those that gather evidence for them.
pub fn with_evidence<'a>(planned: &Plan<'a>, suites: &'a [Suite], context: &RunContext) -> Vec<&'a Suite> {
    let running: Vec<&Suite> = planned.suites.iter().filter(|suite| suite.runs()).map(|suite| suite.suite).collect();
    let runs = |id: &str| running.iter().any(|suite| suite.id == id);
    let serves = |id: &String| running.iter().any(|suite| suite.requires.contains(id));
    let fits = |suite: &&Suite| runs(&suite.id) || (serves(&suite.id) && left_out(&suite.applies, context).is_none());
    suites.iter().filter(fits).collect()
}

pub fn profile(client: Option<Capabilities>, usual: &ClientProfile) -> ClientProfile {
    match client {
        None | Some(Capabilities::Full) => usual.clone(),
        Some(Capabilities::Basic) => ClientProfile { details: false, ..usual.clone() },
        Some(Capabilities::None) => ClientProfile::bare(),
    }
}

/// Requests of a server for which a client can declare partial support.
const HAS_PARTS: [&str; 2] = ["sampling/createMessage", "elicitation/create"];

/// The clients of suites that are useful: they show nothing about a server that sends no requests to its client.
pub fn of_use(recorder: &Recorder) -> Vec<Capabilities> {
    let frames = recorder.frames_where(|index| index.asks);
    let asked: Vec<String> = frames.filter_map(|frame| Some(asked(frame.message.as_ref()?))).flatten().collect();
    let has_parts = asked.iter().any(|method| HAS_PARTS.contains(&method.as_str()));
    let sends = !asked.is_empty();
    let clients = [(Capabilities::Full, sends), (Capabilities::Basic, has_parts), (Capabilities::None, sends)];
    clients.into_iter().filter_map(|(client, is_of_use)| is_of_use.then_some(client)).collect()
}

/// The methods of the requests that a message contains for the client.
fn asked(message: &Value) -> Vec<String> {
    let requests = message.pointer("/result/inputRequests").and_then(Value::as_object).into_iter().flatten();
    let own = message.get("id").map(|_| message);
    let methods =
        own.into_iter().chain(requests.map(|(_, request)| request)).filter_map(|request| request["method"].as_str());
    methods.map(str::to_owned).collect()
}
