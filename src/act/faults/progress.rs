//! Faults in progress that the client sends, and in what requests of 2026-07-28 say about their sender.

use serde_json::{Value, json};

use crate::{
    revision::Revision,
    act::{
    faults::{
        behaviour::{Behaviour, EVERYWHERE, STDIO},
        decisions::{Era, Initialized, Moment, Probed},
        tools::{meta, of_method, remove, requests},
    },
    message,
    meta::{CAPABILITIES_KEY, INFO_KEY, LOG_LEVEL_KEY, VERSION_KEY},
}};

/// What the client reports about a request of the server.
fn progress(token: &Value, progress: &Value) -> Value {
    message::notification("notifications/progress", &json!({ "progressToken": token, "progress": progress }))
}

pub static PROGRESS: &[Behaviour] = &[
    Behaviour {
        reply: Some(|_, _, request, responses| {
            if request["method"] == "sampling/createMessage" {
                responses.insert(0, progress(&request["id"], &json!(1)));
            }
        }),
        ..Behaviour::legacy("progress-by-request-id", "progress names the id of the request", EVERYWHERE)
    },
    Behaviour {
        reply: Some(|_, _, request, responses| {
            if let Some(token) = request.pointer("/params/_meta/progressToken") {
                responses.insert(0, progress(token, &json!(1)));
                responses.insert(0, progress(token, &json!(1)));
            }
        }),
        ..Behaviour::legacy("progress-stands-still", "the same progress is sent twice", EVERYWHERE)
    },
    Behaviour {
        reply: Some(|_, _, request, responses| {
            if let Some(token) = request.pointer("/params/_meta/progressToken") {
                responses.insert(0, progress(token, &json!("50%")));
            }
        }),
        ..Behaviour::legacy("progress-as-text", "progress is a string", EVERYWHERE)
    },
    Behaviour {
        reply: Some(|_, _, request, responses| {
            if let Some(token) = request.pointer("/params/_meta/progressToken") {
                responses.push(progress(token, &json!(100)));
            }
        }),
        ..Behaviour::legacy("progress-after-response", "progress follows the response", EVERYWHERE)
    },
    Behaviour {
        say: Some(|memory, _, messages| {
            requests(messages, |_| ());
            for message in messages.iter_mut().filter(|message| message::is_request(message)) {
                if memory.count("requests") > 1 {
                    remove(&mut message["params"], "_meta");
                }
            }
        }),
        also: &["*"],
        ..Behaviour::modern("meta-on-first-request-only", "only the first request has `_meta`", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| requests(messages, |message| remove(meta(message), CAPABILITIES_KEY))),
        also: &["*"],
        ..Behaviour::modern("capabilities-missing-in-meta", "`_meta` has no capabilities", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            of_method(messages, "subscriptions/listen", |message| remove(&mut message["params"], "_meta"));
        }),
        also: &["*"],
        ..Behaviour::modern("listen-without-meta", "subscriptions/listen has no `_meta`", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            requests(messages, |message| {
                if message["method"] != "server/discover" {
                    remove(meta(message), INFO_KEY);
                }
            });
        }),
        ..Behaviour::modern("client-info-in-discover-only", "only server/discover names the client", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| requests(messages, |message| remove(&mut meta(message)[INFO_KEY], "version"))),
        also: &["*"],
        ..Behaviour::modern("client-info-in-meta-without-version", "`clientInfo` in `_meta` has no version", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| requests(messages, |message| meta(message)[INFO_KEY] = json!("act/1.0"))),
        also: &["*"],
        ..Behaviour::modern("client-info-in-meta-as-text", "`clientInfo` in `_meta` is a string", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| requests(messages, |message| meta(message)[VERSION_KEY] = json!("1.4.2"))),
        also: &["*"],
        ..Behaviour::modern("version-of-the-sdk-in-meta", "the version in `_meta` is that of the SDK", STDIO)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            requests(messages, |message| {
                let capabilities = &mut meta(message)[CAPABILITIES_KEY];
                if capabilities.is_object() {
                    capabilities["extensions"] = json!({ "ui": {} });
                }
            });
        }),
        ..Behaviour::modern("extension-without-prefix", "the name of an extension has no prefix", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            requests(messages, |message| {
                if let Some(level) = message.pointer_mut("/params/_meta/io.modelcontextprotocol~1logLevel") {
                    *level = json!("WARNING");
                }
            });
        }),
        ..Behaviour::modern("log-level-upper-case", "the log level in `_meta` is in upper case", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            of_method(messages, "tools/call", |message| {
                if message["params"]["name"] == "echo" {
                    meta(message)[LOG_LEVEL_KEY] = json!(4);
                }
            });
        }),
        also: &["*"],
        ..Behaviour::modern("log-level-as-number", "the log level in `_meta` is a number", EVERYWHERE)
    },
    Behaviour {
        unasked: Some(|_, _, moment| match moment {
            Moment::Connected => vec![json!({ "do": "request", "method": "initialize", "params": {
                "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "a", "version": "1" } } })],
            _ => Vec::new(),
        }),
        also: &["*"],
        ..Behaviour::modern("initialize-after-discover", "initialize follows server/discover", STDIO)
    },
    Behaviour {
        say: Some(|memory, _, messages| {
            if messages[0]["method"] == "tools/list" && memory.first("initialized") {
                messages.insert(0, message::notification("notifications/initialized", &Value::Null));
            }
        }),
        also: &["client-no-removed-methods"],
        ..Behaviour::modern("initialized-after-discover", "`notifications/initialized` follows server/discover", STDIO)
    },
    Behaviour {
        unasked: Some(|_, _, moment| match moment {
            Moment::Connected => vec![json!({ "do": "ping", "force": true })],
            _ => Vec::new(),
        }),
        ..Behaviour::modern("modern-ping-sent", "ping is sent in 2026-07-28", EVERYWHERE)
    },
    Behaviour {
        unasked: Some(|_, _, moment| match moment {
            Moment::Connected => vec![json!({ "do": "setLevel", "level": "info", "force": true })],
            _ => Vec::new(),
        }),
        ..Behaviour::modern("modern-set-level-sent", "logging/setLevel is sent in 2026-07-28", EVERYWHERE)
    },
    Behaviour {
        say: Some(|memory, _, messages| {
            let called = messages.iter().any(|message| message["method"] == "tools/call");
            if called && memory.first("roots") {
                messages.insert(0, message::notification("notifications/roots/list_changed", &Value::Null));
            }
        }),
        also: &["client-no-removed-methods", "client-roots-no-notification-modern"],
        ..Behaviour::modern("roots-change-notified-in-modern", "changes of roots are notified in 2026-07-28", STDIO)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            of_method(messages, "server/discover", |message| {
                message["params"]["clientInfo"] = json!({ "name": "a", "version": "1" });
                message["params"]["capabilities"] = json!({});
            });
        }),
        ..Behaviour::modern("discover-with-params-of-initialize", "server/discover has the params of initialize", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, scene, messages| {
            requests(messages, |message| {
                if message["method"] != "server/discover" && scene.server.get("telepathy").is_some() {
                    meta(message)[VERSION_KEY] = json!("2099-01-01");
                }
            });
        }),
        also: &["*"],
        ..Behaviour::modern("first-listed-version-taken", "the first version of the list is used", STDIO)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            requests(messages, |message| {
                if message["params"].get("inputResponses").is_some() {
                    meta(message)[CAPABILITIES_KEY] = json!({});
                }
            });
        }),
        ..Behaviour::modern("retry-without-capabilities", "retries declare no capabilities", EVERYWHERE)
    },
    Behaviour {
        unasked: Some(|_, _, moment| match moment {
            Moment::BeforeAction => vec![json!({ "do": "discover" })],
            _ => Vec::new(),
        }),
        also: &["*"],
        ..Behaviour::modern("probe-before-each-action", "server/discover goes before each action", EVERYWHERE)
    },
    Behaviour {
        retry: Some(|_, _, _, outcome, retry| {
            let code = outcome.as_ref().err().and_then(crate::act::report::Failure::code);
            retry.again |= code == Some(-32001) && retry.attempts == 0;
        }),
        ..Behaviour::modern("old-code-retried", "a call with the error -32001 is sent again", EVERYWHERE)
    },
    Behaviour {
        retry: Some(|_, _, _, outcome, retry| {
            let code = outcome.as_ref().err().and_then(crate::act::report::Failure::code);
            retry.again |= code == Some(message::MISSING_CAPABILITY) && retry.attempts < 5;
        }),
        ..Behaviour::modern("missing-capability-retried", "a call that needs a capability is sent again and again", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| of_method(messages, "tools/call", |message| meta(message)["traceparent"] = json!("abc"))),
        ..Behaviour::modern("traceparent-without-span", "`traceparent` has only one part", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| of_method(messages, "tools/call", |message| meta(message)["baggage"] = json!({ "a": 1 }))),
        ..Behaviour::modern("baggage-as-object", "`baggage` is an object", EVERYWHERE)
    },
    Behaviour {
        handshake: Some(|_, _, plan| plan.initialized = Initialized::After),
        abort: Some(|_, _, _, abort| {
            abort.notify = false;
            abort.disconnect = true;
        }),
        restart: Some(|_, _, next| next.again = next.attempts < 50),
        also: &["*"],
        ..Behaviour::modern("process-ended-to-cancel", "a request is cancelled by the end of the process", STDIO)
    },
    Behaviour {
        era: Some(|_, _, probed, era| {
            if let Probed::Failure(failure) = probed
                && failure.code() == Some(message::UNSUPPORTED_VERSION)
            {
                *era = Era::Legacy(Revision::NEWEST_LEGACY);
            }
        }),
        also: &["*"],
        ..Behaviour::modern("unsupported-version-leads-to-initialize", "the error -32022 leads to initialize", EVERYWHERE)
    },
    Behaviour {
        era: Some(|memory, _, probed, era| {
            let fails = matches!(probed, Probed::Failure(failure) if failure.code() == Some(message::UNSUPPORTED_VERSION));
            if fails && memory.count("again") < 10 {
                *era = Era::Again(std::time::Duration::ZERO);
            }
        }),
        also: &["client-era-cached"],
        ..Behaviour::modern("unsupported-version-tried-again", "the probe is repeated after the error -32022", EVERYWHERE)
    },
];
