//! Faults of JSON-RPC: how messages are read, handled, batched and written.

use serde_json::{Value, json};

use super::{Batch, Behaviour, EVERYWHERE, Heard, Memory, Reading, STDIO, Scene};
use conform_model::revision::Revision;

/// Deeper than a recursive parser supports in some languages.
const DEEP: usize = 1000;

/// What fails as well if a cancellation gets a response.
const WITH_CANCELLATIONS: &[&str] = &[
    "cancellation-no-response",
    "cancellation-stops-processing",
    "resources-listen-stops-on-cancel",
    "stdio-cancel-stops-work",
    "stdio-no-messages-after-cancel",
    "subscriptions-stop-on-cancel",
];

pub static MESSAGES: &[Behaviour] = &[
    Behaviour {
        noise: Some(|_, _| Heard::Crash),
        ..Behaviour::new("exits-on-bad-json", "a line that is not JSON ends the process", STDIO)
    },
    Behaviour {
        noise: Some(|memory, _| {
            memory.deaf = true;
            Heard::Nothing
        }),
        hear: Some(|memory, _| if memory.deaf { Heard::Nothing } else { Heard::Message }),
        // Rules about messages that are sent after the server has hung for the second time.
        also: &[
            "stdio-understands-utf8",
            "stdio-decodes-whole-lines",
            "jsonrpc-parse-error-code",
            "jsonrpc-parse-error-answered",
            "jsonrpc-invalid-request-code",
        ],
        ..Behaviour::new("hangs-after-bad-json", "after a line that is not JSON the server never responds again", STDIO)
    },
    Behaviour {
        noise: Some(|_, bytes| if bytes.starts_with(&[b'['; DEEP]) { Heard::Crash } else { Heard::Message }),
        ..Behaviour::new("exits-on-deep-nesting", "arrays nested too deeply for the parser end the process", STDIO)
    },
    Behaviour {
        hear: Some(|_, message| if message.is_null() { Heard::Crash } else { Heard::Message }),
        ..Behaviour::new("exits-on-null", "a line with `null` ends the process", STDIO)
    },
    Behaviour {
        hear: Some(|_, message| {
            let odd = message.get("id").is_some_and(|id| id.is_object() || id.is_array());
            if odd { Heard::Crash } else { Heard::Message }
        }),
        ..Behaviour::new("exits-on-id-of-object", "an id that is an object or an array ends the process", STDIO)
    },
    Behaviour {
        // Without `ping`, the request after the line gets an error anyway.
        noise: Some(|_, _| Heard::Crash),
        hear: Some(|_, message| if message["method"] == "ping" { unknown_method(message) } else { Heard::Message }),
        until: Some(Revision::NEWEST_LEGACY),
        also: &["ping-answered"],
        ..Behaviour::new(
            "exits-on-bad-json-without-ping",
            "a line that is not JSON ends the process, and ping is an unknown method",
            STDIO,
        )
    },
    Behaviour {
        until: Some(Revision::NEWEST_LEGACY),
        hear: Some(|_, message| {
            let unfit =
                message.get("params").is_some_and(|params| params.is_null() && message["method"] == "tools/list");
            if unfit { Heard::Crash } else { Heard::Message }
        }),
        ..Behaviour::new("exits-on-params-null", "params that are null end the process", STDIO)
    },
    Behaviour {
        hear: Some(|_, message| answer_notification(message, "error")),
        also: WITH_CANCELLATIONS,
        ..Behaviour::new("notification-answered", "the server responds to notifications as to requests", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, message| answer_notification(message, "result")),
        also: WITH_CANCELLATIONS,
        ..Behaviour::new("notification-answered-well", "the server responds to notifications with a result", STDIO)
    },
    Behaviour {
        hear: Some(|_, message| {
            let unknown = message["method"].as_str().is_some_and(|method| method.contains("mcp-conform"));
            if !unknown || message.get("id").is_some() {
                return Heard::Message;
            }
            let error = json!({ "code": -32601, "message": "Method not found" });
            Heard::Answered(json!({ "jsonrpc": "2.0", "error": error }))
        }),
        ..Behaviour::new(
            "notification-answered-without-id",
            "the server responds to unknown notifications with an error without an id",
            EVERYWHERE,
        )
    },
    Behaviour {
        hear: Some(|memory, message| {
            let in_batch = memory.unlocked;
            memory.unlocked = message["id"] == "mcp-conform-ping";
            if in_batch { answer_notification(message, "error") } else { Heard::Message }
        }),
        also: &["jsonrpc-no-response-to-notification"],
        ..batch("batch-notification-answered", "the server responds to a notification after a request in a batch")
    },
    Behaviour {
        say: Some(|_, _, message| {
            if let Some(id) = message.get_mut("id").filter(|id| id.is_number()) {
                *id = Value::String(id.to_string());
            }
            true
        }),
        also: &["jsonrpc-error-id-echoes-request"],
        ..Behaviour::new("id-as-string", "ids are returned as strings, whatever their type was", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, message| if message.get("id") == Some(&json!(0)) { Heard::Nothing } else { Heard::Message }),
        ..Behaviour::new("id-zero-dropped", "a request with the id 0 is treated as a notification", EVERYWHERE)
    },
    Behaviour {
        say: Some(cross_wire),
        also: &[
            "lifecycle-extension-fallback",
            "pagination-cursor-advances",
            "pagination-cursor-not-connection-bound",
            "pagination-resources-list",
            "pagination-templates-list",
            "prompts-name-unique",
            "roots-boundaries-respected",
            "sep2093-list-scope-not-remembered",
            "sep2093-list-uri-children-complete",
            "sep2093-list-uri-direct-children-only",
            "sep2093-metadata-child-uri-echoed",
            "sep2093-metadata-uri-echoed",
            "sep2093-mime-type-is-primary-format",
            "sep2093-read-listable-child-metadata",
            "sep2093-read-listable-children-are-children",
            "sep2093-read-nonlistable-same-uri",
            "tasks-ext-only-for-declaring-clients",
            "tools-name-unique",
            "tools-structured-content-matches-output-schema",
        ],
        ..Behaviour::new(
            "replies-cross-wired",
            "a response contains the result of the previous request of the same method",
            EVERYWHERE,
        )
    },
    Behaviour {
        say: Some(|_, _, message| message.pointer("/error/code") != Some(&json!(-32601))),
        ..Behaviour::new("unknown-method-ignored", "the server never responds to an unknown method", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|memory, message| {
            memory.requests += u64::from(message.get("id").is_some());
            if memory.requests > 3 { Heard::Nothing } else { Heard::Message }
        }),
        also: &["*"],
        ..Behaviour::new(
            "stops-after-third-request",
            "the server does not respond from the fourth request on",
            EVERYWHERE,
        )
    },
    Behaviour {
        banner: Some("Reference server, ready to serve"),
        ..Behaviour::new("stdout-banner", "a greeting is printed to stdout at the start", STDIO)
    },
    Behaviour {
        reading: Reading::FirstLine,
        until: Some(Revision::NEWEST_LEGACY),
        also: &["cancellation-races-handled", "jsonrpc-exactly-one-response", "jsonrpc-survives-bad-input"],
        ..Behaviour::new("second-line-dropped", "a message that is read together with a ping is ignored", STDIO)
    },
    Behaviour {
        reading: Reading::Latin1,
        also: &["jsonrpc-no-response-to-notification"],
        ..Behaviour::new("latin1-input", "stdin is read as Latin-1 instead of UTF-8", STDIO)
    },
    Behaviour {
        reading: Reading::AsItComes,
        also: &["jsonrpc-error-id-echoes-request", "jsonrpc-no-response-to-notification", "stdio-decodes-whole-lines"],
        ..Behaviour::new("piece-taken-for-line", "a line that arrives in pieces is treated as several lines", STDIO)
    },
    Behaviour {
        reading: Reading::Decoded,
        also: &["jsonrpc-no-response-to-notification"],
        ..Behaviour::new("pieces-decoded-apart", "a character that arrives in pieces is replaced", STDIO)
    },
    Behaviour { batch: Some(Batch::Refused), ..batch("batch-refused", "batches are rejected as invalid requests") },
    Behaviour {
        batch: Some(Batch::First),
        ..batch("batch-first-only", "only the first message of a batch is processed")
    },
    Behaviour {
        batch: Some(Batch::UntilError),
        ..batch("batch-aborts-at-error", "messages after an error in a batch are not processed")
    },
    Behaviour {
        batch: Some(Batch::Always),
        ..batch("batch-of-notifications-answered", "the response to a batch of notifications is an empty array")
    },
    Behaviour {
        spell: Some(|message| format!("{message:#}").into_bytes()),
        also: &["jsonrpc-messages-follow-jsonrpc-2-0"],
        ..Behaviour::new("pretty-printed-json", "messages are spread over several lines", STDIO)
    },
    Behaviour {
        holds_newlines: true,
        also: &["lifecycle-discover-implemented", "stdio-stdout-only-mcp"],
        ..Behaviour::new("newline-before-next-message", "the newline of a message is sent with the next message", STDIO)
    },
    Behaviour {
        spell: Some(latin1),
        since: Some(Revision::V2025_03_26),
        also: &[
            "jsonrpc-no-response-to-notification",
            "resources-field-size-raw-bytes",
            "sep2093-read-size-per-representation",
            "stdio-understands-utf8",
        ],
        ..Behaviour::new("latin1-output", "messages are encoded in Latin-1 instead of UTF-8", EVERYWHERE)
    },
];

