//! Adds to findings the text of their frames, so that a report needs no transcript.

use std::{
    collections::{BTreeSet, HashMap, HashSet, VecDeque},
    sync::Arc,
};

use serde_json::{Value, json};

use super::{sent::Sent, timeline::about};
use conform_model::{
    evidence::{
        Ended, Evidence, Frame, FrameKind, HttpHead, Side,
        conversation::{Conversation, Said},
        input_name,
    },
    outcome::{RuleResult, Sender, ShownFrame, excerpt, masked},
    revision::Revision,
};

/// Maximum length of a message that is used as a subject.
const SUBJECT: usize = 60;

/// Number of HTTP exchanges whose heads are kept.
const EXCHANGES: usize = 1000;

/// Headers with values that every client sends.
const USUAL_HEADERS: [(&str, &str); 3] =
    [("content-type", "application/json"), ("accept", "application/json, text/event-stream"), ("accept", "*/*")];

/// Headers that say nothing about the protocol, whatever their value.
const OTHER_HEADERS: [&str; 8] = [
    "host",
    "user-agent",
    "connection",
    "content-length",
    "accept-encoding",
    "accept-language",
    "sec-fetch-mode",
    "transfer-encoding",
];

/// Headers of a response that the protocol has a meaning for.
const TELLING_HEADERS: [&str; 9] = [
    "access-control-allow-origin",
    "allow",
    "cache-control",
    "content-encoding",
    "content-type",
    "location",
    "retry-after",
    "www-authenticate",
    "x-accel-buffering",
];

/// Shows at most this many frames per finding.
pub fn show_frames(rules: &mut [RuleResult], frames: impl Iterator<Item = Arc<Frame>>, most: usize) {
    let (mut shown, mut conversation) = (Shown::of(rules, most), Conversation::default());
    if !shown.wanted.is_empty() {
        frames.for_each(|frame| shown.take(&conversation.take(&frame)));
    }
    shown.show(rules);
}

/// Who sent each of these frames where a gateway stands in between, by the connections behind it.
pub fn name_both_sides(rules: &mut [RuleResult], evidence: &Evidence) {
    let behind: Vec<u32> = evidence.links.iter().filter(|link| link.behind).map(|link| link.link).collect();
    let shown = |rule: &RuleResult| -> Vec<u64> {
        rule.findings.iter().flat_map(|finding| &finding.messages).map(|shown| shown.frame).collect()
    };
    let wanted: HashSet<u64> = rules.iter().flat_map(shown).collect();
    let links = evidence.links_of(|frame| wanted.contains(frame));
    for finding in rules.iter_mut().flat_map(|rule| &mut rule.findings) {
        let link = |shown: &ShownFrame| links.get(&shown.frame).filter(|link| !behind.contains(link)).copied();
        let clients: BTreeSet<u32> = finding.messages.iter().filter_map(link).collect();
        for shown in &mut finding.messages {
            let is_behind = links.get(&shown.frame).is_some_and(|link| behind.contains(link));
            let client = link(shown).and_then(|link| clients.iter().position(|client| *client == link));
            let number = client.filter(|_| clients.len() > 1).map(|client| client + 1);
            shown.from = match (shown.from, is_behind, number) {
                (Sender::Client, false, Some(number)) => Sender::ClientOf(number),
                (_, false, Some(number)) => Sender::ToClient(number),
                (Sender::Client, false, None) => Sender::Client,
                (Sender::Client, true, _) | (_, false, None) => Sender::Gateway,
                _ => Sender::Upstream,
            };
        }
    }
}

/// Puts the head of each HTTP request and response at its place: a finding may be about the head alone. The last
/// frame stays the last where a pointer leads into it.
fn add_heads(numbers: &mut Vec<u64>, last_is_named: bool, frames: &Frames, heads: &HashMap<u64, Vec<u64>>) {
    let Some(&last) = numbers.last() else { return };
    let posts = |side: Option<Side>| -> BTreeSet<u64> {
        let of_side = numbers.iter().filter_map(|number| frames.get(number));
        of_side.filter(|frame| side.is_none_or(|side| frame.from == side)).filter_map(|frame| frame.post).collect()
    };
    let asked = posts(Some(Side::Client));
    // A stream that was open before the request, as that of HTTP+SSE always is, says nothing about it.
    let is_older = |of: &[u64]| of.first() < numbers.first();
    let says_something = |post: &u64| {
        let of = heads.get(post)?;
        (asked.is_empty() || asked.contains(post) || !is_older(of)).then_some(of)
    };
    let all = posts(None);
    let heads = all.iter().filter_map(says_something).flatten().copied();
    let new: Vec<u64> = heads.filter(|head| !numbers.contains(head) && (*head < last || !last_is_named)).collect();
    if !new.is_empty() {
        let is_in_order = numbers.is_sorted();
        numbers.extend(new);
        // The order is only broken if the frame with the violation was moved to the end.
        if is_in_order {
            numbers.sort_unstable();
        } else {
            numbers.retain(|number| *number != last);
            numbers.sort_unstable();
            numbers.push(last);
        }
    }
}

