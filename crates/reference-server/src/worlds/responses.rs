//! Worlds for rules about clients: all forms of HTTP responses. The text of a call selects the form.

use std::time::Duration;

use hyper::{
    StatusCode,
    body::Bytes,
    header::{CONTENT_TYPE, HeaderValue},
};
use serde_json::{Value, json};
use tokio::{
    sync::mpsc::{Sender, channel},
    time::{Instant, sleep},
};

use crate::{
    faults::{Behaviour, Heard, Memory, Met},
    http::{Body, Reply, empty},
    options::Transport,
    worlds::made::{is_modern, method, said},
};

/// Bytes to write at once, each with the delay before them.
type Chunks = Vec<(Duration, Vec<u8>)>;

const AT_ONCE: Duration = Duration::ZERO;
/// Long enough for a response to a ping.
const SOON: Duration = Duration::from_millis(1500);
/// The delay of a stream that stays open after the response.
const LATE: Duration = Duration::from_secs(6);
/// The slow call takes a second.
const SLOW: Duration = Duration::from_millis(900);
const LARGE: usize = 1 << 20;
const PING: &str = r#"{"jsonrpc":"2.0","id":"ping-on-post","method":"ping"}"#;
const PING_ON_GET: &[u8] = b"data: {\"jsonrpc\":\"2.0\",\"id\":\"ping-on-get\",\"method\":\"ping\"}\n\n";
const LOG: &str = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}"#;

pub static RESPONSES: &[Behaviour] = &[Behaviour {
    meet: Some(meet),
    hear: Some(|memory, message| {
        if message["params"]["name"] == "slow" {
            memory.slow = Some(Instant::now());
        }
        Heard::Message
    }),
    say: Some(|memory, scene, message| {
        let text = scene.sent.map(said).unwrap_or_default();
        if ["bytes", "many-at-once"].contains(&text)
            && let Some(Value::String(text)) = message.pointer_mut("/result/content/0/text")
        {
            text.push_str(" é☃");
        }
        if text == "quick"
            && memory.slow.is_some_and(|slow| slow.elapsed() > SLOW)
            && let Some(Value::String(text)) = message.pointer_mut("/result/content/0/text")
        {
            text.push_str(" after");
        }
        if text == "large" {
            message["result"]["_meta"]["com.example/padding"] = json!("x".repeat(LARGE));
        }
        true
    }),
    reply: Some(reply),
    ..Behaviour::new("odd-responses", "HTTP responses have the form that the text of a call says", &[Transport::Http])
}];

pub fn meet(_: &mut Memory, request: &Value) -> Met {
    let message = &request["message"];
    let page = |status: StatusCode| {
        let mut reply = whole(status, "text/html", b"<html><body>Something went wrong.</body></html>");
        reply.headers_mut().insert("retry-after", HeaderValue::from_static("1"));
        Met::Answered(reply)
    };
    let failed = |status: StatusCode, code: i64| {
        let error = json!({ "code": code, "message": "Something does not fit." });
        let body = json!({ "jsonrpc": "2.0", "id": message["id"], "error": error });
        Met::Answered(whole(status, "application/json", body.to_string().as_bytes()))
    };
    match said(message) {
        "500" => page(StatusCode::INTERNAL_SERVER_ERROR),
        "503" => page(StatusCode::SERVICE_UNAVAILABLE),
        "502" => page(StatusCode::BAD_GATEWAY),
        "429" => page(StatusCode::TOO_MANY_REQUESTS),
        "html" => page(StatusCode::OK),
        "hang-up" => Met::HungUp,
        "error-400" => failed(StatusCode::BAD_REQUEST, -32602),
        "mismatch" => failed(StatusCode::BAD_REQUEST, -32020),
        _ if method(message) == "prompts/list" && is_modern(message) => failed(StatusCode::NOT_FOUND, -32601),
        _ => Met::Served,
    }
}

fn whole(status: StatusCode, kind: &'static str, body: &[u8]) -> Reply {
    let mut reply = empty(status);
    *reply.body_mut() = Body::Whole(Some(Bytes::copy_from_slice(body)));
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    reply
}

fn reply(_: &mut Memory, request: &Value, reply: &mut Reply) {
    let message = &request["message"];
    if is_modern(message) {
        reply.headers_mut().insert("mcp-session-id", HeaderValue::from_static("stray"));
    }
    if request["method"] == "GET" {
        return ping(reply);
    }
    form(message, reply);
}