/// Batches were added by one revision and removed by the next.
const fn batch(name: &'static str, about: &'static str) -> Behaviour {
    Behaviour {
        since: Some(Revision::V2025_03_26),
        until: Some(Revision::V2025_03_26),
        ..Behaviour::new(name, about, EVERYWHERE)
    }
}

fn unknown_method(request: &Value) -> Heard {
    let error = json!({ "code": -32601, "message": "Method not found" });
    Heard::Answered(json!({ "jsonrpc": "2.0", "id": request["id"], "error": error }))
}

fn answer_notification(message: &Value, by: &str) -> Heard {
    let heard = message.get("method").is_some() && message.get("id").is_none();
    let answer = json!({ "code": -32601, "message": "Method not found" });
    if heard { Heard::Answered(json!({ "jsonrpc": "2.0", "id": null, by: answer })) } else { Heard::Message }
}

fn cross_wire(memory: &mut Memory, scene: &Scene, message: &mut Value) -> bool {
    if let Some((method, result)) = scene.method().zip(message.get_mut("result")) {
        let fresh = result.clone();
        if let Some(stale) = memory.results.insert(method.to_owned(), fresh) {
            *result = stale;
        }
    }
    true
}

fn latin1(message: &Value) -> Vec<u8> {
    message.to_string().chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')).collect()
}
