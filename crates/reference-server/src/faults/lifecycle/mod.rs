//! Faults in versions, handshakes and state between requests that cannot be written as a patch of a response.

mod versions;

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    faults::{
        Heard,
        behaviour::{Behaviour, EVERYWHERE, STDIO},
    },
    options::Transport,
};
use conform_model::revision::Revision;

use versions::{agreed, keep, legacy_after_initialize, no_handshake, only_modern, refusal, replaced, unchecked_behind};

const META: &str = "/params/_meta";
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// HTTP+SSE has no second connection for such a request.
const NOT_SSE: &[Transport] = &[Transport::Stdio, Transport::Http];

pub static LIFECYCLE: &[Behaviour] = &[
    Behaviour {
        since: Some(Revision::NEWEST_LEGACY),
        until: Some(Revision::NEWEST_LEGACY),
        hear: Some(|_, message| {
            if let Some(asked) = message.pointer_mut("/params/protocolVersion") {
                *asked = json!(Revision::NEWEST_LEGACY);
            }
            Heard::Message
        }),
        ..Behaviour::new("initialize-always-newest", "initialize always returns the newest revision", NOT_SSE)
    },
    Behaviour {
        until: Some(Revision::V2024_11_05),
        hear: Some(|_, message| {
            if let Some(asked) = message.pointer_mut("/params/protocolVersion") {
                *asked = json!(Revision::V2024_11_05);
            }
            Heard::Message
        }),
        ..Behaviour::new("initialize-always-oldest", "initialize always returns the oldest revision", STDIO)
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        say: Some(|_, scene, message| agreed(scene, message, Revision::V2025_03_26, Revision::NEWEST_LEGACY)),
        ..Behaviour::new(
            "advertised-version-replaced",
            "initialize with a listed revision returns another one",
            NOT_SSE,
        )
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        say: Some(|_, scene, message| agreed(scene, message, Revision::V2026_07_28, Revision::V2026_07_28)),
        ..Behaviour::new("initialize-to-modern", "initialize returns a revision without a handshake", NOT_SSE)
    },
    Behaviour {
        until: Some(Revision::NEWEST_LEGACY),
        hear: Some(|_, message| {
            let unknown = message.pointer("/params/protocolVersion") == Some(&json!("1900-01-01"));
            if unknown { Heard::Crash } else { Heard::Message }
        }),
        ..Behaviour::new("unknown-version-crashes", "an unknown revision ends the process", STDIO)
    },
    Behaviour {
        until: Some(Revision::NEWEST_LEGACY),
        hear: Some(|_, message| {
            let incomplete = message["method"] == "initialize" && message["params"]["capabilities"].is_null();
            if incomplete { Heard::Crash } else { Heard::Message }
        }),
        ..Behaviour::new(
            "incomplete-handshake-crashes",
            "an initialize request without capabilities ends the process",
            STDIO,
        )
    },
    Behaviour {
        until: Some(Revision::NEWEST_LEGACY),
        banner: Some(r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"ready"}}"#),
        ..Behaviour::new("log-before-initialize", "a log message is sent at the start of the process", STDIO)
    },
    Behaviour {
        outlives_stdin: Duration::MAX,
        ..Behaviour::new("outlives-stdin", "the process continues after stdin was closed", STDIO)
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        hear: Some(|memory, message| {
            if ["server/discover", "initialize"].iter().any(|method| message["method"] == *method) {
                memory.said.insert("discovered", Value::Null);
            }
            match message.get("id").filter(|_| !memory.said.contains_key("discovered")) {
                Some(id) => refusal(id, -32600, "Not initialized"),
                None => Heard::Message,
            }
        }),
        ..Behaviour::new("discover-first", "requests are rejected before server/discover", STDIO)
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        hear: Some(|memory, message| {
            memory.unlocked |= message["method"] == "initialize";
            let served = memory.unlocked || message["method"] == "server/discover";
            match message.get("id").filter(|_| !served) {
                Some(id) => refusal(id, -32600, "Not initialized"),
                None => Heard::Message,
            }
        }),
        also: &[
            "completion-unknown-prompt-code",
            "completion-unknown-ref-type",
            "completion-unknown-template-rejected",
            "jsonrpc-invalid-params-code",
            "jsonrpc-method-not-found-code",
            "lifecycle-no-request-requires-initialize",
            "logging-request-level-invalid-rejected",
            "prompts-list-answered",
            "prompts-unknown-name-error",
            "ext-server-undeclared-not-found",
            "resources-list-answered",
            "resources-listen-supported",
            "resources-read-unknown-uri-code",
            "resources-read-uri-required-code",
            "resources-subscribe-methods-gone",
            "resources-templates-expansion-readable",
            "tasks-ext-cancel-unknown-task",
            "tasks-ext-get-unknown-task",
            "tasks-ext-listen-needs-capability",
            "tasks-ext-methods-need-capability",
            "tasks-ext-result-method-removed",
            "tasks-ext-update-unknown-task",
            "tools-unknown-tool-protocol-error",
        ],
        ..Behaviour::new("initialize-first", "requests are rejected before initialize", STDIO)
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        hear: Some(|memory, message| {
            memory.unlocked |= message["method"] == "initialize";
            match message.get("id").filter(|_| !memory.unlocked && message["method"] == "tools/call") {
                Some(id) => refusal(id, -32602, "initialize is required before tools can be called"),
                None => Heard::Message,
            }
        }),
        also: &["tools-execution-errors-in-result"],
        ..Behaviour::new("calls-need-initialize", "tool calls are rejected before initialize", EVERYWHERE)
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        hear: Some(|memory, message| {
            if let Some(meta) = message.pointer_mut(META).and_then(Value::as_object_mut) {
                for (name, value) in keep(memory, meta) {
                    meta.insert(name.to_owned(), value);
                }
            }
            Heard::Message
        }),
        also: &["resources-request-meta-required"],
        ..Behaviour::new("meta-remembered", "missing `_meta` of a request is taken from an earlier request", EVERYWHERE)
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        hear: Some(|_, message| match message.get("id").filter(|_| message["method"] == "initialize") {
            Some(id) => refusal(id, -32601, "Method not found"),
            None => Heard::Message,
        }),
        ..Behaviour::new(
            "advertised-handshake-unknown",
            "initialize is an unknown method, though revisions with a handshake are listed",
            EVERYWHERE,
        )
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        hear: Some(|memory, message| replaced(memory, message, VERSION, false)),
        also: &["jsonrpc-defined-codes-as-specified", "lifecycle-advertised-versions-work"],
        ..Behaviour::new(
            "version-of-last-request",
            "a request is processed in the revision of the previous one",
            EVERYWHERE,
        )
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        hear: Some(|memory, message| unchecked_behind(memory, message, |method| method != "server/discover")),
        also: &["lifecycle-dual-era-unsupported-version"],
        ..Behaviour::new("version-checked-once", "after a list request any revision is accepted", EVERYWHERE)
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        hear: Some(|memory, message| unchecked_behind(memory, message, |method| method == "initialize")),
        ..Behaviour::new("version-unchecked-after-initialize", "after a handshake any revision is accepted", STDIO)
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        hear: Some(|memory, message| replaced(memory, message, CAPABILITIES, true)),
        also: &[
            "mrtr-only-declared-capabilities",
            "roots-capability-checked",
            "tasks-ext-cancel-unknown-task",
            "tasks-ext-get-unknown-task",
            "tasks-ext-update-unknown-task",
        ],
        ..Behaviour::new(
            "capabilities-remembered",
            "the client capabilities of an earlier request still count",
            EVERYWHERE,
        )
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        hear: Some(|memory, message| {
            memory.listed |= message["method"] == "tools/list";
            match message.get("id").filter(|_| message["method"] == "tools/call" && !memory.listed) {
                Some(id) => refusal(id, -32602, "Unknown tool"),
                None => Heard::Message,
            }
        }),
        also: &["tools-execution-errors-in-result", "tools-listed-can-be-called"],
        ..Behaviour::new("call-needs-list", "a tool is unknown on a connection without a tools/list", STDIO)
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        say: Some(no_handshake),
        ..Behaviour::new(
            "initialize-plainly-unknown",
            "a modern-only server returns method not found for initialize, without the supported revisions",
            STDIO,
        )
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        hear: Some(|_, message| {
            if let Some(meta) = message.pointer_mut(META).and_then(Value::as_object_mut) {
                meta.entry(VERSION).or_insert_with(|| json!(Revision::NEWEST));
            }
            Heard::Message
        }),
        say: Some(no_handshake),
        also: &[
            "lifecycle-modern-only-initialize-error-names-versions",
            "logging-deprecated",
            "resources-request-meta-required",
        ],
        ..Behaviour::new(
            "modern-only-version-optional",
            "a modern-only server processes requests without a revision",
            STDIO,
        )
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        hear: Some(|memory, message| {
            let modern = message.pointer(META).is_some_and(|meta| meta.get(VERSION).is_some());
            if modern {
                memory.said.insert("modern", Value::Null);
            }
            match message.get("id").filter(|_| message["method"] == "initialize" && memory.said.contains_key("modern"))
            {
                Some(id) => refusal(id, -32600, "Requests of another revision were sent before"),
                None => Heard::Message,
            }
        }),
        ..Behaviour::new("no-handshake-behind-requests", "initialize is rejected after a request of 2026-07-28", STDIO)
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        hear: Some(|memory, message| match message["method"] == "server/discover" {
            true => Heard::Message,
            false => legacy_after_initialize(memory, message),
        }),
        also: &["caching-hints-present", "jsonrpc-result-type-present", "lifecycle-server-info-in-result-meta"],
        ..Behaviour::new(
            "lists-legacy-after-initialize",
            "after initialize every request but server/discover is treated as part of that session",
            STDIO,
        )
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        hear: Some(legacy_after_initialize),
        ..Behaviour::new(
            "legacy-after-initialize",
            "after initialize every request is treated as part of that session",
            STDIO,
        )
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        say: Some(|_, scene, message| {
            only_modern(scene, message);
            agreed(scene, message, Revision::V2026_07_28, Revision::V2026_07_28)
        }),
        ..Behaviour::new("initialize-by-modern-only", "a modern-only server accepts initialize", NOT_SSE)
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        say: Some(|_, scene, message| {
            if let Some(capabilities) = message.pointer_mut("/result/capabilities") {
                capabilities["extensions"] = json!({ "io.modelcontextprotocol/tasks": {} });
            }
            if scene.method() == Some("tools/call")
                && let Some(result) = message.get_mut("result")
            {
                result["resultType"] = json!("task");
            }
            true
        }),
        also: &[
            "roots-boundaries-respected",
            "roots-paths-validated",
            "tasks-ext-legacy-client-capability-ignored",
            "tasks-ext-only-for-declaring-clients",
            "tasks-ext-task-param-ignored",
            "tasks-ext-task-shape",
        ],
        ..Behaviour::new("extension-for-everybody", "clients without an extension get its results", EVERYWHERE)
    },
];
