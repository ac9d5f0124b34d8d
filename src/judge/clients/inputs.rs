//! Input-required results, since 2026-07-28, with the client's responses: items of `$inputs`.

use indexmap::IndexMap;
use serde_json::{Value, json};

use super::{
    MessageContext,
    dialogue::{Dialogue, kind},
};
use crate::evidence::{Link, Side};

/// At most this many rounds of one connection are judged.
const MOST: usize = 2_000;

#[derive(Default)]
pub struct Inputs {
    rounds: Vec<Round>,
}

struct Round {
    /// The id, method and params of the request.
    id: Value,
    method: String,
    first: Value,
    requests: IndexMap<String, Value>,
    state: Option<Value>,
    offered: Value,
    frames: Vec<u64>,
    retry: Option<(Value, Value)>,
}

impl Round {
    /// Whether this request retries the first one with a response to it.
    fn is_retried_by(&self, method: &str, params: &Value) -> bool {
        let state = params.get("requestState").is_none_or(|state| self.state.as_ref().is_none_or(|own| own == state));
        state && self.goes_on_with(&["name", "uri", "ref"], method, params)
    }

    /// Whether it is the same request with the same arguments, and the state alone is another.
    fn is_retried_with_other_state_by(&self, method: &str, params: &Value) -> bool {
        self.goes_on_with(&["name", "uri", "ref", "arguments"], method, params)
    }

    fn goes_on_with(&self, same: &[&str], method: &str, params: &Value) -> bool {
        self.retry.is_none() && self.asks(same, method, params) && has_input(params)
    }

    /// Whether the request has these parameters of the first one.
    fn asks(&self, same: &[&str], method: &str, params: &Value) -> bool {
        method == self.method && same.iter().all(|name| params.get(name) == self.first.get(name))
    }
}

/// Whether a request has something that only a result could require.
fn has_input(params: &Value) -> bool {
    params.get("inputResponses").is_some() || params.get("requestState").is_some()
}

/// An object without responses says nothing.
fn has_empty_input(params: &Value) -> bool {
    params["inputResponses"] == json!({}) && params.get("requestState").is_none()
}

impl Inputs {
    /// Of a request with input: whether a result to the same request required it.
    pub fn take(&mut self, passing: &MessageContext, dialogue: &Dialogue) -> Option<bool> {
        let MessageContext { frame, message, .. } = passing;
        match (frame.from, kind(message)) {
            (Side::Server, "result") if message["result"]["resultType"] == "input_required" => {
                let open = dialogue.open.get(&message["id"].to_string())?;
                if self.rounds.len() >= MOST {
                    return None;
                }
                let result = &message["result"];
                let requests = result["inputRequests"].as_object().into_iter().flatten();
                let offered = open.params.pointer("/_meta/io.modelcontextprotocol~1clientCapabilities");
                self.rounds.push(Round {
                    id: message["id"].clone(),
                    method: open.method.clone(),
                    first: open.params.clone(),
                    requests: requests.map(|(key, request)| (key.clone(), request.clone())).collect(),
                    state: result.get("requestState").cloned(),
                    offered: offered.cloned().unwrap_or_default(),
                    frames: vec![open.frame, frame.frame],
                    retry: None,
                });
            }
            (Side::Client, "request") => {
                let (method, params) = (message["method"].as_str().unwrap_or_default(), &message["params"]);
                // With the same state in several rounds, the latest is meant.
                let exact = self.rounds.iter().rposition(|round| round.is_retried_by(method, params));
                let near =
                    || self.rounds.iter().rposition(|round| round.is_retried_with_other_state_by(method, params));
                if let Some(round) = exact.or_else(near).and_then(|at| self.rounds.get_mut(at)) {
                    round.retry = Some((message["id"].clone(), params.clone()));
                    round.frames.push(frame.frame);
                    return Some(true);
                }
                // A retry may be sent again.
                let again = |round: &Round| {
                    round.asks(&["name", "uri", "ref", "arguments"], method, params)
                        && round.state.as_ref() == params.get("requestState")
                };
                let is_judged = self.rounds.len() < MOST && has_input(params) && !has_empty_input(params);
                return is_judged.then(|| self.rounds.iter().any(again));
            }
            _ => {}
        }
        None
    }

    pub fn rest(self, link: &Link) -> Vec<Value> {
        let mut items = Vec::new();
        for round in self.rounds {
            for (key, request) in &round.requests {
                let mut item = json!({
                    "key": key,
                    "method": request["method"],
                    "params": request["params"],
                    "retried": round.retry.is_some(),
                    "first": round.first,
                    "offered": round.offered,
                    "frames": round.frames,
                    "link": link.link,
                });
                if let Some(state) = &round.state {
                    item["state"] = state.clone();
                }
                if let Some((id, params)) = &round.retry {
                    item["retry"] = params.clone();
                    item["retry_id_new"] = json!(*id != round.id);
                    if let Some(response) = params["inputResponses"].get(key) {
                        item["response"] = response.clone();
                    }
                }
                items.push(item);
            }
        }
        items
    }
}
