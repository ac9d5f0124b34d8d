//! A timeline of the messages, with a short text per frame.

use std::sync::Arc;

use serde_json::Value;

use crate::{
    evidence::{Frame, FrameKind, Side},
    outcome::Moment,
};

/// Maximum number of frames in a report.
const KEPT: usize = 1000;
/// Maximum length of a text without a name.
const LONGEST: usize = 100;

/// The first frames, and the number of further ones.
pub fn timeline(frames: impl Iterator<Item = Arc<Frame>>) -> (Vec<Moment>, usize) {
    let moment = |frame: Arc<Frame>| Moment {
        frame: frame.frame,
        microseconds: frame.at,
        connection: frame.link,
        from: match frame.from {
            Side::Client => "client".to_owned(),
            Side::Server | Side::Gateway => "server".to_owned(),
        },
        what: what(&frame),
        bytes: frame.bytes,
    };
    let mut frames = frames.filter(|frame| frame.kind != FrameKind::Visit);
    let kept = frames.by_ref().take(KEPT).map(moment).collect();
    (kept, frames.count())
}

/// One frame as a short text.
pub fn what(frame: &Frame) -> String {
    let text = || frame.text.as_deref().unwrap_or_default().chars().take(LONGEST).collect::<String>();
    match (frame.kind, &frame.http) {
        (FrameKind::Message, _) => frame.message.as_ref().map(message).unwrap_or_default(),
        (FrameKind::Junk, _) => format!("no message: {}", text()),
        (FrameKind::Unread, _) => format!("not read: {}", frame.why.as_deref().unwrap_or_default()),
        (FrameKind::HttpRequest, Some(head)) => {
            format!("{} {}", head.method.as_deref().unwrap_or_default(), head.url.as_deref().unwrap_or_default())
        }
        (FrameKind::HttpResponse, Some(head)) => format!("HTTP {}", head.status.unwrap_or_default()),
        _ => text(),
    }
}

/// The name of the subject of a request.
pub fn about(request: &Value) -> Option<&str> {
    let params = request.get("params")?;
    ["uri", "prefix", "name", "cursor", "taskId"].iter().find_map(|member| params.get(*member)?.as_str())
}

fn message(message: &Value) -> String {
    let id = message.get("id").map(|id| format!(" {id}")).unwrap_or_default();
    let said = match message.get("method").and_then(Value::as_str) {
        Some(method) => format!("{method}{id}{}", about(message).map(|name| format!(" · {name}")).unwrap_or_default()),
        None if message.is_array() => "a batch of messages".to_owned(),
        None => match message.get("error") {
            Some(error) => format!("error{id} · {}", error.get("code").unwrap_or(&Value::Null)),
            None => format!("result{id}"),
        },
    };
    said.chars().take(LONGEST).collect()
}
