//! The clients that a server gets to see in one run, and which suites they are for.

use serde_json::Value;

use super::Job;
use crate::{
    evidence::{Recorder, Scene, Side},
    plan::{Plan, left_out},
    session::ClientFace,
    suite::{Client, Suite},
};

/// The client, with the roots that the configuration gives.
pub fn usual(job: &Job) -> ClientFace {
    let mut face = job.face.clone();
    if let (Some(roots), Some(root)) = (&mut face.roots, job.facts["outside_roots"]["root"].as_str()) {
        *roots = vec![root.to_owned()];
    }
    face
}

/// The suites that run, and those that bring about what they look at.
pub fn with_evidence<'a>(planned: &Plan<'a>, suites: &'a [Suite], scene: &Scene) -> Vec<&'a Suite> {
    let running: Vec<&Suite> = planned.suites.iter().filter(|suite| suite.runs()).map(|suite| suite.suite).collect();
    let runs = |id: &str| running.iter().any(|suite| suite.id == id);
    let serves = |id: &String| running.iter().any(|suite| suite.evidence.contains(id));
    let fits = |suite: &&Suite| runs(&suite.id) || (serves(&suite.id) && left_out(&suite.applies, scene).is_none());
    suites.iter().filter(fits).collect()
}

pub fn face(client: Client, usual: &ClientFace) -> ClientFace {
    match client {
        Client::Full => usual.clone(),
        Client::Plain => ClientFace { details: false, ..usual.clone() },
        Client::Bare => ClientFace::bare(),
    }
}

/// Whether the server has asked anything of a client so far. One that does not ask need not be told less.
pub fn was_asked(recorder: &Recorder) -> bool {
    let asks = |message: &Value| {
        let request = message.get("method").is_some() && message.get("id").is_some();
        request || message.pointer("/result/resultType").is_some_and(|kind| kind == "input_required")
    };
    let may_ask = |_, text: &str| {
        text.contains(r#""from":"server""#) && (text.contains(r#""method":"#) || text.contains("input_required"))
    };
    let mut frames = recorder.frames_where(may_ask).filter(|frame| frame.from == Side::Server);
    frames.any(|frame| frame.message.as_ref().is_some_and(asks))
}
