//! Input-required results, since 2026-07-28, with the client's responses: items of `$inputs`.

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::{Value, json};

use super::{MessageContext, dialogue::Dialogue};
use conform_model::evidence::{Kind, Link, Side};

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
        let MessageContext { frame, kind, related, .. } = passing;
        let message = &related.message;
        match (frame.from, kind) {
            (Side::Server, Kind::Result) if message.result()["resultType"] == "input_required" => {
                let open = related.responds_to().and_then(|asked| dialogue.open.get(&asked.place))?;
                if self.rounds.len() >= MOST {
                    return None;
                }
                let result = message.result();
                let requests = result["inputRequests"].as_object().into_iter().flatten();
                let offered = open.params.pointer("/_meta/io.modelcontextprotocol~1clientCapabilities");
                self.rounds.push(Round {
                    id: message.id.cloned().unwrap_or_default(),
                    method: open.method.clone(),
                    first: open.params.clone(),
                    requests: requests.map(|(key, request)| (key.clone(), request.clone())).collect(),
                    state: result.get("requestState").cloned(),
                    offered: offered.cloned().unwrap_or_default(),
                    frames: vec![open.frame, frame.frame],
                    retry: None,
                });
            }
            (Side::Client, Kind::Request) => {
                let (method, params) = (message.method, message.params());
                // With the same state in several rounds, the latest is meant.
                let exact = self.rounds.iter().rposition(|round| round.is_retried_by(method, params));
                let near =
                    || self.rounds.iter().rposition(|round| round.is_retried_with_other_state_by(method, params));
                if let Some(round) = exact.or_else(near).and_then(|at| self.rounds.get_mut(at)) {
                    round.retry = Some((message.id.cloned().unwrap_or_default(), params.clone()));
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

    pub fn rest(self, link: &Link) -> Vec<Item> {
        let items = self.rounds.iter().flat_map(|round| {
            round.requests.iter().map(|(key, request)| Item {
                key: key.clone(),
                method: request["method"].clone(),
                params: request["params"].clone(),
                retried: round.retry.is_some(),
                first: round.first.clone(),
                offered: round.offered.clone(),
                frames: round.frames.clone(),
                link: link.link,
                state: round.state.clone(),
                retry: round.retry.as_ref().map(|(_, params)| params.clone()),
                retry_id_new: round.retry.as_ref().map(|(id, _)| *id != round.id),
                response: round.retry.as_ref().and_then(|(_, params)| params["inputResponses"].get(key).cloned()),
            })
        });
        items.collect()
    }
}

#[derive(Serialize)]
pub struct Item {
    pub key: String,
    pub method: Value,
    pub params: Value,
    retried: bool,
    first: Value,
    pub offered: Value,
    pub frames: Vec<u64>,
    pub link: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<Value>,
    /// The params of the retry.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_id_new: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<Value>,
}