/// The frames of findings, and those that explain them.
pub struct Shown {
    wanted: HashSet<u64>,
    /// Maximum number of frames per finding.
    most: usize,
    frames: Frames,
    /// For each frame that means little alone: what the client had sent before, and what it received for that.
    before: Numbers,
    /// The heads in the HTTP exchanges of the frames.
    heads: Numbers,
    sent: Sent,
    recent: VecDeque<Arc<Frame>>,
}

type Frames = HashMap<u64, Arc<Frame>>;
type Numbers = HashMap<u64, Vec<u64>>;

impl Shown {
    pub fn of(rules: &[RuleResult], most: usize) -> Self {
        let findings = rules.iter().flat_map(|rule| &rule.findings);
        let wanted = findings.flat_map(|finding| first_and_last(&finding.frames, most)).collect();
        let (frames, before, heads, recent) = (Frames::new(), Numbers::new(), Numbers::new(), VecDeque::new());
        Self { wanted, most, frames, before, heads, sent: Sent::default(), recent }
    }

    pub fn take(&mut self, said: &Said) {
        let Self { wanted, frames, before, heads, sent, recent, .. } = self;
        let frame = said.frame;
        if wanted.is_empty() {
            return;
        }
        if matches!(frame.kind, FrameKind::HttpRequest | FrameKind::HttpResponse) {
            // The head of a response follows its request, which may have been selected; that of a request comes first.
            if let Some(numbers) = frame.post.and_then(|post| heads.get_mut(&post)) {
                numbers.push(frame.frame);
                frames.insert(frame.frame, Arc::clone(frame));
            }
            recent.push_back(Arc::clone(frame));
            if recent.len() > 2 * EXCHANGES {
                recent.pop_front();
            }
        }
        if let Some(post) = frame.post.filter(|_| wanted.contains(&frame.frame))
            && !heads.contains_key(&post)
        {
            let of_it = recent.iter().filter(|head| head.post == Some(post));
            frames.extend(of_it.clone().map(|head| (head.frame, Arc::clone(head))));
            heads.insert(post, of_it.map(|head| head.frame).collect());
        }
        if wanted.contains(&frame.frame) {
            let shown = sent.before(said);
            if !shown.is_empty() {
                before.insert(frame.frame, shown.iter().map(|frame| frame.frame).collect());
                frames.extend(shown.into_iter().map(|frame| (frame.frame, Arc::clone(frame))));
            }
            frames.insert(frame.frame, Arc::clone(frame));
        }
        sent.note(said);
    }

    pub fn show(self, rules: &mut [RuleResult]) {
        let Self { most, frames, before, heads, .. } = self;
        for finding in rules.iter_mut().flat_map(|rule| &mut rule.findings) {
            finding.frames = first_and_last(&finding.frames, most).collect();
        }
        for finding in rules.iter_mut().flat_map(|rule| &mut rule.findings) {
            if finding.subject.is_empty() {
                let sent = finding.frames.iter().rev().find_map(|number| sent(frames.get(number)?));
                finding.subject = sent.unwrap_or_default();
            }
            let is_alone = finding.frames.len() == 1;
            // The messages without a response when the server exited.
            let exited = |last: &u64| frames.get(last).is_some_and(|frame| frame.ended == Some(Ended::Unasked));
            if most > 1
                && let Some(last) = finding.frames.last().filter(|last| is_alone || exited(last))
                && let Some(earlier) = before.get(last)
            {
                let new: Vec<u64> = earlier.iter().filter(|frame| !finding.frames.contains(frame)).copied().collect();
                finding.frames.splice(0..0, new.into_iter().take(most - 1));
            }
            if most > 1 {
                add_heads(&mut finding.frames, finding.pointer.is_some(), &frames, &heads);
            }
            if finding.subject.is_empty() {
                // Of a finding about an HTTP response, the message that it responds to.
                let own = finding.frames.last().and_then(|last| frames.get(last)?.post);
                let in_exchange = |number: &u64| {
                    frames.get(number).filter(|frame| own.is_some() && frame.post == own && frame.http.is_none())
                };
                finding.subject = finding.frames.iter().filter_map(in_exchange).find_map(sent).unwrap_or_default();
            }
            let last = finding.frames.last();
            let shown = finding.frames.iter().filter_map(|number| {
                let frame = frames.get(number)?;
                let pointer = finding.pointer.as_deref().filter(|_| Some(number) == last);
                Some(ShownFrame {
                    frame: *number,
                    from: if frame.from == Side::Client { Sender::Client } else { Sender::Server },
                    text: masked(&excerpt::message(&text(frame), pointer)).into_owned(),
                    headers: headers(frame),
                })
            });
            finding.messages = shown.collect();
        }
    }
}

