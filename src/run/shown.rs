//! Puts the frames that findings name beside them, so that a report stands alone.

use std::{
    borrow::Cow,
    collections::{BTreeSet, HashMap, VecDeque},
    sync::Arc,
};

use serde_json::Value;

use super::timeline::about;
use crate::{
    evidence::{Frame, FrameKind, Side},
    outcome::{RuleResult, ShownFrame, excerpt, masked},
};

/// Characters of a message that stands for its own name.
const SUBJECT: usize = 60;

/// Frames of the client that are remembered, should something be found in what came next.
const REMEMBERED: usize = 100;

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
        if most > 1
            && let [alone] = finding.frames.as_slice()
            && let Some(earlier) = before.get(alone)
        {
            finding.frames.insert(0, *earlier);
        }
        let last = finding.frames.last();
        let shown = finding.frames.iter().filter_map(|number| {
            let frame = frames.get(number)?;
            let pointer = finding.pointer.as_deref().filter(|_| Some(number) == last);
            let from = if frame.from == Side::Client { "client" } else { "server" };
            Some(ShownFrame {
                frame: *number,
                from: from.to_owned(),
                text: masked(&excerpt::message(&text(frame), pointer)).into_owned(),
            })
        });
        finding.messages = shown.collect();
    }
}

type Frames = HashMap<u64, Arc<Frame>>;

/// The frames of these numbers, and for each that says little by itself what the client had sent before.
fn looked_up(wanted: &BTreeSet<u64>, all: impl Iterator<Item = Arc<Frame>>) -> (Frames, HashMap<u64, u64>) {
    let (mut frames, mut before) = (Frames::new(), HashMap::new());
    let mut sent = Sent::default();
    for frame in all {
        if wanted.contains(&frame.frame) {
            if let Some(earlier) = sent.before(&frame) {
                before.insert(frame.frame, earlier.frame);
                frames.insert(earlier.frame, Arc::clone(earlier));
            }
            frames.insert(frame.frame, Arc::clone(&frame));
        }
        sent.note(frame);
    }
    (frames, before)
}

/// What the client has sent of late, and whether it was answered.
#[derive(Default)]
struct Sent(VecDeque<(Arc<Frame>, bool)>);

impl Sent {
    fn before(&self, frame: &Frame) -> Option<&Arc<Frame>> {
        let is_response = frame.message.as_ref().is_some_and(|message| message.get("method").is_none());
        match (frame.from, frame.post, id(frame)) {
            (Side::Server, Some(post), _) => self.newest(|earlier| earlier.post == Some(post)),
            // What never got an answer may have suffered from what came just before, if that got none either.
            (Side::Client, None, Some(_)) => self
                .newest(|earlier| is_beside(earlier, frame))
                .filter(|earlier| !self.0.iter().any(|(known, answered)| *answered && known.frame == earlier.frame)),
            (Side::Server, None, id) if is_response => self
                .newest(|earlier| earlier.link == frame.link && id.is_some() && self::id(earlier) == id)
                .or_else(|| {
                    self.newest(|earlier| is_beside(earlier, frame) && self::id(earlier).is_none_or(Value::is_null))
                })
                .or_else(|| self.newest(|earlier| is_beside(earlier, frame))),
            _ => None,
        }
    }

    fn newest(&self, fits: impl Fn(&Frame) -> bool) -> Option<&Arc<Frame>> {
        self.0.iter().rev().map(|(earlier, _)| earlier).find(|earlier| fits(earlier))
    }

    fn note(&mut self, frame: Arc<Frame>) {
        let id = id(&frame);
        if frame.from == Side::Server {
            let of = self.0.iter_mut().rev().find(|(earlier, _)| earlier.link == frame.link && self::id(earlier) == id);
            if let (Some((_, answered)), Some(_)) = (of, id) {
                *answered = true;
            }
        } else if matches!(frame.kind, FrameKind::Message | FrameKind::Junk | FrameKind::HttpRequest) {
            self.0.push_back((frame, false));
            if self.0.len() > REMEMBERED {
                self.0.pop_front();
            }
        }
    }
}

/// Whether a frame is the client's own on the same pipe.
fn is_beside(earlier: &Frame, frame: &Frame) -> bool {
    earlier.link == frame.link && earlier.post.is_none() && earlier.by.as_deref() != Some("handshake")
}

fn id(frame: &Frame) -> Option<&Value> {
    frame.message.as_ref()?.get("id")
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
