//! Faults in `_meta`, and in the parts of 2026-07-28 that replace the handshake.

use serde_json::{Value, json};

use super::edits::{add_meta, capabilities, edit_meta, edit_version, initialize, is, is_list, remove, requests};
use crate::reference::client::{
    faults::{
        behaviour::{Behaviour, EVERYWHERE},
        decisions::{Era, Heard, Moment, Probed},
    },
    meta::{CAPABILITIES_KEY, INFO_KEY, LOG_LEVEL_KEY, client_info},
};
use crate::revision::Revision;

pub static FAULTS: &[Behaviour] = &[
    Behaviour {
        say: Some(|_, _, messages| {
            for message in messages.iter_mut().filter(|message| is_list(message)) {
                message["_meta"] = json!({ "com.example/trace": "1" });
            }
        }),
        ..Behaviour::new("meta-beside-params", "`_meta` is beside `params`", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            for message in messages.iter_mut().filter(|message| is_list(message)) {
                if message.get("params").is_none() {
                    message["params"] = json!({});
                }
                message["params"]["_meta"] = json!([]);
            }
        }),
        // It breaks the connection or every request, so any rule may fail.
        ..Behaviour::new("meta-as-array", "`_meta` is an array", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| add_meta(messages, "com:example", &json!(1))),
        ..Behaviour::new("meta-key-with-colon", "a key of `_meta` has a colon", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| add_meta(messages, "com.example/a/b", &json!(1))),
        ..Behaviour::new("meta-key-with-two-slashes", "a key of `_meta` has two slashes", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| add_meta(messages, "com.1example/a", &json!(1))),
        ..Behaviour::new("meta-label-begins-with-digit", "a label in a key of `_meta` begins with a digit", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| add_meta(messages, "com.example/_a", &json!(1))),
        ..Behaviour::new("meta-name-begins-with-underscore", "a name in a key of `_meta` begins with `_`", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| add_meta(messages, "io.modelcontextprotocol/traceId", &json!("1"))),
        ..Behaviour::new("own-key-with-reserved-prefix", "a key of the client has a reserved prefix", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| add_meta(messages, "example.com/trace", &json!("1"))),
        ..Behaviour::new("meta-prefix-forward-dns", "a prefix in `_meta` is a domain as it is written", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| add_meta(messages, "traceparent", &json!("4bf92f3577b34da6a3ce929d0e0e4736"))),
        ..Behaviour::modern("traceparent-without-span", "traceparent has the id of the trace only", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| add_meta(messages, "baggage", &json!({ "user": "1" }))),
        ..Behaviour::modern("baggage-as-object", "baggage is an object", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            if is(&messages[0], "prompts/get") {
                add_meta(messages, LOG_LEVEL_KEY, &json!("DEBUG"));
            }
        }),
        ..Behaviour::modern("log-level-upper-case", "the log level in `_meta` is in upper case", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            if is(&messages[0], "prompts/get") {
                add_meta(messages, LOG_LEVEL_KEY, &json!(20));
            }
        }),
        ..Behaviour::modern("log-level-as-number", "the log level in `_meta` is a number", EVERYWHERE)
    },
    Behaviour {
        say: Some(|memory, _, messages| {
            for message in requests(messages) {
                if memory.count("request") > 1 {
                    remove(&mut message["params"], "_meta");
                }
            }
        }),
        // It breaks the connection or every request, so any rule may fail.
        ..Behaviour::modern("meta-on-first-request-only", "only the first request has `_meta`", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            for message in requests(messages).filter(|message| !is(message, "server/discover")) {
                leave_out(message, CAPABILITIES_KEY);
            }
        }),
        // It breaks the connection or every request, so any rule may fail.
        ..Behaviour::modern("capabilities-missing-in-meta", "`_meta` has no capabilities", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            for message in messages.iter_mut().filter(|message| is(message, "subscriptions/listen")) {
                remove(&mut message["params"], "_meta");
            }
        }),
        ..Behaviour::modern("listen-without-meta", "subscriptions/listen has no `_meta`", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            for message in requests(messages).filter(|message| !is(message, "server/discover")) {
                leave_out(message, INFO_KEY);
            }
        }),
        ..Behaviour::modern("client-info-in-discover-only", "only server/discover names the client", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            if !is(&messages[0], "server/discover") {
                edit_meta(messages, INFO_KEY, &json!({ "name": "mcp-conform-act" }));
            }
        }),
        // It breaks the connection or every request, so any rule may fail.
        ..Behaviour::modern("client-info-in-meta-without-version", "clientInfo in `_meta` has no version", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            if !is(&messages[0], "server/discover") {
                edit_meta(messages, INFO_KEY, &json!("mcp-conform-act/1"));
            }
        }),
        // It breaks the connection or every request, so any rule may fail.
        ..Behaviour::modern("client-info-in-meta-as-text", "clientInfo in `_meta` is a text", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            if !is(&messages[0], "server/discover") {
                edit_version(messages, &json!(env!("CARGO_PKG_VERSION")));
            }
        }),
        // It breaks the connection or every request, so any rule may fail.
        ..Behaviour::modern("version-of-the-sdk-in-meta", "`_meta` has the version of the program", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            if !is(&messages[0], "server/discover") {
                edit_version(messages, &json!(Revision::NEWEST_LEGACY.as_str()));
            }
        }),
        ..Behaviour::modern("legacy-version-in-meta", "`_meta` has a legacy version", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            if let Some(own) = capabilities(&mut messages[0]) {
                own["extensions"] = json!({ "ui": {} });
            }
        }),
        ..Behaviour::modern("extension-without-prefix", "the name of an extension has no prefix", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            for message in requests(messages) {
                let retries = message["params"].get("inputResponses").is_some();
                if let Some(own) = capabilities(message).filter(|_| retries) {
                    *own = json!({});
                }
            }
        }),
        ..Behaviour::modern("retry-without-capabilities", "a request with input declares no capabilities", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            if is(&messages[0], "server/discover") {
                let params = &mut messages[0]["params"];
                params["protocolVersion"] = json!(Revision::NEWEST.as_str());
                params["capabilities"] = json!({});
                params["clientInfo"] = client_info();
            }
        }),
        ..Behaviour::modern(
            "discover-with-params-of-initialize",
            "server/discover has the params of initialize",
            EVERYWHERE,
        )
    },
    Behaviour {
        hear: Some(|memory, _, message| {
            if let Some(first) = message.pointer("/result/supportedVersions/0") {
                memory.keep("version", first.clone());
            }
            Heard::Message
        }),
        era: Some(|_, _, probed, era| {
            if matches!(probed, Probed::Result(_)) {
                *era = Era::Modern(Revision::NEWEST);
            }
        }),
        say: Some(|memory, _, messages| {
            let version = memory.kept("version");
            if !version.is_null() {
                edit_version(messages, &version);
            }
        }),
        ..Behaviour::modern(
            "first-listed-version-taken",
            "the first version that server/discover lists is used",
            EVERYWHERE,
        )
    },
    Behaviour {
        unasked: Some(|_, _, moment| once(moment, initialize())),
        ..Behaviour::modern("initialize-after-discover", "initialize follows server/discover", EVERYWHERE)
    },
    Behaviour {
        unasked: Some(|_, _, moment| once(moment, json!({ "do": "notify", "method": "notifications/initialized" }))),
        ..Behaviour::modern(
            "initialized-after-discover",
            "notifications/initialized follows server/discover",
            EVERYWHERE,
        )
    },
    Behaviour {
        unasked: Some(|_, _, moment| once(moment, json!({ "do": "ping", "force": true, "timeout": 2000 }))),
        ..Behaviour::modern("modern-ping-sent", "ping is sent in a stateless revision", EVERYWHERE)
    },
    Behaviour {
        unasked: Some(|_, _, moment| {
            once(moment, json!({ "do": "setLevel", "level": "info", "force": true, "timeout": 2000 }))
        }),
        ..Behaviour::modern("modern-set-level-sent", "logging/setLevel is sent in a stateless revision", EVERYWHERE)
    },
    Behaviour {
        unasked: Some(|_, _, moment| {
            once(moment, json!({ "do": "notify", "method": "notifications/roots/list_changed" }))
        }),
        ..Behaviour::modern(
            "roots-change-notified-in-modern",
            "a change of roots is notified in a stateless revision",
            EVERYWHERE,
        )
    },
];

fn leave_out(message: &mut Value, key: &str) {
    if let Some(meta) = message.pointer_mut("/params/_meta") {
        remove(meta, key);
    }
}

fn once(moment: Moment, action: Value) -> Vec<Value> {
    if moment == Moment::Connected { vec![action] } else { Vec::new() }
}
