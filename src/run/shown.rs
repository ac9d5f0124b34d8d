//! Puts the frames that findings name beside them, so that a report stands alone.

use std::{
    borrow::Cow,
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use serde_json::Value;

use crate::{
    evidence::{Frame, FrameKind, Side},
    outcome::{RuleResult, ShownFrame, excerpt},
};

/// Frames of one finding: the request and the answer, and little more.
const FRAMES: usize = 4;
/// Characters of a message that stands for its own name.
const SUBJECT: usize = 60;

pub fn show_frames(rules: &mut [RuleResult], frames: impl Iterator<Item = Arc<Frame>>) {
    for finding in rules.iter_mut().flat_map(|rule| &mut rule.findings) {
        finding.frames.truncate(FRAMES);
    }
    let wanted: BTreeSet<u64> =
        rules.iter().flat_map(|rule| &rule.findings).flat_map(|finding| finding.frames.iter().copied()).collect();
    let frames: HashMap<u64, (String, &str)> =
        frames.filter(|frame| wanted.contains(&frame.frame)).map(|frame| (frame.frame, text(&frame))).collect();
    for finding in rules.iter_mut().flat_map(|rule| &mut rule.findings) {
        let last = finding.frames.last();
        let shown = finding.frames.iter().filter_map(|number| {
            let (text, from) = frames.get(number)?;
            let pointer = finding.pointer.as_deref().filter(|_| Some(number) == last);
            Some(ShownFrame { frame: *number, from: (*from).to_owned(), text: excerpt::message(text, pointer) })
        });
        finding.messages = shown.collect();
        if finding.subject.is_empty() {
            finding.subject = sent(&finding.messages).unwrap_or_default();
        }
    }
}

/// What the client sent, for a finding about nothing that has a name.
fn sent(messages: &[ShownFrame]) -> Option<String> {
    let text = &messages.iter().find(|message| message.from == "client")?.text;
    let method =
        serde_json::from_str::<Value>(text).ok().and_then(|message| Some(message["method"].as_str()?.to_owned()));
    Some(method.unwrap_or_else(|| text.chars().take(SUBJECT).collect()))
}

/// A message without the `_meta` that every request of a modern client has, which would leave no room for the rest.
fn brief(message: &Value, from: Side) -> Cow<'_, Value> {
    const USUAL: [&str; 3] = ["protocolVersion", "clientCapabilities", "clientInfo"];
    let usual = |meta: &Value| {
        let members = meta.as_object().map_or(0, serde_json::Map::len);
        members == USUAL.len() && USUAL.iter().all(|name| meta.get(format!("io.modelcontextprotocol/{name}")).is_some())
    };
    if from == Side::Server || !message.pointer("/params/_meta").is_some_and(usual) {
        return Cow::Borrowed(message);
    }
    let mut brief = message.clone();
    brief["params"]["_meta"] = "…".into();
    Cow::Owned(brief)
}

/// A frame on one line, and who sent it.
fn text(frame: &Frame) -> (String, &'static str) {
    let text = match (frame.kind, &frame.message, &frame.text, &frame.http) {
        (FrameKind::Message | FrameKind::Document, Some(message), ..) => brief(message, frame.from).to_string(),
        (_, _, Some(text), _) => text.clone(),
        (.., Some(http)) => match (&http.method, &http.url, http.status) {
            (Some(method), Some(url), _) => format!("{method} {url}"),
            (.., Some(status)) => format!("HTTP {status}"),
            _ => String::new(),
        },
        _ => String::new(),
    };
    let from = match frame.from {
        Side::Client => "client",
        Side::Server => "server",
    };
    (text, from)
}
