//! Puts beside each finding what shows it without this program: lines piped into the server, or requests by curl.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use super::rerun::numbers;
use crate::{
    evidence::{Frame, FrameKind, Side, Transport},
    outcome::RunReport,
    wire::SHOWN_INSTEAD,
};

/// Longer requests are no lines that anybody copies.
const LONGEST: usize = 4000;
const SESSION: &str = "mcp-session-id";

pub fn show_how(report: &mut RunReport, frames: impl Iterator<Item = Arc<Frame>>) {
    if report.target.transport == Transport::Sse.as_str() {
        // The answer comes on a stream of its own, which no one line can hold open.
        return;
    }
    let shown = numbers(report);
    let sent = Sent::of(frames.take_while(|frame| Some(&frame.frame) <= shown.last()), &shown);
    let command = match report.target.options.strip_prefix("--reference") {
        Some(options) => format!("mcp-conform serve{}", options.split(" --proposal").next().unwrap_or_default()),
        None => report.target.name.clone(),
    };
    for finding in report.rules.iter_mut().flat_map(|rule| &mut rule.findings) {
        let asked = finding.frames.iter().find_map(|number| sent.by_number.get(number));
        let shown = asked.and_then(|frame| match frame.post {
            Some(_) => sent.with_curl(frame),
            None => sent.piped(frame, finding.frames.iter().filter_map(|number| sent.by_number.get(number)), &command),
        });
        finding.by_hand = shown.filter(|shown| shown.len() <= LONGEST);
    }
}

/// What the client sent.
#[derive(Default)]
struct Sent {
    by_number: HashMap<u64, Arc<Frame>>,
    /// The messages of each handshake, by connection.
    handshakes: HashMap<u32, BTreeMap<u64, Arc<Frame>>>,
    heads: HashMap<u64, Arc<Frame>>,
}

impl Sent {
    fn of(frames: impl Iterator<Item = Arc<Frame>>, shown: &BTreeSet<u64>) -> Self {
        let mut sent = Self::default();
        for frame in frames.filter(|frame| frame.from == Side::Client) {
            match (frame.kind, frame.post) {
                (FrameKind::HttpRequest, Some(post)) => _ = sent.heads.insert(post, frame),
                (FrameKind::Message, _) if frame.by.as_deref() == Some("handshake") => {
                    sent.handshakes.entry(frame.link).or_default().insert(frame.frame, Arc::clone(&frame));
                    sent.by_number.insert(frame.frame, frame);
                }
                (FrameKind::Message | FrameKind::Junk, _) if shown.contains(&frame.frame) => {
                    sent.by_number.insert(frame.frame, frame);
                }
                _ => {}
            }
        }
        sent
    }

    /// The handshake that this frame needs: none in a revision where each request stands alone.
    fn before(&self, frame: &Frame) -> Vec<&Arc<Frame>> {
        let opens = |frame: &&Arc<Frame>| {
            method(frame) == Some("initialize") || method(frame) == Some("notifications/initialized")
        };
        let handshake = self.handshakes.get(&frame.link).into_iter().flatten().map(|(_, frame)| frame);
        handshake.filter(opens).filter(|known| known.frame < frame.frame).collect()
    }

    /// All that was sent on the connection of the first frame: a second message may show what the first one left behind.
    fn piped<'a>(&self, first: &Frame, all: impl Iterator<Item = &'a Arc<Frame>>, command: &str) -> Option<String> {
        let asked = all.filter(|frame| frame.link == first.link).map(|frame| body(frame));
        let lines = self.before(first).into_iter().map(|known| body(known)).chain(asked);
        let lines: Vec<String> = lines.map(|line| quoted(&line?)).collect::<Option<_>>()?;
        // A server may end with its input, so that stays open for an answer.
        Some(format!("(printf '%s\\n' {}; sleep 1) | {command}", lines.join(" ")))
    }

    fn with_curl(&self, frame: &Frame) -> Option<String> {
        let request = self.curl(frame)?;
        let handshake = self.before(frame);
        if !self.header(frame, SESSION) || handshake.is_empty() {
            return Some(request);
        }
        let mut lines = Vec::new();
        for known in handshake {
            let line = self.curl(known)?;
            lines.push(match method(known) {
                Some("initialize") => {
                    let id = "tr -d '\\r' | sed -n 's/^mcp-session-id: //Ip'";
                    format!("SESSION=$({} | {id})", line.replacen("curl -i", "curl -si", 1))
                }
                _ => line,
            });
        }
        lines.push(request);
        Some(lines.join("\n"))
    }

    fn curl(&self, frame: &Frame) -> Option<String> {
        let http = self.heads.get(&frame.post?)?.http.as_ref()?;
        let mut line = format!("curl -i {}", quoted(http.url.as_deref()?)?);
        for (name, value) in http.headers.iter().filter(|(name, _)| !matches!(name.as_str(), "host" | "content-length"))
        {
            line += " -H ";
            // What was entrusted to the run has to come from where it came from.
            line += &match (name.as_str(), value.as_str()) {
                (SESSION, _) => format!("\"{name}: $SESSION\""),
                (_, SHOWN_INSTEAD) => format!("\"{name}: ${}\"", name.to_uppercase().replace('-', "_")),
                _ => quoted(&format!("{name}: {value}"))?,
            };
        }
        Some(format!("{line} -d {}", quoted(&body(frame)?)?))
    }

    fn header(&self, frame: &Frame, name: &str) -> bool {
        let head = frame.post.and_then(|post| self.heads.get(&post)).and_then(|head| head.http.as_ref());
        head.is_some_and(|head| head.headers.iter().any(|(known, _)| known == name))
    }
}

fn method(frame: &Frame) -> Option<&str> {
    frame.message.as_ref()?.get("method")?.as_str()
}

fn body(frame: &Frame) -> Option<String> {
    frame.message.as_ref().map(ToString::to_string).or_else(|| frame.text.clone())
}

fn quoted(text: &str) -> Option<String> {
    shlex::try_quote(text).ok().map(std::borrow::Cow::into_owned)
}
