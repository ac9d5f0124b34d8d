//! Puts the frames that findings name beside them, so that a report stands alone.

use std::{
    borrow::Cow,
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use serde_json::Value;

use super::timeline::about;
use crate::{
    evidence::{Frame, FrameKind, Side},
    outcome::{Finding, RuleResult, ShownFrame, excerpt},
};

/// Characters of a message that stands for its own name.
const SUBJECT: usize = 60;

/// At most so many of one finding.
pub fn show_frames(rules: &mut [RuleResult], frames: impl Iterator<Item = Arc<Frame>>, most: usize) {
    for finding in rules.iter_mut().flat_map(|rule| &mut rule.findings) {
        finding.frames.truncate(most);
    }
    let wanted: BTreeSet<u64> =
        rules.iter().flat_map(|rule| &rule.findings).flat_map(|finding| finding.frames.iter().copied()).collect();
    if wanted.is_empty() {
        return;
    }
    let (frames, before) = looked_up(&wanted, frames);
    for finding in rules.iter_mut().flat_map(|rule| &mut rule.findings) {
        if finding.subject.is_empty() {
            finding.subject = finding.frames.iter().find_map(|number| sent(frames.get(number)?)).unwrap_or_default();
        }
        // What never got an answer may have suffered from what came just before.
        if most > 1
            && let Some(earlier) = unanswered(finding, &frames).and_then(|request| before.get(&request))
        {
            finding.frames.insert(0, *earlier);
        }
        let last = finding.frames.last();
        let shown = finding.frames.iter().filter_map(|number| {
            let frame = frames.get(number)?;
            let pointer = finding.pointer.as_deref().filter(|_| Some(number) == last);
            let from = if frame.from == Side::Client { "client" } else { "server" };
            Some(ShownFrame { frame: *number, from: from.to_owned(), text: excerpt::message(&text(frame), pointer) })
        });
        finding.messages = shown.collect();
    }
}

type Frames = HashMap<u64, Arc<Frame>>;

/// The frames of these numbers, and for each of the client the one that went before it on a connection of pipes.
fn looked_up(wanted: &BTreeSet<u64>, all: impl Iterator<Item = Arc<Frame>>) -> (Frames, HashMap<u64, u64>) {
    let (mut frames, mut before) = (Frames::new(), HashMap::new());
    let mut newest: HashMap<u32, Arc<Frame>> = HashMap::new();
    for frame in all {
        let sent = frame.from == Side::Client
            && frame.post.is_none()
            && matches!(frame.kind, FrameKind::Message | FrameKind::Junk)
            && frame.by.as_deref() != Some("handshake");
        let earlier = if sent { newest.insert(frame.link, Arc::clone(&frame)) } else { None };
        if wanted.contains(&frame.frame) {
            if let Some(earlier) = earlier {
                before.insert(frame.frame, earlier.frame);
                frames.insert(earlier.frame, earlier);
            }
            frames.insert(frame.frame, frame);
        }
    }
    (frames, before)
}

/// The request of a finding to which nothing came.
fn unanswered(finding: &Finding, frames: &Frames) -> Option<u64> {
    let [request] = finding.frames.as_slice() else { return None };
    let frame = frames.get(request).filter(|frame| frame.from == Side::Client)?;
    frame.message.as_ref()?.get("id").map(|_| *request)
}

/// What the client sent, for a finding about nothing that has a name.
fn sent(frame: &Arc<Frame>) -> Option<String> {
    if frame.from == Side::Server {
        return None;
    }
    let request = frame.message.as_ref().and_then(|message| Some((message.get("method")?.as_str()?, about(message))));
    Some(match request {
        Some((method, Some(about))) => format!("{method} {about}"),
        Some((method, None)) => method.to_owned(),
        None => text(frame).chars().take(SUBJECT).collect(),
    })
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

/// A frame on one line.
fn text(frame: &Frame) -> String {
    match (frame.kind, &frame.message, &frame.text, &frame.http) {
        (FrameKind::Message | FrameKind::Document, Some(message), ..) => brief(message, frame.from).to_string(),
        (_, _, Some(text), _) => text.clone(),
        (.., Some(http)) => match (&http.method, &http.url, http.status) {
            (Some(method), Some(url), _) => format!("{method} {url}"),
            (.., Some(status)) => format!("HTTP {status}"),
            _ => String::new(),
        },
        _ => String::new(),
    }
}
