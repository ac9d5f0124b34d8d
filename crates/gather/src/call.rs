//! One request, or one notification.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{param_headers::param_headers, step::Stage, wanted::of_call};
use conform_model::evidence::{End, Manner};
use conform_session::{CallOptions, Deviation, Session};
use conform_suite::{Call, Notify, Scope, Step, Template, Verb};

/// How long to poll, and the interval if the server names none.
const POLLING_SECONDS: f64 = 5.0;
const INTERVAL: u64 = 50;
/// The server's interval is limited to this range, in milliseconds.
const SHORTEST: u64 = 5;
const LONGEST: u64 = 1000;

pub async fn call(stage: &Stage<'_>, call: &Call, scope: &Scope<'_>, deviation: Deviation) -> Option<Value> {
    if call.until.is_empty() {
        let reply = once(stage, call, scope, deviation).await?;
        note_no_client_request(stage, call, scope, &reply);
        return Some(reply);
    }
    let within = Duration::from_secs_f64(call.seconds.unwrap_or(POLLING_SECONDS));
    let began = Instant::now();
    loop {
        let reply = once(stage, call, scope, deviation.clone()).await?;
        let mut inner = Scope::over(scope);
        inner.bind("reply", &reply);
        let over = End::of(&reply) != Some(End::Result)
            || call.until.iter().all(|clause| clause.holds(&inner, stage.context.revision));
        let pause = interval(&reply["result"]);
        if over || began.elapsed() + pause > within {
            return Some(reply);
        }
        sleep(pause).await;
    }
}

fn note_no_client_request(stage: &Stage<'_>, call: &Call, scope: &Scope<'_>, reply: &Value) {
    let willing = call.respond == Some(Manner::Accept) && stage.suite.capabilities.is_none();
    if let Some(request) = request(call, scope).filter(|_| willing && asked_nothing(reply)) {
        stage.known().note_no_client_request(request);
    }
}

fn asked_nothing(reply: &Value) -> bool {
    let answered = matches!(End::of(reply), Some(End::Result | End::Error));
    answered && ["wanted", "rounds"].iter().all(|member| reply[*member].as_array().is_none_or(Vec::is_empty))
}

/// Whether a call will cause no request to this client, because it caused none to one with more capabilities.
pub fn causes_no_client_request(stage: &Stage<'_>, step: &Step, scope: &Scope<'_>) -> bool {
    let Verb::Call(call) = &step.verb else { return false };
    let modest = stage.suite.capabilities.is_some() && call.respond == Some(Manner::Accept);
    modest && request(call, scope).is_some_and(|request| stage.known().causes_no_client_request(&request))
}

/// The delay before the next poll of a task.
fn interval(task: &Value) -> Duration {
    let named = ["pollInterval", "pollIntervalMs"].iter().find_map(|name| task[*name].as_u64());
    Duration::from_millis(named.unwrap_or(INTERVAL).clamp(SHORTEST, LONGEST))
}

/// The timeout of a response, if the step sets one.
pub fn patience(call: &Call, stage: &Stage<'_>) -> Option<Duration> {
    let seconds = call.seconds.filter(|_| call.until.is_empty())?;
    Some(Duration::from_secs_f64(seconds).min(stage.limits.request))
}

/// Identifies a request by its content, without its metadata.
fn request(call: &Call, scope: &Scope<'_>) -> Option<String> {
    let method = call.method.resolve(scope).ok()?;
    let mut params = filled(call.with.as_ref(), scope)?.unwrap_or_default();
    if let Value::Object(members) = &mut params {
        members.shift_remove("_meta");
    }
    Some(format!("{} {params}", method.as_str()?))
}

pub async fn once(stage: &Stage<'_>, call: &Call, scope: &Scope<'_>, deviation: Deviation) -> Option<Value> {
    let method = call.method.resolve(scope).ok()?;
    let params = stage.declaring(filled(call.with.as_ref(), scope)?);
    let id = filled(call.id.as_ref(), scope)?;
    let (by, method) = (&stage.suite.id, method.as_str()?);
    let headers = param_headers(stage.context, method, params.as_ref().unwrap_or(&Value::Null));
    let (patience, wanted) = (patience(call, stage), of_call(stage, call, scope));
    let options = CallOptions { id, deviation, headers, patience, wanted, ..CallOptions::default() };
    if call.alone {
        return Some(stage.beside.alone(by, method, params, options, call.then.as_deref()).await.saved());
    }
    let ask =
        async |session: &Session| session.converse(by, method, params.clone(), options.clone(), call.respond).await;
    let (session, reply) = stage.conversation?.ask(ask).await;
    let mut reply = reply.saved();
    if let Some(requests) = reply.pointer("/result/inputRequests").and_then(Value::as_object) {
        // A task gets them by tasks/update, which the client does not send on its own.
        reply["answers"] = json!(session.responses(requests, call.respond.unwrap_or(Manner::Accept), 0));
    }
    Some(reply)
}

pub async fn notify(stage: &Stage<'_>, notify: &Notify, scope: &Scope<'_>, deviation: &Deviation) -> Option<Value> {
    let mut message = json!({ "method": notify.method });
    if let Some(params) = filled(notify.with.as_ref(), scope)? {
        message["params"] = params;
    }
    deviation.change(&mut message);
    let params = message.get("params").cloned();
    let session = stage.session().await?;
    Some(json!(session.notify(&stage.suite.id, &notify.method, params).await))
}

pub async fn cancel(stage: &Stage<'_>, id: &Template, scope: &Scope<'_>) -> Option<Value> {
    let id = id.resolve(scope).ok()?;
    let session = stage.session().await?;
    Some(json!(session.cancel(&stage.suite.id, &id).await?))
}

/// The template with its references resolved; the outer `None` if one of them has no value in this run.
#[expect(clippy::option_option, reason = "no template, and a template without a value, are different things")]
pub fn filled(template: Option<&Template>, scope: &Scope) -> Option<Option<Value>> {
    template.map(|template| template.resolve(scope).ok()).map_or(Some(None), |value| value.map(Some))
}
