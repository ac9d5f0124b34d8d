//! Sends raw text and whole HTTP requests, as no well-behaved client would.
//!
//! If all responses share one stream, a harmless request after the raw text shows whether the server is slow or sends
//! no response. When the harmless request gets its response, the raw text has been read, and only a short wait follows.
//! The outcome of the harmless request is saved as `sentinel`: it shows whether the server survived.

use std::{sync::Arc, time::Duration};

use futures_util::future::{Either, select};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use super::{
    call::filled,
    login,
    param_headers::param_headers,
    silence::{lag, sentinel},
    step::Stage,
    wanted::of_http,
};
use conform_model::evidence::{End, Event, Frame, FrameKind, Recorder, Reply, Side, input_name};
use conform_session::{Deviation, Session};
use conform_suite::{Connection, HttpCall, Payload, Scope, Send, Template};
use conform_wire::HttpRequest;

/// The headers of each POST with a message.
const POSTED: [(&str, &str); 2] =
    [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];

/// A server with concurrent handlers may respond out of order on a busy machine: a wait of 0.15 s was not enough. So
/// this many more harmless requests must get a response before the wait for an expected response ends.
const SENTINELS_MORE: usize = 2;

pub async fn send(stage: &Stage<'_>, send: &Send, scope: &Scope<'_>, deviation: &Deviation) -> Option<Value> {
    let session = stage.session().await?;
    let complete = |message: &Template| {
        let mut message = session.completed(message.resolve(scope).ok()?);
        deviation.change(&mut message);
        Some(message)
    };
    let (mut id, mut named) = (None, None);
    let bytes = match &send.payload {
        Payload::Message(message) => {
            let mut message = complete(message)?;
            id = message.get("id").filter(|id| !id.is_null()).cloned();
            let bytes = message.to_string().into_bytes();
            // An id of ours differs from run to run, and the name of a finding must not.
            if let (Some(Value::String(_)), Some(members)) = (&id, message.as_object_mut()) {
                members.shift_remove("id");
            }
            // It would take all the space.
            if let Some(params) = message.get_mut("params").and_then(Value::as_object_mut) {
                params.shift_remove("_meta");
            }
            named = Some(message.to_string());
            bytes
        }
        Payload::Lines(messages) => {
            let lines: Vec<String> = complete(messages)?.as_array()?.iter().map(Value::to_string).collect();
            lines.join("\n").into_bytes()
        }
        Payload::Text(text) => text.resolve(scope).ok()?.as_str()?.as_bytes().to_vec(),
        Payload::Bytes(bytes) => bytes.clone(),
        Payload::Json(template) => template.resolve(scope).ok()?.to_string().into_bytes(),
    };
    let input = named.unwrap_or_else(|| String::from_utf8_lossy(&bytes).into_owned());
    let input = input_name(&input, bytes.len() as u64);
    let answer = filled(send.reply_to.as_ref(), scope)?.or(id);
    let (sent, before) = (Instant::now(), stage.recorder.frames_so_far());
    let is_due = answer.is_some();
    let raw = std::pin::pin!(session.send_raw(&stage.suite.id, &bytes, answer, send.pieces));
    let (reply, sentinel) = if session.transport().capabilities().stream_per_request {
        (raw.await, sentinel(stage, &session).await)
    } else {
        match select(raw, std::pin::pin!(sentinel(stage, &session))).await {
            Either::Left((reply, sentinel)) => (reply, sentinel.await),
            Either::Right((first, mut raw)) => {
                let mut reply = timeout(lag(sent.elapsed()), &mut raw).await.ok();
                let lives = matches!(first.end, End::Result | End::Error);
                for _ in 0..SENTINELS_MORE {
                    if reply.is_some() || !is_due || !lives {
                        break;
                    }
                    let asked = Instant::now();
                    sentinel(stage, &session).await;
                    reply = timeout(lag(asked.elapsed()), &mut raw).await.ok();
                }
                (reply.unwrap_or_else(|| silence(first_sent(stage, session.link(), before))), first)
            }
        }
    };
    let mut saved = reply.saved();
    saved["sentinel"] = json!(sentinel);
    saved["asked"] = json!(input);
    Some(saved)
}

fn silence(frames: Vec<u64>) -> Reply {
    Reply {
        frames,
        why: Some("the server replied to a later request, but not to this one".into()),
        ..Reply::ended(End::Timeout)
    }
}

/// The frame of what the suite first sent on this connection after `before`.
fn first_sent(stage: &Stage<'_>, link: u32, before: u64) -> Vec<u64> {
    let is_it = |frame: &&Arc<Frame>| {
        let sent = matches!(frame.kind, FrameKind::Message | FrameKind::Junk) && frame.from == Side::Client;
        sent && frame.link == link && frame.by.as_ref() == Some(&stage.suite.id)
    };
    stage.recorder.since(before).iter().find(is_it).map(|frame| frame.frame).into_iter().collect()
}

