//! Faults in stdio: input and output of the server, and how it is stopped.

use std::time::Duration;

use serde_json::json;

use conform_reference_client::{
    behaviour::{
        Behaviour, STDIO,
        decisions::{Heard, Shutdown},
    },
    message,
    transport::lines::{LineWays, Stderr},
};

pub static FAULTS: &[Behaviour] = &[
    Behaviour {
        spell: Some(|_, message, bytes| {
            // If the server understood no request at all, the fault would not show.
            if message::method(message) == Some("notifications/initialized") {
                *bytes = serde_json::to_vec_pretty(message).unwrap_or_default();
                bytes.push(b'\n');
            }
        }),
        ..Behaviour::legacy("pretty-printed-messages", "messages are written over several lines", STDIO)
    },
    Behaviour {
        spell: Some(|_, message, bytes| {
            *bytes = serde_json::to_string_pretty(message).unwrap_or_default().into_bytes();
            bytes.push(b'\n');
        }),
        timeout: Some(|_, _, _, limit| *limit = Some(SOON)),
        ..Behaviour::new("everything-pretty-printed", "all messages are written over several lines", STDIO)
    },
    Behaviour {
        spell: Some(|_, message, bytes| {
            if !message::is_request(message) {
                bytes.pop();
                bytes.push(b' ');
            }
        }),
        timeout: Some(|_, _, _, limit| *limit = Some(SOON)),
        ..Behaviour::legacy("two-messages-on-a-line", "a notification and the next message share a line", STDIO)
    },
    Behaviour {
        spell: Some(|_, _, bytes| {
            let head = format!("Content-Length: {}\r\n\r\n", bytes.len());
            bytes.splice(..0, head.into_bytes());
        }),
        ..Behaviour::new("content-length-headers", "messages have the headers of the language server protocol", STDIO)
    },
    Behaviour {
        spell: Some(|memory, _, bytes| {
            if memory.first("message") {
                bytes.splice(..0, "\u{feff}".bytes());
            }
        }),
        timeout: Some(|_, _, _, limit| *limit = Some(SOON)),
        ..Behaviour::legacy("byte-order-mark", "the first message begins with a byte order mark", STDIO)
    },
    Behaviour {
        spell: Some(|_, _, bytes| bytes.push(b'\n')),
        ..Behaviour::new("empty-line-as-heartbeat", "an empty line follows each message", STDIO)
    },
    Behaviour {
        lines: LineWays { splits_at_unicode: true, ..LineWays::USUAL },
        ..Behaviour::new("splits-at-line-separator", "lines also end at U+2028, U+2029 and U+0085", STDIO)
    },
    Behaviour {
        lines: LineWays { chunk_is_line: true, ..LineWays::USUAL },
        ..Behaviour::new("each-read-is-a-message", "what is read at once is taken for one message", STDIO)
    },
    Behaviour {
        lines: LineWays { decodes_chunks: true, ..LineWays::USUAL },
        ..Behaviour::new("decodes-each-read", "what is read at once is decoded by itself", STDIO)
    },
    Behaviour {
        lines: LineWays { longest_line: Some(64 * 1024), ..LineWays::USUAL },
        ..Behaviour::new("line-buffer-64k", "a line of more than 64 KiB is cut", STDIO)
    },
    Behaviour {
        noise: Some(|_, _, _| Heard::Hang),
        ..Behaviour::new("noise-stops-reader", "after a line that is not JSON nothing is read any more", STDIO)
    },
    Behaviour {
        lines: LineWays { stderr: Stderr::IsFailure, ..LineWays::USUAL },
        ..Behaviour::new("stderr-is-error", "any output on stderr ends the connection", STDIO)
    },
    Behaviour {
        lines: LineWays { stderr: Stderr::Unread, ..LineWays::USUAL },
        ..Behaviour::new("stderr-never-read", "stderr of the server is a pipe without a reader", STDIO)
    },
    Behaviour {
        lines: LineWays { stderr: Stderr::Strict, ..LineWays::USUAL },
        ..Behaviour::new("stderr-must-be-utf8", "stderr of the server that is not UTF-8 crashes the client", STDIO)
    },
    Behaviour {
        shutdown: Some(|_, _, plan| {
            plan.close_stdin = false;
            plan.wait = Duration::ZERO;
        }),
        ..Behaviour::new("terminates-without-closing-stdin", "SIGTERM comes while stdin is open", STDIO)
    },
    Behaviour {
        shutdown: Some(|_, _, plan| {
            plan.close_stdin = false;
            kill(plan);
        }),
        ..Behaviour::new("kills-at-once", "the server is killed while its stdin is open", STDIO)
    },
    Behaviour {
        shutdown: Some(|_, _, plan| plan.wait = Duration::ZERO),
        ..Behaviour::new("terminates-right-after-stdin", "SIGTERM follows the end of stdin at once", STDIO)
    },
    Behaviour {
        shutdown: Some(|_, _, plan| {
            plan.term = false;
            plan.wait_after_term = Duration::ZERO;
        }),
        ..Behaviour::new("kills-without-term", "a server that does not exit is killed without SIGTERM", STDIO)
    },
    Behaviour {
        shutdown: Some(|_, _, plan| {
            plan.last_words.push(message::request(&json!("shutdown"), "shutdown", &json!({})));
        }),
        ..Behaviour::new("shutdown-method-sent", "a request `shutdown` goes before the end", STDIO)
    },
    Behaviour {
        shutdown: Some(|memory, _, plan| {
            memory.count("closing");
            plan.last_words.push(message::notification("notifications/cancelled", &json!({ "requestId": 1 })));
        }),
        spell: Some(|memory, _, bytes| {
            if memory.counts.contains_key("closing") {
                bytes.truncate(bytes.len() / 2);
            }
        }),
        ..Behaviour::new("last-message-cut", "the last message is cut in half by the end of stdin", STDIO)
    },
    Behaviour {
        ignores_loss: true,
        timeout: Some(|_, _, _, limit| *limit = None),
        ..Behaviour::new("exit-of-server-unnoticed", "requests wait for a server that has exited", STDIO)
    },
    Behaviour {
        restart: Some(|_, _, next| next.again = false),
        ..Behaviour::new("server-not-restarted", "a server that has exited is not started again", STDIO)
    },
    Behaviour {
        restart: Some(|_, _, next| next.handshake = false),
        ..Behaviour::legacy("restart-without-handshake", "a server that was started again is not initialized", STDIO)
    },
    Behaviour {
        restart: Some(|_, _, next| next.listens = false),
        ..Behaviour::modern(
            "subscription-lost-at-restart",
            "subscriptions are not opened again after the server was started again",
            STDIO,
        )
    },
];

/// The time limit for messages that the server cannot read, which get no response.
const SOON: Duration = Duration::from_secs(1);

fn kill(plan: &mut Shutdown) {
    plan.wait = Duration::ZERO;
    plan.term = false;
    plan.wait_after_term = Duration::ZERO;
}
