//! Faults in how sessions begin, and in how requests and subscriptions end.

use serde_json::{Value, json};

use crate::{
    faults::{
        Heard, Scene,
        behaviour::{Behaviour, EVERYWHERE, Memory, STDIO},
    },
    message::is_id,
    options::Transport,
};
use conform_model::revision::Revision;

pub static ENDINGS: &[Behaviour] = &[
    Behaviour {
        works_on: true,
        also: &["stdio-cancel-stops-work", "stdio-no-messages-after-cancel"],
        ..Behaviour::new(
            "cancel-withholds-answer",
            "a cancelled request continues, but its response is not sent",
            STDIO,
        )
    },
    Behaviour {
        hear: Some(answer),
        until: Some(Revision::NEWEST_LEGACY),
        also: &["jsonrpc-error-id-echoes-request", "jsonrpc-error-id-invented", "jsonrpc-exactly-one-response"],
        ..Behaviour::new(
            "cancel-answered",
            "the server responds to a cancellation with an error and does not stop the request",
            EVERYWHERE,
        )
    },
    Behaviour {
        hear: Some(answer),
        since: Some(Revision::V2026_07_28),
        also: &[
            "jsonrpc-error-id-echoes-request",
            "jsonrpc-error-id-invented",
            "jsonrpc-exactly-one-response",
            "resources-listen-stops-on-cancel",
            "stdio-cancel-stops-work",
            "stdio-no-messages-after-cancel",
            "subscriptions-stop-on-cancel",
        ],
        ..Behaviour::new(
            "cancel-answered-by-message",
            "the server responds to a cancellation message with an error and does not stop the request",
            &[Transport::Stdio],
        )
    },
    Behaviour {
        hear: Some(|_, message| if cancelled(message).is_some() { Heard::Crash } else { Heard::Message }),
        ..Behaviour::new("cancel-crashes", "the cancellation of an unknown request ends the process", STDIO)
    },
    Behaviour {
        hear: Some(|_, message| {
            let id = &message["params"]["requestId"];
            let malformed = message["method"] == "notifications/cancelled" && !is_id(id);
            if malformed { Heard::Crash } else { Heard::Message }
        }),
        ..Behaviour::new("malformed-cancel-crashes", "a cancellation without requestId ends the process", STDIO)
    },
    Behaviour {
        hear: Some(|_, message| {
            let unnamed = message["method"] == "resources/read" && !message["params"]["uri"].is_string();
            if unnamed { Heard::Crash } else { Heard::Message }
        }),
        also: &["resources-read-uri-required"],
        ..Behaviour::new("read-without-uri-kills", "a read without a URI ends the process", STDIO)
    },
    Behaviour {
        hear: Some(|_, message| {
            if let Some(id) = message.pointer_mut("/params/requestId")
                && let Some(number) = id.as_str().and_then(|id| id.parse::<u64>().ok())
            {
                *id = json!(number);
            }
            Heard::Message
        }),
        ..Behaviour::new("cancel-by-text", "a cancellation that names \"1\" cancels the request 1", STDIO)
    },
    Behaviour {
        hear: Some(queue),
        say: Some(unqueue),
        until: Some(Revision::NEWEST_LEGACY),
        ..Behaviour::new(
            "ping-waits-for-call",
            "the response to a ping is sent after the preceding call has ended",
            STDIO,
        )
    },
    Behaviour {
        hear: Some(remember),
        since: Some(Revision::V2026_07_28),
        also: &["jsonrpc-exactly-one-response"],
        ..Behaviour::new(
            "cancelled-ids-remembered",
            "the server never responds to an id that was cancelled once",
            EVERYWHERE,
        )
    },
    Behaviour {
        cuts_streams: true,
        since: Some(Revision::V2026_07_28),
        also: &[
            "prompts-list-changed-on-subscription",
            "resources-list-changed-on-stream",
            "resources-listen-stays-open",
            "resources-updated-on-stream",
            "tools-list-changed-on-subscription",
        ],
        ..Behaviour::new(
            "listen-stream-cut",
            "the stream of a subscription ends after its acknowledgement, without a response",
            &[Transport::Http],
        )
    },
    Behaviour {
        hear: Some(refuse_early),
        since: Some(Revision::V2025_03_26),
        until: Some(Revision::NEWEST_LEGACY),
        also: &["jsonrpc-error-id-never-null", "ping-answered"],
        ..Behaviour::new(
            "ping-refused-early",
            "the server does not respond before notifications/initialized",
            &[Transport::Http],
        )
    },
    Behaviour {
        hear: Some(refuse_early),
        // The unfinished handshake of the suite negotiates no other revision.
        since: Some(Revision::NEWEST_LEGACY),
        until: Some(Revision::NEWEST_LEGACY),
        ..Behaviour::new(
            "ping-refused-early-over-stdio",
            "over stdio the server does not respond before notifications/initialized",
            STDIO,
        )
    },
];

/// The id of the request that a message cancels.
fn cancelled(message: &Value) -> Option<&Value> {
    message.pointer("/params/requestId").filter(|_| message["method"] == "notifications/cancelled")
}

/// The first ping after a slow call takes as long as the call.
fn queue(memory: &mut Memory, message: &mut Value) -> Heard {
    if message["id"] == "mcp-conform-busy" {
        memory.unlocked = true;
    } else if message["method"] == "ping" && std::mem::take(&mut memory.unlocked) {
        message["method"] = json!("tools/call");
        message["params"] = json!({ "name": "slow", "arguments": { "steps": 3, "milliseconds": 500 } });
    }
    Heard::Message
}

fn unqueue(_: &mut Memory, scene: &Scene, message: &mut Value) -> bool {
    if let Some(result) = message.get_mut("result").filter(|_| scene.method() == Some("ping")) {
        *result = json!({});
    }
    true
}

fn answer(_: &mut Memory, message: &mut Value) -> Heard {
    match cancelled(message) {
        Some(id @ (Value::String(_) | Value::Number(_))) => {
            let error = json!({ "code": -32800, "message": "Request cancelled" });
            Heard::Answered(json!({ "jsonrpc": "2.0", "id": id, "error": error }))
        }
        _ => Heard::Message,
    }
}

fn remember(memory: &mut Memory, message: &mut Value) -> Heard {
    memory.cancelled.extend(cancelled(message).map(Value::to_string));
    let id = message.get("id").map(Value::to_string);
    if id.is_some_and(|id| memory.cancelled.contains(&id)) { Heard::Nothing } else { Heard::Message }
}

fn refuse_early(memory: &mut Memory, message: &mut Value) -> Heard {
    match message["method"].as_str() {
        Some("initialize") => memory.early = true,
        Some("notifications/initialized") => memory.early = false,
        Some("ping") if memory.early => {
            let error = json!({ "code": -32600, "message": "Not initialized" });
            return Heard::Answered(json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }));
        }
        _ => {}
    }
    Heard::Message
}
