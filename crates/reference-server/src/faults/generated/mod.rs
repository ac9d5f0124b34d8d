//! Faults of tools that show only for some arguments: only generated calls find them.

mod kept;
mod notes;

use std::{process, time::Duration};

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{
    faults::{
        Heard,
        behaviour::{Behaviour, EVERYWHERE, STDIO},
    },
    options::Transport,
};
use conform_model::revision::Revision;

pub use kept::KEPT;
use notes::{
    argument, count_calls, echoed, fails, internal_error, is_alone, list_calls, list_notes, notes, patch, returns,
    says, typed,
};

/// The transport on which connections share the state of a fault.
const HTTP: &[Transport] = &[Transport::Http];
/// The suites that only `generate` judges.
pub const SUITES: &[&str] = &["generated.calls", "generated.sequences"];
/// The duration of calls that disturb each other.
const WHILE: Duration = Duration::from_millis(100);
/// Bytes that are leaked by each call.
const LEAKED: usize = 256 << 10;

/// A behaviour that only generated calls show.
const fn of(name: &'static str, about: &'static str, transports: &'static [Transport]) -> Behaviour {
    Behaviour { suites: SUITES, ..Behaviour::new(name, about, transports) }
}

pub static GENERATED: &[Behaviour] = &[
    Behaviour {
        hear: Some(|_, message| if says(message, "[[") { Heard::Nothing } else { Heard::Message }),
        ..of("call-hangs-on-brackets", "the server never responds to a text with two opening brackets", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, message| if says(message, "\0") { Heard::Crash } else { Heard::Message }),
        ..of("call-exits-on-nul", "a NUL character in a text ends the process", STDIO)
    },
    Behaviour {
        until: Some(Revision::NEWEST_LEGACY),
        hear: Some(|memory, message| {
            if memory.unlocked {
                return Heard::Nothing;
            }
            memory.unlocked = says(message, "${");
            Heard::Message
        }),
        ..of("call-deafens", "after a text with a template the server never responds again", STDIO)
    },
    Behaviour {
        say: Some(|_, scene, message| {
            let is_number = argument(scene.sent, "text").is_some_and(|text| text.parse::<f64>().is_ok());
            patch(message, "/result/content/0/text", is_number.then(|| json!(7)))
        }),
        ..of("call-text-of-number", "a text that looks like a number is returned as a number", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, message| {
            let long = argument(Some(message), "text").is_some_and(|text| text.chars().count() > 5);
            fails(
                message,
                long,
                "1 validation error\ntext\n  String should have at most 5 characters [type=string_too_long, input_value='...', input_type=str]",
            )
        }),
        ..of("call-validates-by-other-schema", "texts are validated by another schema than the listed one", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, message| {
            let empty = argument(Some(message), "text").is_some_and(str::is_empty);
            fails(message, empty, "Output validation error: 1 is not of type 'string'")
        }),
        ..of("call-result-rejected", "the result for an empty text violates the output schema", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, message| {
            let hits = says(message, "[[");
            fails(message, hits, "Invalid regular expression: /[[/: Unterminated character class")
        }),
        ..of("call-text-as-pattern", "a text with two opening brackets is an invalid regular expression", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, message| {
            let last = message.pointer("/params/arguments/steps").and_then(Value::as_u64) == Some(300);
            fails(message, last, "`steps` has to be less than 300.")
        }),
        ..of("call-off-by-one", "the largest number that the schema allows is rejected", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, message| {
            let known = |mark: &Value| !mark.is_string() || mark == "dot" || mark == "cross";
            if let Some(mark) = message.pointer_mut("/params/arguments/mark").filter(|mark| !known(mark)) {
                *mark = json!("dot");
            }
            Heard::Message
        }),
        ..of("call-enum-ignored", "a value that is not in the enum counts as the first one", EVERYWHERE)
    },
    Behaviour {
        since: Some(Revision::V2025_06_18),
        say: Some(|_, _, message| {
            let negative =
                message.pointer("/result/structuredContent/sum").and_then(Value::as_i64).filter(|sum| *sum < 0);
            patch(message, "/result/structuredContent/sum", negative.map(|sum| json!(sum.to_string())))
        }),
        ..of("call-sum-text-when-negative", "a negative sum is returned as a string", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, message| {
            if message.pointer("/params/arguments/a") != Some(&json!(0)) {
                return Heard::Message;
            }
            internal_error(message, "Internal error")
        }),
        ..of("call-internal-error", "adding to zero causes an internal error", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, message| {
            let hits = says(message, "__proto__");
            fails(
                message,
                hits,
                "Traceback (most recent call last):\n  File \"/srv/echo.py\", line 12, in echo\nKeyError: '__proto__'",
            )
        }),
        ..of("call-traceback", "a text with the name of an inherited property returns a stack trace", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, message| {
            let hits = says(message, "%s");
            let variables: Vec<String> = std::env::vars().map(|(name, value)| format!("{name}={value}")).collect();
            fails(message, hits, &format!("bad format; environment: {}", variables.join(" ")))
        }),
        ..of("call-tells-environment", "a text with a format string returns the environment", STDIO)
    },
    Behaviour {
        hear: Some(|_, message| {
            let hits = argument(Some(message), "text") == Some("");
            fails(message, hits, "Cannot read properties of undefined (reading 'length')")
        }),
        ..of("call-throws-on-empty", "an empty text causes an exception in the tool", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, message| {
            if let Some(text) = argument(Some(message), "text").and_then(|text| text.strip_suffix('!')) {
                let first = text.chars().next();
                let repeated = text.chars().rev().take_while(|c| Some(*c) == first).take(44).count();
                // The time doubles with every four characters.
                let times = u64::try_from(repeated / 4).unwrap_or_default();
                std::thread::sleep(std::time::Duration::from_micros(1_500 << times));
            }
            Heard::Message
        }),
        ..of("call-backtracks", "a repetitive text takes time that doubles with its length", STDIO)
    },
    Behaviour {
        hear: Some(|memory, message| count_calls(memory, message)),
        say: Some(list_calls),
        ..of("call-read-only-adds", "each call of a tool with readOnlyHint adds a resource", EVERYWHERE)
    },
    Behaviour {
        since: Some(Revision::V2025_03_26),
        hear: Some(|memory, message| count_calls(memory, message)),
        say: Some(|memory, scene, message| {
            for tool in message.pointer_mut("/result/tools").and_then(Value::as_array_mut).into_iter().flatten() {
                if tool["name"] == "echo" {
                    tool["annotations"] = json!({ "idempotentHint": true, "destructiveHint": false });
                }
            }
            list_calls(memory, scene, message)
        }),
        ..of("call-idempotent-adds", "each call of a tool with idempotentHint adds a resource", EVERYWHERE)
    },
    Behaviour {
        say: Some(|memory, scene, message| {
            let Some(text) = argument(scene.sent, "text").map(str::to_owned) else { return true };
            let last = memory.said.insert("last", json!(text));
            let shown = last.as_ref().and_then(Value::as_str).map(|last| json!(format!("{text} (before: {last})")));
            patch(message, "/result/content/0/text", shown)
        }),
        ..of("call-remembers-last", "a response contains text that another session has sent", HTTP)
    },
    Behaviour {
        hear: Some(|_, message| {
            if message["method"] == "tools/call" {
                // Memory only counts once it is written to.
                vec![1_u8; LEAKED].leak();
            }
            Heard::Message
        }),
        ..of("call-leaks-memory", "each call leaks memory", STDIO)
    },
    Behaviour {
        hear: Some(|_, message| {
            #[cfg(unix)]
            if message["method"] == "tools/call" {
                std::mem::forget(std::os::unix::net::UnixStream::pair());
            }
            let _ = message;
            Heard::Message
        }),
        ..of("call-leaks-files", "each call leaves two sockets open", STDIO)
    },
    Behaviour {
        hear: Some(|memory, message| notes(memory, message, "same id")),
        say: Some(list_notes),
        ..of("call-notes-same-id", "every other note gets the id of the one before", STDIO)
    },
    Behaviour {
        hear: Some(|memory, message| notes(memory, message, "update lost")),
        say: Some(list_notes),
        ..of("call-notes-update-lost", "the update of a note is not stored", STDIO)
    },
    Behaviour {
        hear: Some(|memory, message| notes(memory, message, "race")),
        say: Some(list_notes),
        ..of("call-notes-race", "a note gets the id of another one that is created concurrently", STDIO)
    },
    Behaviour {
        hear: Some(|memory, message| {
            let Some(text) = echoed(message) else { return Heard::Message };
            let own = is_alone(memory);
            let last = memory.said.insert("last", json!(text));
            let text = last.filter(|_| !own).unwrap_or_else(|| json!(text));
            returns(message, &text, WHILE)
        }),
        ..of("call-mixes-results", "a call gets the result of a concurrent one", STDIO)
    },
    Behaviour {
        hear: Some(|memory, message| {
            let Some(text) = echoed(message) else { return Heard::Message };
            if !is_alone(memory) {
                return Heard::Nothing;
            }
            returns(message, &json!(text), WHILE)
        }),
        ..of(
            "call-ignores-concurrent",
            "the server never responds to a call that is concurrent with another one",
            STDIO,
        )
    },
    Behaviour {
        until: Some(Revision::NEWEST_LEGACY),
        hear: Some(|memory, message| {
            if message["method"] == "notifications/cancelled" && !is_alone(memory) {
                return Heard::Crash;
            }
            let Some(text) = echoed(message) else { return Heard::Message };
            memory.slow = Some(Instant::now());
            // What the process remembers ends with it.
            returns(message, &json!(format!("{text} from process {}", process::id())), WHILE)
        }),
        ..of("call-cancelled-exits", "a cancellation ends the process if another call is running", STDIO)
    },
    Behaviour {
        until: Some(Revision::NEWEST_LEGACY),
        say: Some(|_, scene, message| {
            let many = typed(scene.sent).is_some_and(|typed| typed.contains("[["));
            let values: Vec<String> = (0..=100).map(|nr| format!("[[{nr}")).collect();
            patch(message, "/result/completion", many.then(|| json!({ "values": values })))
        }),
        ..of("call-completions-many", "a value with two opening brackets has 101 completions", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, message| {
            if typed(Some(message)).is_none_or(|typed| !typed.contains("[[")) {
                return Heard::Message;
            }
            internal_error(message, "Invalid regular expression: /[[/")
        }),
        ..of(
            "call-completion-pattern",
            "the completion of a value with two opening brackets causes an internal error",
            EVERYWHERE,
        )
    },
    Behaviour {
        hear: Some(|memory, message| notes(memory, message, "dropped")),
        say: Some(list_notes),
        ..of("call-notes-dropped", "a note is not stored if another one is created concurrently", STDIO)
    },
    Behaviour {
        hear: Some(|_, message| {
            if message.pointer("/params/cursor").and_then(Value::as_str).is_none_or(|cursor| !cursor.contains("%s")) {
                return Heard::Message;
            }
            internal_error(message, "Internal error")
        }),
        ..of("call-cursor-internal", "a cursor with a format string causes an internal error", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, message| {
            let hits = says(message, "/etc/passwd");
            let program = std::env::current_exe().and_then(std::fs::canonicalize).unwrap_or_default();
            let data = program.with_file_name("data.json").display().to_string();
            fails(message, hits, &format!("ENOENT: no such file or directory, open '{data}'"))
        }),
        ..of("call-tells-path", "a text with a path returns the directory of the program", STDIO)
    },
    Behaviour {
        say: Some(|_, scene, message| {
            let sent = scene.sent.and_then(|sent| sent.pointer("/params/arguments"));
            let bare = sent.is_some_and(|arguments| arguments.get("mark").is_none() && arguments.get("text").is_none());
            let shown = json!("done for undefined");
            patch(message, "/result/content/0/text", (bare && scene.method() == Some("tools/call")).then_some(shown))
        }),
        ..of("call-says-undefined", "a result contains `undefined` for an absent argument", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, message| {
            let uri = message.pointer("/params/uri").and_then(Value::as_str).unwrap_or_default();
            let Some(name) = uri.strip_prefix("people://") else { return Heard::Message };
            let shown: String = percent_encoding::percent_decode_str(name).map(char::from).collect();
            let contents = json!([{ "uri": uri, "mimeType": "text/plain", "text": format!("about {shown}") }]);
            let result = json!({ "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "contents": contents });
            Heard::Answered(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }))
        }),
        say: Some(|_, _, message| {
            let templates = message.pointer_mut("/result/resourceTemplates").and_then(Value::as_array_mut);
            let people = json!({ "uriTemplate": "people://{name}", "name": "people" });
            if let Some(templates) = templates {
                templates.push(people);
            }
            true
        }),
        ..of("call-template-bytes", "the variable of a template is shown with its bytes as characters", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|memory, message| notes(memory, message, "stale")),
        say: Some(list_notes),
        ..of("call-notes-stale", "a deleted note can still be read", STDIO)
    },
];