pub async fn http(stage: &Stage<'_>, call: &HttpCall, scope: &Scope<'_>, deviation: Deviation) -> Option<Value> {
    let session = stage.session().await?;
    if session.transport().capabilities().process {
        return None;
    }
    let mut body = filled(call.body.as_ref(), scope)?;
    let (mut headers, mut without) = deviation.headers();
    if let Some(message) = filled(call.message.as_ref(), scope)? {
        let mut message = session.completed(message);
        deviation.change(&mut message);
        body = Some(message);
        let given = |usual: &str| {
            headers.iter().map(|(name, _)| name).chain(&without).any(|name| name.eq_ignore_ascii_case(usual))
        };
        let missing: Vec<_> = POSTED.into_iter().filter(|(name, _)| !given(name)).collect();
        headers.extend(missing.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
    for (name, template) in &call.headers {
        let name = name.resolve(scope).ok()?.as_str()?.to_owned();
        match template.resolve(scope).ok()? {
            Value::Null => without.push(name),
            Value::String(value) => headers.push((name, value)),
            other => headers.push((name, other.to_string())),
        }
    }
    if let Some(Value::Object(message)) = &body {
        let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
        let usual = param_headers(stage.context, method, message.get("params").unwrap_or(&Value::Null));
        let given = |name: &str| {
            let names = headers.iter().map(|(name, _)| name).chain(&without);
            names.into_iter().any(|given| given.eq_ignore_ascii_case(name))
        };
        let usual: Vec<_> = usual.into_iter().filter(|(name, _)| !given(name)).collect();
        headers.extend(usual);
    }
    let text = |body: &Value| body.as_str().map_or_else(|| body.to_string(), str::to_owned);
    let parameters = |given: &[(String, Template)]| -> Option<Vec<(String, String)>> {
        let resolved = given.iter().map(|(name, template)| Some((name.clone(), template.resolve(scope).ok()?)));
        let is_given = |pair: &Option<(String, Value)>| !matches!(pair, Some((_, Value::Null)));
        resolved.filter(is_given).map(|pair| pair.map(|(name, value)| (name, text(&value)))).collect()
    };
    if !call.form.is_empty() {
        let form = form_urlencoded::Serializer::new(String::new()).extend_pairs(parameters(&call.form)?).finish();
        headers.push(("Content-Type".to_owned(), "application/x-www-form-urlencoded".to_owned()));
        body = Some(form.into());
    }
    let request = HttpRequest {
        by: stage.suite.id.clone(),
        method: call.method.clone(),
        url: filled(call.url.as_ref(), scope)?.as_ref().map(text),
        query: parameters(&call.query)?,
        headers,
        without,
        body: body.as_ref().map(|body| text(body).into_bytes()),
    };
    if let Some(end) = call.login {
        return Some(login::login(&session, &request, end).await);
    }
    let patience = call.seconds.map(|seconds| Duration::from_secs_f64(seconds).min(stage.limits.request));
    let body = body.unwrap_or_default();
    let wanted = of_http(stage, call, scope);
    let ask = async |session: &Session| session.http(request.clone(), &body, patience, wanted.clone()).await;
    // A `fresh` connection must keep its session, so an expired one is not replaced.
    let lasts = stage.suite.connection != Connection::New;
    let reply = if lasts && concerns_its_session(&request) {
        stage.conversation?.ask(ask).await.1
    } else {
        ask(&session).await
    };
    let events = events(stage.recorder, &reply);
    let mut saved = reply.saved();
    saved["events"] = json!(events);
    Some(login::with_issued(&session, saved))
}

/// Whether it belongs to the session of the suite, judged by its headers.
fn concerns_its_session(request: &HttpRequest) -> bool {
    let given = request.headers.iter().map(|(name, _)| name).chain(&request.without);
    request.url.is_none() && !given.into_iter().any(|name| name.eq_ignore_ascii_case("mcp-session-id"))
}

/// The events in the response to an HTTP request, including those without a message.
fn events(recorder: &Recorder, reply: &Reply) -> Vec<Event> {
    let Some(first) = reply.frames.first() else { return Vec::new() };
    let frames = recorder.since(first - 1);
    let post = frames.first().filter(|frame| frame.frame == *first).and_then(|request| request.post);
    let ours = |frame: &&Arc<Frame>| post.is_some() && frame.post == post;
    frames.iter().filter(ours).filter_map(|frame| frame.event.clone()).collect()
}
