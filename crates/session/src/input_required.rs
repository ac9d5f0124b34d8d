//! Sends one request and responds to what the server requests of the client meanwhile.
//!
//! Up to 2025-11-25, the server sends requests, and the pump responds. Since then a result can require input, and the
//! client repeats the request with it.

use serde_json::{Map, Value, json};

use super::{call_options::CallOptions, complete::Deviation, negotiated::Session};
use conform_model::evidence::{Manner, Reply};

/// Maximum number of retries: of a normal client, and of one whose model never stops.
const ROUNDS_AT_MOST: usize = 10;
const TIRELESS_ROUNDS: usize = 60;

/// Sent as state to a server that never created it.
const GARBAGE: &str = "mcp-conform-garbage-7d1c {\"__proto__\":{}} \u{1F600}";
/// An argument that no tool declares. Its value differs with each retry, so a server that begins again with the new
/// arguments does not complete either.
const OTHER_ARGUMENT: &str = "mcp-conform-other";
const UNKNOWN_KEY: &str = "mcp-conform-unknown-7d1c";

impl Session {
    pub async fn converse(
        &self,
        by: &str,
        method: &str,
        params: Option<Value>,
        options: CallOptions,
        manner: Option<Manner>,
    ) -> Reply {
        self.shared.state().answer_by(manner);
        let plain = options.deviation != Deviation::default();
        let again = CallOptions { id: None, ..options.clone() };
        let mut reply = self.call(by, method, params.clone(), options).await;
        let (mut rounds, mut wanted, mut retried) = (Vec::new(), Vec::new(), None);
        let most = if manner == Some(Manner::Tireless) { TIRELESS_ROUNDS } else { ROUNDS_AT_MOST };
        while let Some(result) = reply.result.as_ref().filter(|result| result["resultType"] == "input_required") {
            wanted
                .extend(result["inputRequests"].as_object().into_iter().flatten().map(|(_, request)| request.clone()));
            let retry = manner.filter(|_| !plain && rounds.len() < most).and_then(|manner| {
                let may_go_on = rounds.is_empty()
                    || matches!(
                        manner,
                        Manner::Accept
                            | Manner::Decline
                            | Manner::Cancel
                            | Manner::Tireless
                            | Manner::Forged
                            | Manner::Moved
                    );
                may_go_on.then(|| self.retry(params.as_ref(), result, manner, rounds.len())).flatten()
            });
            let Some(retry) = retry else { break };
            let next = self.call(by, method, Some(retry.clone()), again.clone()).await;
            retried = Some(retry);
            rounds.push(json!(std::mem::replace(&mut reply, next)));
        }
        reply.wanted.extend(wanted);
        (reply.rounds, reply.retried) = (rounds, retried);
        reply
    }

    /// The params of the request with the required input; `None` if this manner does not apply.
    fn retry(&self, params: Option<&Value>, result: &Value, manner: Manner, round: usize) -> Option<Value> {
        let mut retry = params.and_then(Value::as_object).cloned().unwrap_or_default();
        let state = result["requestState"].as_str();
        let state = match manner {
            Manner::Forged => Some(altered(state?)),
            Manner::Garbage => state.map(|_| GARBAGE.to_owned()),
            _ => state.map(str::to_owned),
        };
        if matches!(manner, Manner::Garbage | Manner::Moved) && state.is_none() {
            return None;
        }
        retry.extend(state.map(|state| ("requestState".to_owned(), json!(state))));
        if let Some(requests) = result["inputRequests"].as_object() {
            retry.extend(self.responses(requests, manner, round).map(|given| ("inputResponses".to_owned(), given)));
        }
        if let (Manner::Moved, Some(arguments)) = (manner, retry.get_mut("arguments").and_then(Value::as_object_mut)) {
            arguments.insert(OTHER_ARGUMENT.to_owned(), json!(round.to_string()));
        }
        Some(Value::Object(retry))
    }

    /// The responses of the client to the requests inside a result.
    pub fn responses(&self, requests: &Map<String, Value>, manner: Manner, round: usize) -> Option<Value> {
        let profile = &self.shared.profile;
        let given = |(key, request): (&String, &Value)| {
            let answer = match manner {
                // Not an object, so it is an invalid response to each of the three requests.
                Manner::Wrong => Ok(json!("mcp-conform")),
                Manner::Forged | Manner::Moved | Manner::Garbage | Manner::Part | Manner::Extra => {
                    profile.answer(request, Some(Manner::Accept), round)
                }
                manner => profile.answer(request, Some(manner), round),
            };
            Some((key.clone(), answer.ok()?))
        };
        let few = if manner == Manner::Part { 1 } else { usize::MAX };
        let mut responses: Map<String, Value> = requests.iter().take(few).filter_map(given).collect();
        if manner == Manner::Extra {
            responses.insert(UNKNOWN_KEY.to_owned(), json!({ "action": "cancel" }));
        }
        (!matches!(manner, Manner::Nothing | Manner::Refuse)).then(|| Value::Object(responses))
    }
}

/// Changes a character near the end, where a signature would be. The last base64 characters may hold no bits.
fn altered(state: &str) -> String {
    let length = state.chars().count();
    let place = (length * 7 / 8).min(length.saturating_sub(4));
    let other = |c: char| if c == 'A' { 'B' } else { 'A' };
    state.chars().enumerate().map(|(at, c)| if at == place { other(c) } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::altered;

    #[test]
    fn one_character_is_changed() {
        assert_eq!(altered("0123456789abcdef"), "0123456789abAdef");
        assert_eq!(altered("xAz12"), "xBz12");
        assert_eq!(altered("x"), "A");
    }
}
