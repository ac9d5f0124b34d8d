//! A recorded conversation between a client and a server: derives from its frames what a run would know besides them.

mod lists;

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use indexmap::IndexMap;
use serde_json::{Value, json};

use super::{
    Evidence, Frame, FrameKind, Frames, Kind, Message, RunContext, Side, Transport, conversation::Conversation,
};
use crate::revision::Revision;

/// The sender of responses to server requests, as named in a run.
const ANSWER: &str = "answer";
/// What a run reads and lists first.
const SURVEY: &str = "survey";

/// Makes it judgeable: adds one context for each revision and side. Connections with an unknown revision are skipped,
/// with a note.
pub fn complete(evidence: &mut Evidence) {
    let mut frames: Vec<Arc<Frame>> = evidence.frames().collect();
    frames.iter_mut().for_each(name_sender);
    name_reads(&mut frames);
    let left_out = leave_out(evidence, &frames);
    evidence.header.notes.extend(left_out);
    let mut settled: Vec<(Revision, Transport)> =
        evidence.links.iter().filter_map(|link| Some((link.revision?, link.transport))).collect();
    settled.sort_by_key(|(revision, _)| *revision);
    settled.dedup();
    let (failed, accepted) = (heard(&frames, |message| message.get("error").is_some()), heard(&frames, is_result));
    for (revision, transport) in settled {
        let links = evidence.links.iter().filter(|link| link.revision == Some(revision));
        let links: HashSet<u32> = links.map(|link| link.link).collect();
        let (server, client) = declared(frames.iter().filter(|frame| links.contains(&frame.link)), revision);
        // It may not support what the client requested.
        let rejected = links.iter().all(|link| failed.contains(link) && !accepted.contains(link));
        if rejected {
            evidence.header.notes.push(format!("the server was not judged in {revision}: it returned errors only"));
        }
        for subject in [Side::Server, Side::Client] {
            if rejected && subject == Side::Server {
                continue;
            }
            let mut context = context(revision, subject, transport, &server, &client);
            if subject == Side::Server {
                let survey = lists::survey(frames.iter().filter(|frame| links.contains(&frame.link)));
                context.saves.insert(SURVEY.to_owned(), survey);
            }
            evidence.contexts.push(context);
        }
    }
    evidence.frames = Frames::Read(end_everywhere(frames));
}

/// Marks responses of the client, as a run does.
fn name_sender(frame: &mut Arc<Frame>) {
    let responds = |message: &Value| message.get("id").is_some() && Message::of(message).is_response();
    if frame.from == Side::Client && frame.message.as_ref().is_some_and(responds) {
        Arc::make_mut(frame).by = Some(ANSWER.to_owned());
    }
}

/// Marks reads of listed resources, as a run does: rules on content ignore reads of anything else.
fn name_reads(frames: &mut [Arc<Frame>]) {
    let listed = lists::survey(frames.iter());
    let items = listed["resources"]["items"].as_array().into_iter().flatten();
    let uris: HashSet<&str> = items.filter_map(|item| item["uri"].as_str()).collect();
    for frame in frames.iter_mut().filter(|frame| frame.from == Side::Client) {
        let reads = |message: &Value| {
            message["method"] == "resources/read"
                && message["params"]["uri"].as_str().is_some_and(|uri| uris.contains(uri))
        };
        if frame.message.as_ref().is_some_and(reads) {
            Arc::make_mut(frame).by = Some(SURVEY.to_owned());
        }
    }
}

/// The connections on which the server sent such a message.
fn heard(frames: &[Arc<Frame>], such: impl Fn(&Value) -> bool) -> HashSet<u32> {
    let of_server = frames.iter().filter(|frame| frame.kind == FrameKind::Message && frame.from == Side::Server);
    of_server.filter(|frame| frame.message.as_ref().is_some_and(&such)).map(|frame| frame.link).collect()
}

fn is_result(message: &Value) -> bool {
    message.get("result").is_some()
}