/// The first of these frames, and the last one, which has the violation.
fn first_and_last(frames: &[u64], most: usize) -> impl Iterator<Item = u64> + '_ {
    let first = if frames.len() > most.max(1) { most.saturating_sub(1) } else { frames.len() };
    let last = frames.last().filter(|_| first < frames.len());
    frames[..first].iter().chain(last).copied()
}

/// What the client sent, for a finding without a named subject.
fn sent(frame: &Arc<Frame>) -> Option<String> {
    if frame.from == Side::Server {
        return None;
    }
    let request = frame.message.as_ref().and_then(|message| Some((message.get("method")?.as_str()?, about(message))));
    Some(match request {
        Some((method, Some(""))) => format!("{method} \"\""),
        Some((method, Some(about))) => format!("{method} {about}"),
        Some((method, None)) => method.to_owned(),
        None => match &frame.http {
            Some(http) => excerpt::middle(&begin(http), SUBJECT).into_owned(),
            None => input_name(&text(frame), frame.bytes),
        },
    })
}

/// A message without the usual `_meta` of a modern client, which would take all the space.
fn brief(message: &Value, from: Side) -> String {
    const USUAL: [&str; 3] = ["protocolVersion", "clientCapabilities", "clientInfo"];
    const LEFT_OUT: &str = "…";
    // A probe may declare another revision.
    let is_usual = |meta: &Value| {
        USUAL.iter().all(|name| meta.get(format!("io.modelcontextprotocol/{name}")).is_some())
            && meta["io.modelcontextprotocol/protocolVersion"] == json!(Revision::NEWEST)
    };
    if from == Side::Server || !message.pointer("/params/_meta").is_some_and(is_usual) {
        return message.to_string();
    }
    let mut brief = message.clone();
    if let Some(meta) = brief["params"]["_meta"].as_object_mut() {
        for name in USUAL {
            meta.shift_remove(&format!("io.modelcontextprotocol/{name}"));
        }
        meta.insert(LEFT_OUT.to_owned(), Value::Null);
    }
    brief.to_string().replacen(r#""…":null"#, "…", 1)
}

/// A frame on one line.
fn text(frame: &Frame) -> String {
    match (frame.kind, &frame.message, &frame.text, &frame.http) {
        (FrameKind::Message | FrameKind::Document, Some(message), ..) => brief(message, frame.from),
        (_, _, Some(text), _) => match frame.event.as_ref().and_then(|event| event.id.as_ref()) {
            Some(id) => format!("{text} and the id {id:?}"),
            None => text.clone(),
        },
        (.., Some(http)) => head(http),
        _ => String::new(),
    }
}

/// A message on one line, or a head with all its headers, each on its own line.
pub(super) fn whole(frame: &Frame) -> String {
    match &frame.http {
        Some(http) => [vec![begin(http)], headers(frame)].concat().join("\n"),
        None => text(frame),
    }
}

/// The first line of a head.
fn begin(http: &HttpHead) -> String {
    match (&http.method, &http.url, http.status) {
        (Some(method), Some(url), _) => format!("{method} {url}"),
        (.., Some(status)) => format!("HTTP {status}"),
        _ => String::new(),
    }
}

/// All headers, as far as a report has room for them.
fn headers(frame: &Frame) -> Vec<String> {
    const MOST: usize = 50;
    const LENGTH: usize = 300;
    let headers = frame.http.iter().flat_map(|http| &http.headers).take(MOST);
    headers.map(|(name, value)| masked(&excerpt::middle(&format!("{name}: {value}"), LENGTH)).into_owned()).collect()
}

/// The head of a request or a response, with the headers that say something.
fn head(http: &HttpHead) -> String {
    let mut line = begin(http);
    let says_something = |name: &str, value: &str| match http.status {
        None => {
            let name = name.to_ascii_lowercase();
            !OTHER_HEADERS.contains(&name.as_str()) && !USUAL_HEADERS.contains(&(name.as_str(), value))
        }
        Some(_) => name.starts_with("mcp-") || TELLING_HEADERS.contains(&name),
    };
    for (name, value) in http.headers.iter().filter(|(name, value)| says_something(name, value)) {
        line += &format!(" · {name}: {value}");
    }
    line
}
