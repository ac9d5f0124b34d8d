//! Worlds for rules about clients: output on stdout and stderr, and the exit of the process.

use serde_json::{Value, json};

use crate::{
    faults::{Behaviour, Heard, STDIO},
    worlds::made::said,
};

/// Length of a long message in characters.
const LONG: usize = 1 << 20;
/// Lines of 64 bytes: together they are 1 MiB, and a pipe holds 64 KiB.
const LINES: usize = 16_384;

pub static PROCESSES: &[Behaviour] = &[
    Behaviour {
        pieces: true,
        say: Some(|_, scene, message| {
            if let Some(Value::String(text)) = message.pointer_mut("/result/content/0/text") {
                text.push_str("\u{2028}a\u{2029}b\u{85}cé☃");
            }
            if scene.method() == Some("tools/list")
                && let Some(tool) = message.pointer_mut("/result/tools/0")
            {
                tool["description"] = json!("long ".repeat(LONG / 5));
            }
            true
        }),
        ..Behaviour::new("odd-lines", "lines are long, have unusual characters, and are written in pieces", STDIO)
    },
    Behaviour {
        banner: Some("Reference server, ready to serve"),
        spell: Some(|message| format!("DEBUG: sending a message\n{message}").into_bytes()),
        ..Behaviour::new("stdout-noise", "log lines are between the messages on stdout", STDIO)
    },
    Behaviour {
        hear: Some(|memory, _| {
            memory.requests += 1;
            let lines = if memory.requests == 1 { LINES } else { 4 };
            let line = "ERROR: something that looks bad, but is nothing to worry about.\n";
            memory.stderr.push_str(&line.repeat(lines));
            memory.stderr_bytes.extend_from_slice(b"\xff\xfe not UTF-8\n");
            Heard::Message
        }),
        ..Behaviour::new("stderr-flood", "1 MiB of errors is written to stderr before the first response", STDIO)
    },
    Behaviour {
        hear: Some(|_, message| if said(message) == "exit" { Heard::Crash } else { Heard::Message }),
        ..Behaviour::new("exits-on-call", "a call with a certain text ends the process", STDIO)
    },
];
