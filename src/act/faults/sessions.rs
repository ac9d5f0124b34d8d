//! Faults in the lifecycle, in requests of the server, and in how requests are given up.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    act::{
        faults::{
            behaviour::{Behaviour, EVERYWHERE, STDIO},
            decisions::{Heard, Initialized, Moment, Phase, Settlement},
            tools::{of_method, remove, rename, requests, results},
        },
        message,
    },
    revision::Revision,
};

pub static SESSIONS: &[Behaviour] = &[
    Behaviour {
        handshake: Some(|_, _, plan| plan.initialize = false),
        also: &["*"],
        ..Behaviour::legacy("initialize-left-out", "initialize is not sent", EVERYWHERE)
    },
    Behaviour {
        handshake: Some(|_, _, plan| plan.initialized = Initialized::Early),
        also: &["*"],
        ..Behaviour::legacy("initialized-comes-first", "`notifications/initialized` goes before initialize", EVERYWHERE)
    },
    Behaviour {
        handshake: Some(|_, _, plan| plan.initialized = Initialized::Late),
        also: &["client-ping-answered-early"],
        ..Behaviour::legacy("initialized-sent-late", "`notifications/initialized` follows the first request", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            if messages[0]["method"] == "notifications/initialized" {
                messages.push(messages[0].clone());
            }
        }),
        ..Behaviour::legacy("initialized-sent-twice", "`notifications/initialized` is sent twice", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            of_method(messages, "initialize", |message| remove(&mut message["params"]["clientInfo"], "version"));
        }),
        also: &["*"],
        ..Behaviour::legacy("client-info-without-version", "`clientInfo` has no version", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| of_method(messages, "initialize", |message| remove(&mut message["params"], "capabilities"))),
        also: &["*"],
        ..Behaviour::legacy("capabilities-left-out", "initialize has no capabilities", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            of_method(messages, "initialize", |message| message["params"]["capabilities"] = json!([]));
        }),
        also: &["*"],
        ..Behaviour::legacy("capabilities-as-array", "the capabilities are an array", EVERYWHERE)
    },
    Behaviour {
        handshake: Some(|_, _, plan| plan.offer = json!("1.4.2")),
        ..Behaviour::legacy("version-of-the-sdk-offered", "initialize offers the version of the SDK", EVERYWHERE)
    },
    Behaviour {
        handshake: Some(|_, _, plan| plan.offer = json!("2026-07-28")),
        ..Behaviour::legacy("modern-version-in-initialize", "initialize offers 2026-07-28", EVERYWHERE)
    },
    Behaviour {
        handshake: Some(|_, _, plan| plan.awaits = false),
        also: &["*"],
        ..Behaviour::legacy("lists-before-initialize-response", "requests do not wait for initialize", EVERYWHERE)
    },
    Behaviour {
        say: Some(|memory, _, messages| {
            if messages[0]["method"] == "initialize" && memory.first("again") {
                let mut again = messages[0].clone();
                again["id"] = json!("again");
                again["method"] = json!("tools/list");
                messages.push(again);
            }
        }),
        also: &["client-initialized-before-operation", "client-only-negotiated-capabilities", "client-only-negotiated-capabilities-older", "client-initialized-not-after-error"],
        ..Behaviour::legacy("initialize-repeated-before-response", "a list is sent together with initialize", EVERYWHERE)
    },
    Behaviour {
        unasked: Some(|_, _, moment| match moment {
            Moment::BeforeAction => vec![json!({ "do": "request", "method": "initialize", "force": true, "params": {
                "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "a", "version": "1" } } })],
            _ => Vec::new(),
        }),
        also: &["*"],
        ..Behaviour::legacy("initialize-before-each-action", "initialize is sent before each action", STDIO)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            of_method(messages, "initialize", |message| message["params"]["capabilities"]["sampling"] = json!(true));
        }),
        ..Behaviour::legacy("sampling-declared-as-true", "`sampling` is declared as true", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            of_method(messages, "initialize", |message| {
                message["params"]["capabilities"]["roots"] = json!({ "listChanged": "true" });
            });
        }),
        ..Behaviour::legacy("roots-flag-as-text", "`roots.listChanged` is a string", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            of_method(messages, "initialize", |message| {
                message["params"]["capabilities"]["experimental"] = json!({ "com.example/a": true });
            });
        }),
        ..Behaviour::legacy("experimental-flag-as-boolean", "an experimental capability is true", EVERYWHERE)
    },
    Behaviour {
        since: Some(Revision::V2025_06_18),
        say: Some(|_, _, messages| {
            of_method(messages, "initialize", |message| message["params"]["clientInfo"]["icons"] = json!({ "src": "a" }));
        }),
        ..Behaviour::legacy("client-icons-as-object", "the icons of the client are an object", EVERYWHERE)
    },
    Behaviour {
        since: Some(Revision::V2025_06_18),
        say: Some(|_, _, messages| {
            of_method(messages, "initialize", |message| message["params"]["clientInfo"]["websiteUrl"] = json!("example.com"));
        }),
        ..Behaviour::legacy("client-website-without-scheme", "the website of the client is not a URL", EVERYWHERE)
    },
    Behaviour {
        unasked: Some(|_, _, moment| match moment {
            Moment::Connected => vec![json!({ "do": "request", "method": "server/discover", "params": {}, "force": true })],
            _ => Vec::new(),
        }),
        also: &["client-initialized-before-operation"],
        ..Behaviour::legacy("discover-in-open-session", "server/discover is sent after initialize", EVERYWHERE)
    },
    Behaviour {
        until: Some(Revision::V2025_03_26),
        say: Some(|_, _, messages| {
            of_method(messages, "completion/complete", |message| message["params"]["context"] = json!({ "arguments": {} }));
        }),
        ..Behaviour::new("completion-context-always-sent", "completion has a context in every revision", EVERYWHERE)
    },
    Behaviour {
        settle: Some(|_, scene, outcome, settlement| {
            if outcome.is_err() {
                *settlement = Settlement::GoOn(scene.revision.unwrap_or(Revision::NEWEST_LEGACY));
            }
        }),
        also: &["client-negotiation-failures-handled", "client-cancel-not-initialize"],
        ..Behaviour::legacy("goes-on-after-failed-initialize", "a failed initialize is taken for a success", EVERYWHERE)
    },
    Behaviour {
        abort: Some(|_, _, (_, method), abort| {
            if method == "initialize" {
                abort.notify = true;
            }
        }),
        ..Behaviour::legacy("initialize-cancelled", "initialize is cancelled when it times out", EVERYWHERE)
    },
    Behaviour {
        handshake: Some(|_, _, plan| {
            plan.repeats = 40;
            plan.timeout = Some(Duration::from_millis(100));
        }),
        also: &["*"],
        ..Behaviour::legacy("initialize-in-a-loop", "initialize is repeated at once when it fails", EVERYWHERE)
    },
    Behaviour {
        handshake: Some(|_, _, plan| plan.timeout = None),
        ..Behaviour::legacy("initialize-without-timeout", "initialize is waited for without end", STDIO)
    },
    Behaviour {
        permit: Some(|_, _, _, _, permitted| *permitted = true),
        also: &["client-set-level-needs-capability", "client-subscribe-only-when-offered", "client-subscribe-only-when-offered-early"],
        ..Behaviour::legacy("capabilities-of-server-ignored", "requests are sent whatever the server declared", EVERYWHERE)
    },
    Behaviour {
        since: Some(Revision::V2025_06_18),
        permit: Some(|_, _, method, _, permitted| *permitted |= method == "completion/complete"),
        ..Behaviour::legacy("completion-tried-undeclared", "completion is tried whatever the server declared", EVERYWHERE)
    },
    Behaviour {
        unasked: Some(|_, _, moment| match moment {
            Moment::Connected => vec![json!({ "do": "setLevel", "level": "info", "force": true })],
            _ => Vec::new(),
        }),
        ..Behaviour::legacy("level-set-after-initialize", "a log level is set after every initialize", EVERYWHERE)
    },
    Behaviour {
        settle: Some(|_, _, outcome, settlement| {
            if outcome.as_ref().is_ok_and(|result| result["capabilities"].get("tools").is_none()) {
                *settlement = Settlement::Disconnect("no tools".to_owned());
            }
        }),
        ..Behaviour::legacy("server-without-tools-rejected", "a server without tools is left", EVERYWHERE)
    },
    // Requests of the server.
    Behaviour {
        reply: Some(|_, _, request, responses| {
            if request["method"] == "server/does-not-exist" {
                responses.clear();
            }
        }),
        also: &["client-batch-each-request-answered"],
        ..Behaviour::legacy("unknown-request-dropped", "an unknown request has no response", EVERYWHERE)
    },
    Behaviour {
        reply: Some(|_, _, request, responses| {
            if request["method"] == "server/does-not-exist" {
                responses[0] = message::result(&request["id"], &json!({}));
            }
        }),
        ..Behaviour::legacy("unknown-request-gets-result", "an unknown request gets an empty result", EVERYWHERE)
    },
    Behaviour {
        reply: Some(|_, _, request, responses| {
            if request["method"] == "server/does-not-exist" {
                responses[0] = message::error(&request["id"], -32603, "Internal error");
            }
        }),
        ..Behaviour::legacy("unknown-request-internal-error", "the error for an unknown method is -32603", EVERYWHERE)
    },
    Behaviour {
        reply: Some(|_, _, request, responses| {
            if request["method"] == "server/does-not-exist" {
                responses[0] = message::error(&request["id"], -32602, "Invalid params");
            }
        }),
        ..Behaviour::legacy("unknown-request-invalid-params", "the error for an unknown method is -32602", EVERYWHERE)
    },
    Behaviour {
        reply: Some(|_, _, request, responses| {
            if request["method"] == "ping" {
                responses[0] = message::error(&request["id"], -32601, "Method not found");
            }
        }),
        also: &["client-ping-answered-early", "client-early-server-traffic"],
        ..Behaviour::legacy("ping-unknown", "ping is unknown", EVERYWHERE)
    },
    Behaviour {
        reply_delay: Some(|_, method| if method == "ping" { Duration::from_millis(5050) } else { Duration::ZERO }),
        also: &["*"],
        ..Behaviour::legacy("ping-response-late", "the response to ping takes 5 s", EVERYWHERE)
    },
    Behaviour {
        reply: Some(|_, _, request, responses| {
            if request["method"] == "ping" {
                results(responses, |result| *result = json!({ "pong": true }));
            }
        }),
        ..Behaviour::legacy("ping-result-pong", "the result of ping is not empty", EVERYWHERE)
    },
    Behaviour {
        serves_in_turn: true,
        also: &["client-serve-while-waiting", "client-one-answer-per-server-request", "client-ping-answered-early", "client-early-server-traffic"],
        ..Behaviour::legacy("requests-served-in-turn", "requests of the server wait until no own request is open", EVERYWHERE)
    },
    Behaviour {
        serves_in_turn: true,
        also: &["client-ping-answered-while-busy", "client-one-answer-per-server-request", "client-ping-answered-early", "client-early-server-traffic"],
        ..Behaviour::legacy("requests-wait-for-own-response", "requests of the server wait for the own response", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, _, heard| if heard["id"] == "early-after" { Heard::Nothing } else { Heard::Message }),
        ..Behaviour::legacy("requests-after-initialize-dropped", "requests right after initialize are dropped", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, scene, heard| {
            let early = scene.phase == Phase::Opening && heard["id"] == "early-before";
            if early { Heard::Nothing } else { Heard::Message }
        }),
        ..Behaviour::legacy("requests-before-initialize-dropped", "requests before the result of initialize are dropped", EVERYWHERE)
    },
    Behaviour {
        reply: Some(|_, scene, request, responses| {
            if request["method"] == "roots/list" && scene.own.get("roots").is_some() {
                responses[0] = message::error(&request["id"], -32601, "Method not found");
            }
        }),
        also: &["client-roots-list-fresh"],
        ..Behaviour::legacy("roots-without-handler", "roots are declared and not served", EVERYWHERE)
    },
    Behaviour {
        reply: Some(|_, scene, request, responses| {
            let result = match request["method"].as_str().unwrap_or_default() {
                "roots/list" if scene.own.get("roots").is_none() => json!({ "roots": [] }),
                "sampling/createMessage" if scene.own.get("sampling").is_none() => {
                    json!({ "role": "assistant", "content": { "type": "text", "text": "Hi" }, "model": "m" })
                }
                "elicitation/create" if scene.own.get("elicitation").is_none() => json!({ "action": "cancel" }),
                _ => return,
            };
            responses[0] = message::result(&request["id"], &result);
        }),
        also: &["client-roots-declared", "client-sampling-declared", "client-elicitation-declared"],
        ..Behaviour::legacy("undeclared-requests-served", "requests are served whose capability was not declared", EVERYWHERE)
    },
    Behaviour {
        reply: Some(|_, scene, request, responses| {
            if request["method"] == "roots/list" && scene.own.get("roots").is_none() {
                responses[0] = message::error(&request["id"], -32603, "Internal error");
            }
        }),
        ..Behaviour::legacy("roots-internal-error", "the error of a client without roots is -32603", EVERYWHERE)
    },
    Behaviour {
        reply: Some(|_, _, request, responses| {
            if request["id"] == "bad-sampling" || request["id"] == "bad-elicitation" {
                responses.clear();
            }
        }),
        ..Behaviour::legacy("bad-params-without-response", "a request with invalid params has no response", EVERYWHERE)
    },
    Behaviour {
        reply: Some(|_, _, request, responses| {
            if request["id"] == "bad-sampling" {
                let content = json!({ "type": "text", "text": "Hi" });
                let result = json!({ "role": "assistant", "content": content, "model": "m" });
                responses[0] = message::result(&request["id"], &result);
            }
        }),
        ..Behaviour::legacy("bad-params-accepted", "sampling without messages is served", EVERYWHERE)
    },
    // Requests that are given up.
    Behaviour {
        say: Some(|_, _, messages| {
            of_method(messages, "notifications/cancelled", |message| {
                message["params"]["requestId"] = json!(message["params"]["requestId"].to_string());
            });
        }),
        also: &["client-cancel-sent-on-abort", "client-timeout-cancels"],
        ..Behaviour::new("cancellation-by-text", "the id in a cancellation is a string", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            of_method(messages, "notifications/cancelled", |message| message["params"]["requestId"] = json!("progress-1"));
        }),
        also: &["client-cancel-sent-on-abort", "client-timeout-cancels"],
        ..Behaviour::new("cancellation-by-progress-token", "a cancellation names the progress token", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            of_method(messages, "notifications/cancelled", |message| rename(&mut message["params"], "requestId", "id"));
        }),
        also: &["client-cancel-own-open-request", "client-cancel-sent-on-abort", "client-timeout-cancels"],
        ..Behaviour::new("cancellation-with-id-instead", "a cancellation has `id` instead of `requestId`", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            of_method(messages, "notifications/cancelled", |message| {
                message["params"]["reason"] = json!({ "name": "TimeoutError" });
            });
        }),
        ..Behaviour::new("cancellation-reason-as-object", "the reason of a cancellation is an object", EVERYWHERE)
    },
    Behaviour {
        abort: Some(|_, _, _, abort| abort.notify = abort.notify && abort.timed_out),
        ..Behaviour::legacy("abort-without-cancellation", "a request that is aborted is not cancelled", EVERYWHERE)
    },
    Behaviour {
        abort: Some(|_, _, _, abort| abort.notify = abort.notify && !abort.timed_out),
        ..Behaviour::legacy("timeout-without-cancellation", "a request that timed out is not cancelled", EVERYWHERE)
    },
    Behaviour {
        abort: Some(|_, _, _, abort| abort.disconnect |= abort.timed_out),
        also: &["*"],
        ..Behaviour::new("timeout-disconnects", "the connection ends with a timeout", EVERYWHERE)
    },
    Behaviour {
        outcome: Some(|memory, action, outcome| {
            if action["do"] == "cancel" {
                memory.count("cancelled");
            }
            if memory.counts.contains_key("cancelled") && action["arguments"]["text"] == "last" {
                *outcome = Err(crate::act::report::Failure::invalid("the id is in use"));
            }
        }),
        also: &["client-late-response-ignored"],
        ..Behaviour::new("call-refused-after-cancellation", "a call after a cancellation fails", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            of_method(messages, "logging/setLevel", |message| message["params"]["level"] = json!("WARNING"));
        }),
        ..Behaviour::legacy("level-in-capitals", "the log level is in upper case", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| of_method(messages, "logging/setLevel", |message| message["params"]["level"] = json!(4))),
        ..Behaviour::legacy("level-as-number", "the log level is a number", EVERYWHERE)
    },
    Behaviour {
        unasked: Some(|_, _, moment| match moment {
            Moment::Tick => vec![json!({ "do": "ping", "force": true })],
            _ => Vec::new(),
        }),
        ..Behaviour::legacy("ping-every-200-ms", "a ping is sent every 200 ms", EVERYWHERE)
    },
    Behaviour {
        unasked: Some(|memory, _, moment| match moment {
            Moment::AfterAction if memory.first("loop") => {
                (0..25).map(|_| json!({ "do": "list", "of": "tools", "pages": 1 })).collect()
            }
            _ => Vec::new(),
        }),
        also: &["*"],
        ..Behaviour::new("list-in-a-loop", "a list is requested again and again", EVERYWHERE)
    },
    Behaviour {
        unasked: Some(|_, _, moment| match moment {
            Moment::Connected => vec![json!({ "do": "request", "method": "ping", "params": { "time": 1 }, "force": true })],
            _ => Vec::new(),
        }),
        ..Behaviour::legacy("ping-with-time", "a ping has the time in its params", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            if messages[0]["method"] == "notifications/initialized" {
                messages.push(message::notification("ping", &Value::Null));
            }
            requests(messages, |_| ());
        }),
        ..Behaviour::legacy("ping-as-notification", "ping is sent as a notification", EVERYWHERE)
    },
];
