//! Requests to the client that a tool needs before it can continue: separate requests up to 2025-11-25, and part of a
//! result since then.
//!
//! A modern server keeps no state between the rounds. The client's earlier responses are in the state of the request,
//! with a checksum that also covers the request and the time.

use std::{
    hash::{BuildHasher, RandomState},
    sync::LazyLock,
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Map, Value, json};

use crate::{
    clock,
    content::ContentFaults,
    context::Context,
    fail::Fail,
    handlers::{Params, params},
};

/// Lifetime of a state in seconds.
const LIFETIME: u64 = 600;

/// A random key, so that only this process can create a valid checksum.
static KEY: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// Adds the client's responses of earlier rounds to those of this one.
pub fn remember(context: &mut Context, params: Params) -> Result<(), Fail> {
    if context.answers.values().any(|answer| !answer.is_object()) {
        return Err(params::unfit("inputResponses", "an object of objects"));
    }
    let Some(state) = params.optional_string("requestState")? else { return Ok(()) };
    let kept = match opened(state, params, &context.content.slips) {
        Some(kept) => kept,
        None if context.content.slips.state_unverified => Map::new(),
        None => return Err(Fail::params("`requestState` does not belong to this request.")),
    };
    for (key, answer) in kept {
        context.answers.insert(key, answer);
    }
    Ok(())
}

pub fn ask(context: &mut Context, params: Params, requests: Value) -> Value {
    if context.revision.is_modern() {
        let state = sealed(&context.answers, params, &context.content.slips);
        return json!({ "resultType": "input_required", "inputRequests": requests, "requestState": state });
    }
    if let Value::Object(requests) = requests {
        (context.asks, context.open) = (requests, true);
    }
    Value::Null
}

fn sealed(answers: &Map<String, Value>, params: Params, slips: &ContentFaults) -> String {
    let payload = URL_SAFE_NO_PAD.encode(json!({ "answers": answers, "made": now() }).to_string());
    format!("{payload}.{:016x}", seal(&payload, params, slips))
}

/// `None` for a state that is forged, expired, or of another request.
fn opened(state: &str, params: Params, slips: &ContentFaults) -> Option<Map<String, Value>> {
    let (payload, given) = state.split_once('.')?;
    if given != format!("{:016x}", seal(payload, params, slips)) {
        return None;
    }
    let mut kept: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).ok()?).ok()?;
    let fresh = kept["made"].as_u64()? + LIFETIME > now();
    let answers = kept.get_mut("answers").map(Value::take);
    answers.filter(|_| fresh).and_then(|answers| answers.as_object().cloned())
}

fn seal(payload: &str, params: Params, slips: &ContentFaults) -> u64 {
    let part = |name: &str| params.0.get(name).filter(|_| !slips.state_for_any).map(Value::to_string);
    KEY.hash_one((payload, part("name"), part("arguments")))
}

fn now() -> u64 {
    u64::try_from(clock::now().as_second()).unwrap_or_default()
}
