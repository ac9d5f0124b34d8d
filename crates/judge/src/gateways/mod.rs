//! The items for rules about gateways: each message that one end sent, with its copy at the other end, and the HTTP
//! requests that the gateway sent to its upstream.
//!
//! Both ends are recorded, so messages are matched by content. A gateway may have its own ids, progress tokens,
//! cursors, sessions and handshake on each side, as long as they are consistent: such differences do not count.

mod differences;
mod ends;
mod handshakes;
mod isolation;
mod lists;
mod matching;
mod messages;
mod opaque;
mod open;
mod passed;
mod resumed;
mod skills;
#[cfg(test)]
mod tests;
mod told;

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use self::{ends::Ends, matching::Matching, messages::Message, resumed::Resumed};
use conform_model::{
    evidence::{Frame, FrameKind, Link, Side},
    revision::Revision,
};
use conform_suite::push_token;

/// The credentials of the client in front, which an upstream must never receive.
pub const CREDENTIAL: &str = "mcp-conform-credential-of-the-front";
/// Messages beyond this number are not matched.
const MOST: usize = 5_000;

/// Everything that passed a gateway in all scenarios.
#[derive(Default)]
pub struct Gateways {
    messages: Vec<Message>,
    /// The session of each HTTP exchange with the upstream, by header or address.
    sessions: HashMap<u64, String>,
    /// The sessions of clients in front.
    front: HashSet<String>,
    /// Connections of the client on which the gateway can send something at any time.
    channels: HashSet<u32>,
    streams: HashSet<u64>,
    ends: Ends,
    resumed: Resumed,
    /// The revision that the upstream agreed to, of each HTTP exchange with a handshake.
    agreed: HashMap<u64, String>,
    /// The capabilities in each handshake with the upstream.
    declared: HashMap<u64, Value>,
    upstream: Vec<(u64, Value)>,
}

impl Gateways {
    pub fn take(&mut self, frame: &Frame, link: &Link) {
        if !link.transport.capabilities().stream_per_request {
            self.channels.insert(link.link);
        }
        self.ends.take(frame, link);
        self.resumed.take(frame, link);
        match (frame.kind, &frame.http, frame.post) {
            (FrameKind::HttpRequest, Some(head), Some(post)) => {
                let headers = head.by_name();
                if head.method.as_deref() == Some("GET") {
                    self.streams.insert(post);
                }
                let url = head.url.as_deref().unwrap_or_default();
                let by_address = if link.transport.capabilities().endpoint { target(url) } else { "" };
                let session = headers.get("mcp-session-id").map_or(by_address, String::as_str);
                if link.behind {
                    self.sessions.insert(post, session.to_owned());
                    let leaks: Vec<&String> =
                        headers.iter().filter(|(_, value)| value.contains(CREDENTIAL)).map(|(name, _)| name).collect();
                    let path = url.split('?').next();
                    let last = headers.get("last-event-id");
                    let pause = last.and_then(|id| self.resumed.pause(link.link, id, frame.at));
                    let last_event = last.map(|id| self.resumed.resume(link.link, id, post));
                    let item = json!({
                        "http": { "method": head.method, "path": path, "headers": headers },
                        "leaks": leaks,
                        "carries": null,
                        "session": null,
                        "retry_ms": pause.as_ref().and_then(|pause| pause.retry),
                        "since_stream_ms": pause.as_ref().map(|pause| pause.since_end),
                        "last_event": last_event,
                        "link": link.link,
                        "scenario": link.scenario,
                        "origin": { "frame": frame.frame, "pointer": "" },
                    });
                    self.upstream.push((post, item));
                } else {
                    self.front.insert(session.to_owned());
                }
            }
            (FrameKind::HttpResponse, Some(head), Some(post)) => {
                if head.status == Some(404) && link.behind {
                    self.ends.reject_session(post);
                }
                if head.status == Some(200) && self.streams.contains(&post) {
                    self.channels.insert(link.link);
                }
                if let Some(session) = head.by_name().get("mcp-session-id").filter(|_| link.behind) {
                    self.sessions.insert(post, session.clone());
                    if let Some((_, item)) = self.upstream.iter_mut().rfind(|(of, _)| *of == post) {
                        item["session"] = json!(session);
                    }
                }
            }
            (FrameKind::Note, _, Some(post)) if link.behind => {
                if let Some(endpoint) = frame.event.as_ref().and_then(|event| event.endpoint.as_deref()) {
                    self.sessions.insert(post, target(endpoint).to_owned());
                }
            }
            (FrameKind::Message, ..) => self.messages(frame, link),
            _ => {}
        }
    }

    fn messages(&mut self, frame: &Frame, link: &Link) {
        let (one, many) = match &frame.message {
            Some(Value::Array(batch)) => (None, batch.as_slice()),
            other => (other.as_ref(), [].as_slice()),
        };
        if let (Some(message), Some(post), Side::Client) = (one, frame.post, frame.from)
            && let Some((_, item)) = self.upstream.iter_mut().rfind(|(of, _)| *of == post)
        {
            item["carries"] = message.get("method").cloned().unwrap_or_else(|| json!("response"));
            if item["carries"] == "initialize" {
                self.declared.insert(post, message["params"]["capabilities"].clone());
            }
        }
        if let (Some(message), Some(post), Side::Server, true) = (one, frame.post, frame.from, link.behind)
            && let Some(version) = message.pointer("/result/protocolVersion").and_then(Value::as_str)
        {
            self.agreed.insert(post, version.to_owned());
        }
        let batch = many.iter().enumerate().map(|(index, message)| {
            let mut pointer = String::new();
            push_token(&mut pointer, &index.to_string());
            (pointer, message)
        });
        for (pointer, message) in one.into_iter().map(|message| (String::new(), message)).chain(batch) {
            if self.messages.len() < MOST {
                self.messages.push(Message::new(frame, link, pointer, message.clone()));
            }
        }
    }

