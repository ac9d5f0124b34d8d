//! The JSON lines that mcp-trace-validator reads: one event a line, in the order of `seq`.
//!
//! Over HTTP the format does not show which message belongs to which exchange, so the transcript has no exchanges.

use serde::Deserialize;
use serde_json::Value;

use super::{Written, now};
use crate::{
    evidence::{Side, Tested, Transport},
    tap::{LineTap, Tap},
    wire::Secrets,
};

#[derive(Deserialize)]
struct Event {
    seq: u64,
    direction: Direction,
    transport: Over,
    #[serde(flatten)]
    body: Body,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Direction {
    ClientToServer,
    ServerToClient,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum Over {
    Stdio,
    StreamableHttp,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum Body {
    Message { payload: Value },
    Http {},
    Lifecycle { event: String },
}

/// Whether a line is such an event.
pub fn is_event(line: &str) -> bool {
    serde_json::from_str::<Event>(line).is_ok()
}

pub fn converted(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut events = events(bytes)?;
    // Lines may be in another order than their events.
    events.sort_by_key(|event| event.seq);
    let Some(over) = events.first().map(|event| event.transport) else { return Err("it has no events".to_owned()) };
    if events.iter().any(|event| event.transport != over) {
        return Err("as a trace: it has events of two transports, expected one session".to_owned());
    }
    let transport = if over == Over::Stdio { Transport::Stdio } else { Transport::Http };
    let name = "a trace".to_owned();
    let target = Tested { name, transport: transport.to_string(), ..Tested::default() };
    let written = Written::begin(target, now())?;
    let link = written.recorder.open_link(transport);
    let tap = Tap::new(written.recorder.clone(), link).hiding_credentials(Secrets::default());
    let [mut client, mut server] = [Side::Client, Side::Server].map(|side| LineTap::new(tap.clone(), side));
    for Event { direction, body, .. } in events {
        let (side, lines) = match direction {
            Direction::ClientToServer => (Side::Client, &mut client),
            Direction::ServerToClient => (Side::Server, &mut server),
        };
        match body {
            Body::Message { payload } => lines.feed(format!("{payload}\n").as_bytes()),
            Body::Lifecycle { event } => tap.note(side, event),
            Body::Http {} => {}
        }
    }
    let mut notes = vec!["read from a trace for mcp-trace-validator".to_owned()];
    if over == Over::StreamableHttp {
        notes.push("HTTP exchanges were not judged: the trace does not show which messages belong to which".to_owned());
    }
    written.close(0, notes)
}

/// The last line may be cut off.
fn events(bytes: &[u8]) -> Result<Vec<Event>, String> {
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    let mut events = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice(line) {
            Ok(event) => events.push(event),
            Err(why) if why.is_eof() && at + 1 == lines.len() => {}
            Err(why) => return Err(format!("as a trace: line {}: {why}", at + 1)),
        }
    }
    Ok(events)
}
