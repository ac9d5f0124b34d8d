//! Faults in stdio: lines, streams and processes.

use std::time::Duration;

use serde_json::json;

use crate::act::{
    faults::{
        behaviour::{Behaviour, STDIO},
        decisions::{Era, Heard},
        simple::{said, time_out},
    },
    message::method,
    transport::lines::{LineWays, Stderr},
};
use crate::revision::Revision;

/// What a line buffer of 64 KiB holds.
const BUFFER: usize = 64 << 10;

pub static LINES: &[Behaviour] = &[
    Behaviour {
        spell: Some(|_, message, bytes| {
            *bytes = serde_json::to_vec_pretty(message).unwrap_or_default();
            bytes.push(b'\n');
        }),
        also: &["*"],
        ..Behaviour::new("pretty-printed-messages", "messages are written over several lines", STDIO)
    },
    Behaviour {
        spell: Some(|_, message, bytes| {
            if method(message) == Some("notifications/initialized") {
                *bytes = format!("{message} {message}\n").into_bytes();
            }
        }),
        ..Behaviour::legacy("two-messages-on-a-line", "two messages are written on one line", STDIO)
    },
    Behaviour {
        spell: Some(|memory, message, bytes| {
            if memory.first("header") {
                let mut headed = format!("Content-Length: {}\n", message.to_string().len()).into_bytes();
                headed.append(bytes);
                *bytes = headed;
            }
        }),
        ..Behaviour::new("content-length-headers", "a message has a header", STDIO)
    },
    Behaviour {
        spell: Some(|_, message, bytes| {
            if method(message) == Some("notifications/initialized") {
                bytes.splice(0..0, "\u{feff}".bytes());
            }
        }),
        ..Behaviour::legacy("byte-order-mark", "a line begins with a byte order mark", STDIO)
    },
    Behaviour {
        spell: Some(|_, _, bytes| bytes.insert(0, b'\n')),
        ..Behaviour::new("empty-line-as-heartbeat", "there are empty lines between messages", STDIO)
    },
    Behaviour {
        lines: LineWays { splits_at_unicode: true, ..LineWays::USUAL },
        ..Behaviour::new("splits-at-line-separator", "lines end at U+2028, too", STDIO)
    },
    Behaviour {
        lines: LineWays { chunk_is_line: true, ..LineWays::USUAL },
        also: &["*"],
        ..Behaviour::new("each-read-is-a-message", "what is read at once is taken for a message", STDIO)
    },
    Behaviour {
        lines: LineWays { decodes_chunks: true, ..LineWays::USUAL },
        ..Behaviour::new("decodes-each-read", "what is read at once is decoded by itself", STDIO)
    },
    Behaviour {
        lines: LineWays { longest_line: Some(BUFFER), ..LineWays::USUAL },
        ..Behaviour::new("line-buffer-64k", "lines of more than 64 KiB are cut", STDIO)
    },
    Behaviour {
        noise: Some(|_, _, bytes| if bytes.starts_with(b"{") { Heard::Message } else { Heard::Hang }),
        ..Behaviour::new("noise-hangs-client", "after a line that is not JSON nothing is read", STDIO)
    },
    Behaviour {
        lines: LineWays { stderr: Stderr::IsFailure, ..LineWays::USUAL },
        also: &["*"],
        ..Behaviour::new("stderr-is-error", "any output on stderr ends the connection", STDIO)
    },
    Behaviour {
        lines: LineWays { stderr: Stderr::Unread, ..LineWays::USUAL },
        also: &["client-stdio-stderr-not-error"],
        ..Behaviour::new("stderr-never-read", "stderr is a pipe that nobody reads", STDIO)
    },
    Behaviour {
        shutdown: Some(|_, _, plan| {
            plan.close_stdin = false;
            plan.wait = Duration::ZERO;
        }),
        ..Behaviour::new("terminates-without-closing-stdin", "the server gets SIGTERM while its stdin is open", STDIO)
    },
    Behaviour {
        shutdown: Some(|_, _, plan| {
            plan.close_stdin = false;
            plan.wait = Duration::ZERO;
            plan.term = false;
            plan.wait_after_term = Duration::ZERO;
        }),
        ..Behaviour::new("kills-at-once", "the server gets SIGKILL while its stdin is open", STDIO)
    },
    Behaviour {
        shutdown: Some(|_, _, plan| plan.wait = Duration::ZERO),
        ..Behaviour::new("kills-right-after-stdin", "the server gets SIGTERM as soon as its stdin is closed", STDIO)
    },
    Behaviour {
        shutdown: Some(|_, _, plan| {
            plan.term = false;
            plan.wait_after_term = Duration::ZERO;
        }),
        ..Behaviour::new("kills-without-term", "the server gets SIGKILL without SIGTERM", STDIO)
    },
    Behaviour {
        shutdown: Some(|_, _, plan| {
            plan.last_words = vec![
                json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": "none" } }),
            ];
        }),
        spell: Some(|_, message, bytes| {
            if method(message) == Some("notifications/cancelled") {
                bytes.truncate(bytes.len() / 2);
            }
        }),
        also: &["client-stdio-one-line-per-message"],
        ..Behaviour::new("last-message-cut", "the last message is not written to its end", STDIO)
    },
    Behaviour {
        outcome: Some(|_, action, outcome| {
            if said(action) == "exit" {
                time_out(outcome);
            }
        }),
        ..Behaviour::new("exit-of-server-unnoticed", "the exit of the server does not end its requests", STDIO)
    },
    Behaviour {
        restart: Some(|_, _, restart| restart.again = false),
        ..Behaviour::modern("server-not-restarted", "a server that exited is not started again", STDIO)
    },
    Behaviour {
        restart: Some(|_, _, restart| restart.handshake = false),
        ..Behaviour::legacy("restart-without-handshake", "a server that was started again is not initialized", STDIO)
    },
    Behaviour {
        restart: Some(|_, _, restart| restart.listens = false),
        ..Behaviour::modern("subscription-lost-at-restart", "subscriptions are not opened again", STDIO)
    },
    Behaviour {
        era: Some(|_, _, probed, era| {
            if matches!(probed, crate::act::faults::decisions::Probed::Failure(_)) {
                *era = Era::Legacy(Revision::NEWEST_LEGACY);
            }
        }),
        ..Behaviour::modern(
            "any-error-is-legacy",
            "every error leads to `initialize`",
            crate::act::faults::behaviour::EVERYWHERE,
        )
    },
];