    /// All items under their streamed names.
    pub fn rest(self) -> Vec<(&'static str, Value)> {
        let Self { mut messages, sessions, front, channels, streams: _, ends, resumed: _, agreed, declared, upstream } =
            self;
        // The session of a handshake shows in the response to it.
        for message in messages.iter_mut().filter(|message| message.behind) {
            let Some(post) = message.post else { continue };
            match sessions.get(&post).filter(|session| !session.is_empty()) {
                Some(session) => message.session.clone_from(session),
                // Without sessions the client of a request is unknown, so each request is its own conversation.
                None if message.revision.is_some_and(Revision::is_modern) => {
                    message.session = format!("exchange {post}");
                }
                None => {}
            }
        }
        let mut scenarios: Vec<Option<String>> = messages.iter().map(|message| message.scenario.clone()).collect();
        scenarios.sort();
        scenarios.dedup();
        let mut items = Vec::new();
        for scenario in scenarios {
            let own = messages.iter().filter(|message| message.scenario == scenario).collect();
            let matching = Matching::new(own, &channels, &ends);
            items.extend(passed::items(&matching).iter().map(|item| ("passed", json!(item))));
        }
        let ended: HashSet<String> = upstream
            .iter()
            .filter(|(_, item)| item["http"]["method"] == "DELETE")
            .filter_map(|(_, item)| Some(item["http"]["headers"]["mcp-session-id"].as_str()?.to_owned()))
            .collect();
        // Without a session, an HTTP proxy is recognized by messages that it does not change.
        let same = |post: u64| {
            let mut behind = messages.iter().filter(|message| message.behind && message.post == Some(post));
            behind.next().is_some_and(|sent| {
                // A client over stdio has no HTTP request that could be passed on.
                let is_same = |other: &Message| !other.behind && other.post.is_some() && other.message == sent.message;
                messages.iter().any(|other| is_same(other) && other.scenario == sent.scenario)
            })
        };
        let versions: HashMap<&str, &str> = agreed
            .iter()
            .filter_map(|(post, version)| Some((sessions.get(post)?.as_str(), version.as_str())))
            .collect();
        let begun = handshakes::handshakes(&upstream, &declared, &agreed, &ends);
        let handshakes: Vec<(u64, u64)> = upstream
            .iter()
            .filter(|(_, item)| item["carries"] == "initialize")
            .map(|(post, item)| (item["link"].as_u64().unwrap_or_default(), *post))
            .collect();
        // The connections on which every handshake so far began a session.
        let mut with_sessions: HashMap<u64, bool> = HashMap::new();
        items.extend(upstream.into_iter().map(|(post, mut item)| {
            let link = item["link"].as_u64().unwrap_or_default();
            if item["carries"] == "initialize" && agreed.contains_key(&post) {
                let all = with_sessions.entry(link).or_insert(true);
                *all &= item["session"].is_string();
            }
            let sent = item["http"]["headers"].get("mcp-session-id").and_then(Value::as_str);
            // A client may open a stream before the handshake, but then it does not know the revision.
            let is_opened =
                item["http"]["method"] != "POST" && item["http"]["headers"].get("mcp-protocol-version").is_some();
            let needs_session = is_opened
                || item["carries"].is_string()
                    && !matches!(item["carries"].as_str(), Some("initialize" | "server/discover" | "ping"));
            let session_missing = sent.is_none() && needs_session && with_sessions.get(&link) == Some(&true);
            let version = sent.and_then(|session| versions.get(session).copied()).map(str::to_owned);
            let rejected = sent.is_some() && item["carries"].is_string() && ends.has_rejected_session(post);
            item["session_missing"] = json!(session_missing);
            item["rejected_session"] = json!(rejected && !ends.has_exited(item["scenario"].as_str()));
            item["restarted"] = json!(handshakes.iter().any(|(of, at)| *of == link && *at > post));
            item["version"] = json!(version);
            if let Some(begun) = begun.get(&post) {
                item["initialized"] = json!(begun.initialized);
                item["lost_capabilities"] = json!(begun.lost);
                item["other_revision"] = json!(begun.other_revision);
            }
            let session = sessions.get(&post).filter(|session| !session.is_empty());
            item["forwarded"] = json!(session.map_or_else(|| same(post), |session| front.contains(session)));
            item["session_ended"] = json!(item["session"].as_str().is_some_and(|session| ended.contains(session)));
            ("upstream", item)
        }));
        items
    }
}

/// The path and query of a URL; a path stays as it is.
fn target(url: &str) -> &str {
    let start = url.find("://").and_then(|at| Some(at + 3 + url[at + 3..].find('/')?));
    &url[start.unwrap_or_default()..]
}