/// Gives the response to a call the form that its text names.
pub fn form(message: &Value, reply: &mut Reply) {
    let text = said(message);
    let Body::Whole(Some(body)) = reply.body() else { return };
    let body = String::from_utf8_lossy(body).into_owned();
    match text {
        "json-charset" => {
            reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("Application/JSON; charset=UTF-8"));
        }
        "json-lines" => {
            let lines = serde_json::from_str::<Value>(&body).map_or(body, |value| format!("{value:#}\n"));
            *reply.body_mut() = Body::Whole(Some(lines.into()));
        }
        "no-type" => drop(reply.headers_mut().remove(CONTENT_TYPE)),
        _ => {
            let Some(chunks) = spelled(text, &body, is_modern(message)) else { return };
            let charset = text == "stream-charset";
            let kind = if charset { "text/event-stream; charset=utf-8" } else { "text/event-stream" };
            reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
            let (sender, receiver) = channel(chunks.len().max(1));
            *reply.body_mut() = Body::Events(receiver, None);
            tokio::spawn(write(sender, chunks));
        }
    }
}

/// Sends a ping as the first event of a stream opened by GET.
fn ping(reply: &mut Reply) {
    let Body::Events(events, _) = reply.body_mut() else { return };
    let (sender, receiver) = channel(64);
    let mut events = std::mem::replace(events, receiver);
    tokio::spawn(async move {
        sender.send(Bytes::from_static(PING_ON_GET)).await.ok();
        while let Some(event) = events.recv().await {
            if sender.send(event).await.is_err() {
                return;
            }
        }
    });
}

async fn write(sender: Sender<Bytes>, chunks: Chunks) {
    for (wait, chunk) in chunks {
        sleep(wait).await;
        if sender.send(chunk.into()).await.is_err() {
            return;
        }
    }
}

/// The event stream with this response, in the format of that name.
fn spelled(name: &str, body: &str, modern: bool) -> Option<Chunks> {
    let event = |data: &str| format!("event: message\ndata: {data}\n\n");
    let at_once = |text: String| Some(vec![(AT_ONCE, text.into_bytes())]);
    match name {
        "stream" | "stream-charset" | "large" => at_once(event(body)),
        "stream-after-log" => {
            // In 2026-07-28 the server sends no requests, and logs only if requested.
            let before = if modern { ": wait\n\n".to_owned() } else { event(LOG) + &event(PING) };
            Some(vec![(AT_ONCE, before.into_bytes()), (SOON, event(body).into_bytes())])
        }
        "stream-open" => Some(vec![(AT_ONCE, event(body).into_bytes()), (LATE, b": end\n\n".to_vec())]),
        "comments" => {
            let (first, rest) = body.split_at(1);
            at_once(format!(
                ": first\n:\n: {{\"jsonrpc\":\"2.0\"}}\n\nevent: message\ndata: {first}\n: inside\ndata: {rest}\n: last\n\n"
            ))
        }
        "crlf" => at_once(event(body).replace('\n', "\r\n")),
        "cr" => at_once(event(body).replace('\n', "\r")),
        "many-data-lines" => {
            let value: Value = serde_json::from_str(body).ok()?;
            let lines: String = format!("{value:#}").lines().map(|line| format!("data: {line}\n")).collect();
            at_once(format!("event: message\n{lines}\n"))
        }
        "bytes" => {
            let wait = Duration::from_millis(1);
            // Each byte alone took more than 4 s on a machine with a load of 30: spaces, line ends and the bytes of `é☃` do.
            let bytes = event(body).into_bytes();
            let runs = bytes.chunk_by(|one, next| one.is_ascii_graphic() && next.is_ascii_graphic());
            Some(runs.map(|run| (wait, run.to_vec())).collect())
        }
        "many-at-once" => at_once(format!(": a\n\n: b\n\nid: 1\ndata: \n\n{}", event(body))),
        "empty-event" => at_once(format!("id: 1\ndata: \n\n{}", event(body))),
        "no-space" => at_once(format!("event:message\ndata:{body}\n\n")),
        "unknown-fields" => {
            let known = format!("data: {body}\nevent: message\n\n");
            Some(vec![(AT_ONCE, b"foo: bar\nlonely\n".to_vec()), (Duration::from_millis(50), known.into_bytes())])
        }
        "byte-order-mark" => at_once(format!("\u{feff}data: {body}\n\n")),
        "unnamed" => at_once(format!("data: {body}\n\n")),
        "other-event" => {
            at_once(format!("event: ping\ndata: still here\n\nevent: keepalive\ndata: \n\n{}", event(body)))
        }
        "unfinished" => at_once(format!("event: message\ndata: {body}\n")),
        "ended" => at_once(": nothing\n\n".to_owned()),
        _ => None,
    }
}
