//! Sends the control of a probe, before the probe: the same request without the deviation.
//!
//! A server that rejects the control rejects the probe for another reason, so the response says nothing about the
//! deviation. The judge takes that into account.

use std::collections::HashMap;

use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::{
    call::{filled, once},
    send,
    silence::sentinel,
    step::Stage,
};
use conform_model::evidence::{End, Part};
use conform_session::{CallOptions, Deviation};
use conform_suite::{Call, Control, Deviates, HttpCall, Payload, Scope, Step, Template, Verb};

/// The outcomes of a suite's controls, by what was sent.
pub type Controls = Mutex<HashMap<String, Value>>;

/// The parts that are missing or differ; `None` if a reference has no value in this run.
pub fn deviation(deviates: Option<&Deviates>, scope: &Scope<'_>) -> Option<Deviation> {
    let Some(Deviates::Parts { without, with }) = deviates else { return Some(Deviation::default()) };
    let mut parts = Vec::new();
    match filled(without.as_ref(), scope)? {
        Some(Value::Array(names)) => parts.extend(names),
        one => parts.extend(one),
    }
    let mut parts: Vec<_> = parts.iter().filter_map(|name| Some((Part::named(name.as_str()?), None))).collect();
    for (name, value) in with {
        let name = name.resolve(scope).ok()?;
        parts.push((Part::named(name.as_str()?), Some(value.resolve(scope).ok()?)));
    }
    Some(Deviation(parts))
}

/// The outcome of the same request without its deviation; `None` if it has none.
pub async fn control(stage: &Stage<'_>, step: &Step, scope: &Scope<'_>) -> Option<Value> {
    let is_usual = match &step.verb {
        Verb::Send(send) => send.pieces == 1 && !matches!(send.payload, Payload::Lines(_)),
        _ => true,
    };
    if step.deviates.is_none() && step.despite.is_empty() && is_usual {
        return None;
    }
    // If the handshake was rejected, no token can be used as a control.
    let is_of_token = |deviation: Deviation| {
        !deviation.0.is_empty() && deviation.0.iter().all(|(part, _)| *part == Part::named("Authorization"))
    };
    if End::of(&stage.context.server["hello"]) != Some(End::Result)
        && deviation(step.deviates.as_ref(), scope).is_some_and(is_of_token)
    {
        return None;
    }
    let request = request(step, scope);
    if request.as_ref().is_some_and(|request| request["method"] == "initialize") {
        // The handshake was the control, and the server may not accept another one.
        let hello = stage.context.server.get("hello").filter(|_| !stage.context.revision.is_modern())?;
        return Some(outcome(hello, step.control));
    }
    let headers = match &step.verb {
        Verb::Http(http) => usual_headers(http, step)
            .iter()
            .map(|(name, value)| json!([name.resolve(scope).ok(), value.resolve(scope).ok()]))
            .collect(),
        Verb::Call(call) => json!(call.alone),
        _ => Value::Null,
    };
    let key = format!("{headers} {}", request.clone().unwrap_or_default());
    let mut known = stage.controls.lock().await;
    if let Some(known) = known.get(&key) {
        return Some(known.clone());
    }
    let reply = match (&step.verb, request) {
        (Verb::Call(call), Some(mut message)) => {
            let with = message.get_mut("params").map(|params| Template::Literal(params.take()));
            let call = Call { id: None, with, ..call.clone() };
            once(stage, &call, scope, Deviation::default()).await?
        }
        (Verb::Http(http), Some(mut message)) if message["method"] != "subscriptions/listen" => {
            message.as_object_mut()?.shift_remove("id");
            let headers = usual_headers(http, step);
            let http = HttpCall { message: Some(Template::Literal(message)), headers, ..http.clone() };
            send::http(stage, &http, scope, Deviation::default()).await?
        }
        (_, Some(request)) if request["method"] != "subscriptions/listen" => {
            let params = request.get("params").cloned();
            let session = stage.session().await?;
            let reply =
                session.call(&stage.suite.id, request["method"].as_str()?, params, CallOptions::default()).await;
            json!(reply)
        }
        // If no response is expected, or a stream would stay open, at least another request must succeed.
        _ => json!(sentinel(stage, &*stage.session().await?).await),
    };
    let control = outcome(&reply, step.control);
    known.insert(key, control.clone());
    Some(control)
}

/// The first request of a message as written, without its id.
fn request(step: &Step, scope: &Scope<'_>) -> Option<Value> {
    let written = match &step.verb {
        Verb::Call(call) => {
            let mut message = json!({ "method": call.method.resolve(scope).ok()? });
            if let Some(params) = filled(call.with.as_ref(), scope)? {
                message["params"] = params;
            }
            message
        }
        Verb::Http(http) => http.message.as_ref()?.resolve(scope).ok()?,
        Verb::Send(send) => match &send.payload {
            Payload::Message(message) | Payload::Lines(message) => message.resolve(scope).ok()?,
            _ => return None,
        },
        _ => return None,
    };
    let asks = |message: &Value| message["method"].as_str().is_some_and(|name| !name.starts_with("notifications/"));
    let mut request = match written {
        Value::Array(messages) => messages.into_iter().find(asks)?,
        message => Some(message).filter(asks)?,
    };
    request.as_object_mut()?.shift_remove("id");
    if let Some(params) = request.get_mut("params").and_then(Value::as_object_mut) {
        params.retain(|name, _| !step.despite.contains(name));
    }
    Some(request)
}

/// The headers that the control has, too.
fn usual_headers(http: &HttpCall, step: &Step) -> Vec<(Template, Template)> {
    let is_unusual = |name: &Template| {
        let Template::Literal(Value::String(name)) = name else { return false };
        step.despite.iter().any(|unusual| unusual.eq_ignore_ascii_case(name))
    };
    http.headers.iter().filter(|(name, _)| !is_unusual(name)).cloned().collect()
}

/// The stored outcome of a control.
fn outcome(reply: &Value, expected: Control) -> Value {
    let status = reply.pointer("/http/status").and_then(Value::as_u64);
    let holds = match (expected, End::of(reply)) {
        (Control::Result, Some(End::Result | End::Open)) | (Control::Error, Some(End::Error)) => true,
        // Over HTTP+SSE, the response arrives on another stream.
        (Control::Result, Some(End::Answered)) => status.is_some_and(|status| status < 300),
        _ => false,
    };
    let mut outcome = json!({ "holds": holds, "end": reply["end"], "frames": reply["frames"] });
    for (member, place) in [("error", "/error"), ("status", "/http/status")] {
        if let Some(value) = reply.pointer(place) {
            outcome[member] = value.clone();
        }
    }
    outcome
}
