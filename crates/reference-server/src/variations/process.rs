//! Variations of processes: how they start, what they write, when they exit.

use std::time::Duration;

use serde_json::{Value, json};

use crate::faults::{Behaviour, EVERYWHERE, Heard, STDIO};
use conform_model::revision::Revision;

/// The start of a Python server with many imports on a busy machine.
const SLOW_START: Duration = Duration::from_millis(700);
/// The response of a server that calls a model or a remote service.
const SLOW_RESPONSE: Duration = Duration::from_millis(800);
/// Python with `FastMCP` on two processors that twenty-five processes share: the start, and the first response after it.
const OVERLOADED: [Duration; 2] = [Duration::from_secs(12), Duration::from_secs(11)];
/// Enough that later responses overtake earlier ones.
const OVERTAKEN: Duration = Duration::from_millis(15);
/// Lines that a server with debug logging writes per message.
const LOG_LINES: usize = 40;

pub static PROCESS: &[Behaviour] = &[
    Behaviour {
        hear: Some(|memory, _| {
            let line = |step| format!("DEBUG 2026-01-15T12:00:00Z handling, step {step}: ünïcödé ✓\n");
            memory.stderr.extend((0..LOG_LINES).map(line));
            Heard::Message
        }),
        ..Behaviour::new("stderr-log", "each message causes forty lines on stderr", STDIO)
    },
    Behaviour {
        start: SLOW_START,
        ..Behaviour::new("slow-start", "the process needs 0.7 s before it reads anything", STDIO)
    },
    Behaviour {
        ends_at_start: Some("DATABASE_URL is not set"),
        stops: Some("DATABASE_URL is not set"),
        ..Behaviour::new("exits-at-start", "the process prints an error and exits before it reads anything", STDIO)
    },
    Behaviour {
        hear: Some(|_, _| Heard::Exit("the key of the service is missing")),
        stops: Some("the key of the service is missing"),
        ..Behaviour::new("exits-at-first-message", "the process prints an error and exits at its first message", STDIO)
    },
    Behaviour {
        hear: Some(|_, message| {
            let first = message["method"] == "initialize";
            if first { Heard::Exit("no license was found") } else { Heard::Message }
        }),
        // It responds to a ping, so it fails in its handshake.
        until: Some(Revision::NEWEST_LEGACY),
        also: &["lifecycle-initialize-answered"],
        ..Behaviour::new("exits-at-handshake", "the process prints an error and exits at `initialize`", STDIO)
    },
    Behaviour {
        // One such trial takes as long as all others together.
        since: Some(Revision::NEWEST_LEGACY),
        until: Some(Revision::NEWEST_LEGACY),
        delay: |_| SLOW_RESPONSE,
        suites: &["base.first", "base.capabilities", "resources.fields", "tools.fields", "prompts.get"],
        ..Behaviour::new("slow-responses", "each response takes 0.8 s", STDIO)
    },
    Behaviour {
        since: Some(Revision::NEWEST_LEGACY),
        until: Some(Revision::NEWEST_LEGACY),
        start: OVERLOADED[0],
        delay: |responses| if responses == 1 { OVERLOADED[1] } else { Duration::ZERO },
        suites: &["resources.fields"],
        ..Behaviour::new(
            "overloaded-machine",
            "the process needs 12 s to start, and its second response takes longer than the request timeout",
            STDIO,
        )
    },
    Behaviour {
        delay: |responses| if responses % 2 == 0 { OVERTAKEN } else { Duration::ZERO },
        ..Behaviour::new("out-of-order", "every second response is sent after the next one", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, message| {
            let odd = message["method"] == "notifications/cancelled" && message.get("params").is_none();
            if odd { Heard::Crash } else { Heard::Message }
        }),
        also: &["cancellation-invalid-survived"],
        ..Behaviour::new("exits-on-empty-cancel", "a cancellation without params ends the process", STDIO)
    },
    Behaviour {
        hear: Some(|_, message| {
            let odd = message["method"].as_str().is_some_and(|method| method.starts_with("mcp-conform/"));
            if odd { Heard::Crash } else { Heard::Message }
        }),
        also: &["jsonrpc-batch-one-response-per-request", "jsonrpc-survives-requests"],
        ..Behaviour::new("exits-on-unknown-method", "a request for an unknown method ends the process", STDIO)
    },
    Behaviour {
        hear: Some(|_, message| {
            let unknown = message["params"]["name"].as_str().is_some_and(|name| name.contains("no-such"));
            if unknown && message["method"] == "tools/call" { Heard::Crash } else { Heard::Message }
        }),
        also: &["jsonrpc-survives-requests"],
        ..Behaviour::new("exits-on-unknown-tool", "a call of an unknown tool ends the process", STDIO)
    },
    Behaviour {
        hear: Some(|_, message| {
            let name = message["params"]["name"].as_str().unwrap_or_default();
            if name == "plot" && message["method"] == "tools/call" { Heard::Crash } else { Heard::Message }
        }),
        also: &["jsonrpc-survives-requests"],
        ..Behaviour::new("exits-on-one-tool", "a call of one tool ends the process", STDIO)
    },
    Behaviour {
        outlives_stdin: Duration::from_secs(3),
        ..Behaviour::new("exits-late", "the process needs 3 s to exit after its stdin is closed", STDIO)
    },
    Behaviour {
        start: SLOW_START,
        ends_at_start: Some("no route to the database"),
        stops: Some("no route to the database"),
        ..Behaviour::new("exits-after-a-while", "the process prints an error and exits 0.7 s after its start", STDIO)
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        hear: Some(|memory, message| {
            if message["method"] == "initialize" {
                memory.unlocked = true;
            }
            let modern = message.pointer("/params/_meta").is_some_and(|meta| {
                ["protocolVersion", "clientCapabilities"]
                    .iter()
                    .any(|name| meta.get(format!("io.modelcontextprotocol/{name}")).is_some())
            });
            let known = ["initialize", "ping", "server/discover"].iter().any(|method| message["method"] == *method);
            match message.get("id").filter(|id| (id.is_string() || id.is_i64()) && message["method"].is_string()) {
                Some(id) if !modern && !memory.unlocked && !known => {
                    let error = json!({ "code": -32600, "message": "Server not initialized" });
                    Heard::Answered(json!({ "jsonrpc": "2.0", "id": id, "error": error }))
                }
                _ => Heard::Message,
            }
        }),
        ..Behaviour::new(
            "incomplete-is-legacy",
            "a request without `_meta` is treated as part of a session that is not initialized",
            STDIO,
        )
    },
    Behaviour {
        spell: Some(|message| format!("{message}\r").into_bytes()),
        ..Behaviour::new("crlf", "lines end in CR LF", STDIO)
    },
    Behaviour {
        spell: Some(escaped),
        ..Behaviour::new("ascii-json", "all characters beyond ASCII and all slashes are escaped", EVERYWHERE)
    },
    Behaviour {
        spell: Some(spaced),
        ..Behaviour::new("spaced-json", "JSON has spaces after colons and commas", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, message| {
            if let Value::Object(members) = message {
                *message = Value::Object(std::mem::take(members).into_iter().rev().collect());
            }
            true
        }),
        ..Behaviour::new("jsonrpc-last", "`jsonrpc` is the last field of each message", EVERYWHERE)
    },
];

/// The default output of `json.dumps` in Python and `json_encode` in PHP.
fn escaped(message: &Value) -> Vec<u8> {
    let mut text = String::new();
    for c in message.to_string().chars() {
        match c {
            '/' => text.push_str("\\/"),
            c if c.is_ascii() => text.push(c),
            c => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| text.push_str(&format!("\\u{unit:04x}"))),
        }
    }
    text.into_bytes()
}

fn spaced(message: &Value) -> Vec<u8> {
    let pretty = format!("{message:#}");
    pretty.lines().map(str::trim_start).map(|line| format!("{line} ")).collect::<String>().trim_end().into()
}