/// Takes the revision from connections that cannot be judged; the value says why, one line for each reason.
fn leave_out(evidence: &mut Evidence, frames: &[Arc<Frame>]) -> Vec<String> {
    let spoke: HashSet<u32> =
        frames.iter().filter(|frame| frame.kind == FrameKind::Message).map(|frame| frame.link).collect();
    let (responded, accepted) = (heard(frames, |_| true), heard(frames, is_result));
    let mut reasons: IndexMap<&str, usize> = IndexMap::new();
    let mut transports: HashMap<Revision, Transport> = HashMap::new();
    for link in &mut evidence.links {
        let reason = match link.revision {
            _ if link.late => Some("the recording began after the conversation, or missed a part of it"),
            None if spoke.contains(&link.link) => Some("no message names a known revision"),
            // Without a handshake, only a result shows that the server supports the client's revision.
            Some(revision) if revision.is_modern() && !accepted.contains(&link.link) => {
                Some("the server returned no result in the revision of the client")
            }
            Some(_) if !responded.contains(&link.link) && !link.transport.capabilities().process => {
                Some("the server sent no message")
            }
            Some(revision) if *transports.entry(revision).or_insert(link.transport) != link.transport => {
                Some("another connection of the same revision uses another transport")
            }
            _ => None,
        };
        if let Some(reason) = reason {
            *reasons.entry(reason).or_default() += 1;
            link.revision = None;
        }
    }
    let line = |(reason, count): (&str, usize)| match count {
        1 => format!("one connection was not judged: {reason}"),
        count => format!("{count} connections were not judged: {reason}"),
    };
    reasons.into_iter().map(line).collect()
}

/// What the sides declared on these connections: `$server` and `$client`. Unknown if connections differ.
fn declared<'f>(frames: impl Iterator<Item = &'f Arc<Frame>>, revision: Revision) -> (Value, Value) {
    let method = if revision.is_modern() { "server/discover" } else { "initialize" };
    let (mut conversation, mut declaring) = (Conversation::default(), HashSet::new());
    let (mut server, mut client): (Vec<Value>, Vec<Value>) = (Vec::new(), Vec::new());
    let (mut hello, mut info) = (Value::Null, Value::Null);
    let note = |all: &mut Vec<Value>, value: &Value| {
        if !all.contains(value) {
            all.push(value.clone());
        }
    };
    for frame in frames {
        let said = conversation.take(frame);
        let Some(message) = said.messages.first().map(|first| first.message).filter(|_| !said.is_batch()) else {
            continue;
        };
        match frame.from {
            Side::Client => {
                if info.is_null() {
                    let places = ["/params/clientInfo", "/params/_meta/io.modelcontextprotocol~1clientInfo"];
                    let stated = places.iter().find_map(|place| message.whole.pointer(place));
                    info = stated.cloned().unwrap_or_default();
                }
                let place = match message.method {
                    "initialize" => Some("/params/capabilities"),
                    method if revision.is_modern() && !method.is_empty() => {
                        Some("/params/_meta/io.modelcontextprotocol~1clientCapabilities")
                    }
                    _ => None,
                };
                if let Some(capabilities) = place.and_then(|place| message.whole.pointer(place)) {
                    note(&mut client, capabilities);
                }
                if message.kind == Kind::Request && message.method == method {
                    declaring.insert(frame.frame);
                }
            }
            Side::Server if message.kind == Kind::Result => {
                let request = said.request().filter(|asked| declaring.remove(&asked.place.frame));
                let Some(request) = request.map(|asked| asked.place.frame) else { continue };
                let result = message.result();
                note(&mut server, &result["capabilities"]);
                if hello.is_null() {
                    hello = json!({ "end": "result", "result": result, "frames": [request, frame.frame] });
                }
            }
            // Such a recording has no other party.
            _ => {}
        }
    }
    let only = |all: &[Value]| if let [one] = all { one.clone() } else { Value::Null };
    let result = &hello["result"];
    let of_server = match &result["serverInfo"] {
        Value::Null => &result["_meta"]["io.modelcontextprotocol/serverInfo"],
        info => info,
    };
    let known = json!({
        "capabilities": only(&server),
        "info": of_server,
        "instructions": result["instructions"],
        "recorded": true,
        "hello": if hello.is_null() { json!({}) } else { hello.clone() },
    });
    (known, json!({ "capabilities": only(&client), "info": info }))
}

fn context(revision: Revision, subject: Side, transport: Transport, server: &Value, client: &Value) -> RunContext {
    RunContext {
        server: server.clone(),
        client: client.clone(),
        facts: json!({}),
        ..RunContext::new(revision, subject, transport)
    }
}

/// Ends every connection: a request without a response at the end of the recording may have got one later.
fn end_everywhere(mut frames: Vec<Arc<Frame>>) -> Vec<Arc<Frame>> {
    let mut last: IndexMap<u32, Arc<Frame>> = IndexMap::new();
    for frame in &frames {
        last.insert(frame.link, Arc::clone(frame));
    }
    let next = frames.last().map_or(0, |frame| frame.frame) + 1;
    for (number, (link, frame)) in (next..).zip(last) {
        let text = Some("the recording ends here".to_owned());
        let cut = Frame { frame: number, at: frame.at, text, ..Frame::blank(link, Side::Client, FrameKind::CutShort) };
        frames.push(Arc::new(cut));
    }
    frames
}
