//! Further faults in what is read from a server process, and in how it is ended.

use std::time::Duration;

use serde_json::json;

use crate::act::{
    faults::{
        behaviour::{Behaviour, STDIO},
        decisions::Heard,
    },
    message,
    transport::lines::{LineWays, Stderr},
};

/// For what the server cannot read: there will be no response.
const SOON: Duration = Duration::from_secs(1);

pub static FAULTS: &[Behaviour] = &[
    Behaviour {
        spell: Some(|memory, _, bytes| {
            if !memory.held.is_empty() {
                memory.held.clear();
                bytes.insert(0, b'\n');
            }
            if memory.count("messages") % 4 == 0 {
                bytes.pop();
                memory.held.push(json!("newline"));
            }
        }),
        timeout: Some(|_, _, _, limit| *limit = Some(SOON)),
        ..Behaviour::new("newline-missing", "the newline of some messages is written with the next message", STDIO)
    },
    Behaviour {
        noise: Some(|_, _, _| Heard::Hang),
        ..Behaviour::new("noise-stops-reader", "after a line that is not JSON nothing is read any more", STDIO)
    },
    Behaviour {
        noise: Some(|memory, _, _| {
            memory.held.push(json!("noise"));
            Heard::Nothing
        }),
        hear: Some(|memory, _, _| if memory.held.pop().is_some() { Heard::Nothing } else { Heard::Message }),
        ..Behaviour::new("noise-drops-next-line", "the line after one that is not JSON is dropped", STDIO)
    },
    Behaviour {
        lines: LineWays { stderr: Stderr::Strict, ..LineWays::USUAL },
        ..Behaviour::new("stderr-must-be-utf8", "stderr of the server that is not UTF-8 crashes the client", STDIO)
    },
    Behaviour {
        shutdown: Some(|_, _, plan| {
            plan.wait_after_term = Duration::ZERO;
        }),
        ..Behaviour::new("kills-together-with-term", "SIGKILL follows SIGTERM at once", STDIO)
    },
    Behaviour {
        shutdown: Some(|_, _, plan| {
            plan.term = false;
            plan.kill = false;
            plan.wait_after_term = Duration::ZERO;
        }),
        ..Behaviour::new("leaves-server-behind", "a server that does not exit is left running", STDIO)
    },
    Behaviour {
        shutdown: Some(|_, _, plan| {
            plan.last_words.push(message::request(&json!("shutdown"), "shutdown", &json!({})));
        }),
        ..Behaviour::new("shutdown-method-sent", "a request `shutdown` goes before the end", STDIO)
    },
];
