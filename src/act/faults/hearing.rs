//! Faults in what the client makes of messages of the server.

use serde_json::{Value, json};

use crate::act::{
    faults::{
        behaviour::{Behaviour, EVERYWHERE},
        decisions::{Heard, Scene},
        memory::Memory,
        tools::{fail_call, fail_call_at, reject, requests},
    },
    message,
};

pub static HEARING: &[Behaviour] = &[
    Behaviour {
        hear: Some(|_, scene, heard| {
            if is_unknown_notification(heard) {
                fail_call(scene, heard);
            }
            Heard::Message
        }),
        ..Behaviour::new("unknown-notification-fails-call", "an unknown notification fails the open call", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, _, heard| {
            if !is_unknown_notification(heard) {
                return Heard::Message;
            }
            let error = json!({ "code": -32601, "message": "Method not found" });
            Heard::And(vec![json!({ "jsonrpc": "2.0", "id": null, "error": error })])
        }),
        also: &["client-modern-no-responses"],
        ..Behaviour::new("unknown-notification-answered", "an unknown notification gets an error", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, _, heard| {
            let odd = message::method(heard) == Some("notifications/progress")
                && heard["params"]["progressToken"] == "no-such-token";
            let error = json!({ "code": -32602, "message": "Unknown token" });
            if odd { Heard::And(vec![json!({ "jsonrpc": "2.0", "error": error })]) } else { Heard::Message }
        }),
        also: &["client-modern-no-responses"],
        ..Behaviour::new("progress-for-unknown-token-answered", "progress for an unknown token gets an error", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, scene, heard| {
            if message::is_response(heard) && heard["id"] == "never-sent" && heard.get("error").is_none() {
                fail_call(scene, heard);
            }
            Heard::Message
        }),
        ..Behaviour::new("unknown-response-fails-call", "a response with an unknown id fails the open call", EVERYWHERE)
    },
    Behaviour {
        correlate: Some(|_, scene, _, at| {
            if at.is_none() && scene.open.last().is_some_and(|(_, method)| method == "tools/call") {
                *at = Some(0);
            }
        }),
        also: &["client-duplicate-response-ignored", "client-error-without-id", "client-late-response-ignored"],
        ..Behaviour::new("unknown-response-ends-oldest", "a response with an unknown id ends the oldest request", EVERYWHERE)
    },
    Behaviour {
        hear: Some(second_response),
        ..Behaviour::new("second-response-ends-next-request", "a second response is kept for the next call", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, scene, heard| {
            let own = scene.open.iter().any(|(id, _)| message::same_id(id, &heard["id"]));
            if message::is_request(heard) && own {
                fail_call(scene, heard);
            }
            Heard::Message
        }),
        also: &["client-one-answer-per-server-request"],
        ..Behaviour::legacy("request-with-own-id-ends-call", "a request with the id of an open call ends it", EVERYWHERE)
    },
    Behaviour {
        correlate: Some(|_, scene, _, at| {
            if scene.open.iter().filter(|(_, method)| method.ends_with("/list")).count() > 1 {
                *at = Some(0);
            }
        }),
        also: &["client-pagination-cursor-stays-with-list"],
        ..Behaviour::new("responses-taken-in-order", "responses are taken in the order of the requests", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, _, heard| {
            if heard["error"]["code"].as_i64().is_some_and(|code| code > 0) {
                heard["result"] = heard["error"].clone();
                heard["error"] = Value::Null;
            }
            Heard::Message
        }),
        ..Behaviour::new("positive-code-taken-for-result", "an error with a positive code is taken for a result", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, _, heard| if heard["error"]["code"] == -1 { Heard::Nothing } else { Heard::Message }),
        ..Behaviour::new("odd-code-waited-for", "an error with the code -1 is not recognised", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, _, heard| {
            if heard["error"].get("data").is_some_and(|data| !data.is_object()) {
                heard["error"] = Value::Null;
                heard["result"] = json!(7);
            }
            Heard::Message
        }),
        also: &["client-subscribe-only-when-offered"],
        ..Behaviour::new("error-data-has-to-be-object", "an error is invalid if `data` is not an object", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|memory, _, heard| {
            let null = heard["error"].get("data") == Some(&Value::Null);
            if null && memory.first("null data") { Heard::Nothing } else { Heard::Message }
        }),
        ..Behaviour::new("error-without-data-dropped", "an error whose `data` is null is dropped", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, _, heard| {
            let odd = heard.get("error").is_some() && heard.get("id").is_none_or(Value::is_null);
            if odd { Heard::Disconnect } else { Heard::Message }
        }),
        also: &["*"],
        ..Behaviour::new("error-without-id-disconnects", "an error without an id ends the connection", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|memory, _, heard| {
            if *heard == json!(42) {
                memory.keep("confused", json!(true));
            }
            let loses = message::is_response(heard) && heard["id"] != "never-sent" && memory.kept("confused") == true;
            if loses {
                memory.keep("confused", Value::Null);
                return Heard::Nothing;
            }
            Heard::Message
        }),
        ..Behaviour::new("malformed-message-hangs-call", "after a malformed message the next response is lost", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, scene, heard| {
            fail_call_at(scene, heard, "notifications/progress", |params| params["progressToken"] == "no-such-token")
        }),
        ..Behaviour::new("unknown-progress-token-fails-call", "progress for an unknown token fails the open call", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, scene, heard| {
            fail_call_at(scene, heard, "notifications/progress", |params| params.get("total").is_none())
        }),
        ..Behaviour::new("progress-without-total-fails-call", "progress without `total` fails the open call", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, scene, heard| {
            fail_call_at(scene, heard, "notifications/message", |params| !params["data"].is_string() && params["logger"] != "reference")
        }),
        ..Behaviour::new("log-data-has-to-be-text", "a log message whose data are not a string fails the open call", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, scene, heard| {
            fail_call_at(scene, heard, "notifications/message", |params| params["level"] == "verbose")
        }),
        ..Behaviour::new("unknown-log-level-fails-call", "a log message of an unknown level fails the open call", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, scene, heard| {
            fail_call_at(scene, heard, "notifications/cancelled", |params| params.get("requestId").is_none())
        }),
        ..Behaviour::new("cancellation-without-id-fails-call", "a cancellation without an id fails the open call", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, scene, heard| {
            let open = scene.open.clone();
            fail_call_at(scene, heard, "notifications/cancelled", |params| {
                open.iter().any(|(id, method)| method == "tools/call" && message::same_id(id, &params["requestId"]))
            })
        }),
        ..Behaviour::new("server-cancellation-ends-own-request", "a cancellation of the server ends an own request", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|memory, _, heard| {
            if heard["id"] == "stray-1" {
                memory.keep("confused", json!(true));
            }
            let loses = message::is_response(heard) && memory.kept("confused") == true;
            if loses {
                memory.keep("confused", Value::Null);
                return Heard::Nothing;
            }
            Heard::Message
        }),
        ..Behaviour::modern("server-request-hangs-call", "after a request of the server the next response is lost", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, _, heard| answer(heard, "ping", &json!({ "result": {} }))),
        ..Behaviour::modern("modern-ping-answered", "a ping of a server of 2026-07-28 is answered", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, _, heard| {
            answer(heard, "roots/list", &json!({ "error": { "code": -32601, "message": "Method not found" } }))
        }),
        ..Behaviour::modern("modern-request-refused", "a request of a server of 2026-07-28 gets an error", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, _, heard| {
            let result = heard.get("result").is_some_and(|result| result.get("content").is_some());
            if result && heard["result"].get("resultType").is_none() {
                heard["result"] = Value::Null;
            }
            Heard::Message
        }),
        ..Behaviour::modern("result-type-required", "a result without `resultType` is invalid", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, _, heard| {
            if heard["result"]["resultType"] == "partial" {
                heard["result"]["resultType"] = json!("complete");
            }
            Heard::Message
        }),
        ..Behaviour::modern("unknown-result-type-taken", "a result of an unknown type is taken for complete", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, scene, heard| {
            let discovers = |result: &Value| result["capabilities"].get("telepathy").is_some();
            if heard.get("result").is_some_and(discovers) {
                heard["result"] = Value::Null;
            }
            let _ = scene;
            Heard::Message
        }),
        also: &["*"],
        ..Behaviour::new("unknown-capability-rejected", "an unknown capability of the server is an error", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, scene, heard| reject(scene, heard, "prompts/list", |result| result.get("x-vendor").is_some())),
        ..Behaviour::new("unknown-fields-rejected", "a list with unknown fields is invalid", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, scene, heard| {
            reject(scene, heard, "prompts/get", |result| {
                result["_meta"].get("io.modelcontextprotocol/unheardOf").is_some_and(|value| !value.is_string())
            })
        }),
        ..Behaviour::new("reserved-meta-has-to-be-text", "values of reserved keys have to be strings", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, scene, heard| {
            reject(scene, heard, "tools/list", |result| {
                let schemas = result["tools"].as_array().into_iter().flatten().map(|tool| &tool["inputSchema"]["$schema"]);
                schemas.into_iter().any(|dialect| dialect == "https://example.com/no-dialect")
            })
        }),
        ..Behaviour::new("unknown-dialect-rejects-list", "a list with a schema of an unknown dialect is invalid", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, _, heard| {
            let circular = heard["result"]["tools"].as_array().is_some_and(|tools| tools.iter().any(|tool| tool["name"] == "circular"));
            if circular { Heard::Nothing } else { Heard::Message }
        }),
        also: &["client-schema-2020-12"],
        ..Behaviour::modern("circular-schema-never-ends", "work on a circular schema has no end", EVERYWHERE)
    },
    Behaviour {
        hear_batch: Some(|_, _, _| Heard::Nothing),
        also: &["*"],
        ..Behaviour::legacy("batches-not-understood", "an array of the server is dropped", EVERYWHERE)
    },
    Behaviour {
        hear_batch: Some(|_, _, batch| {
            batch.truncate(1);
            Heard::Message
        }),
        also: &["client-one-answer-per-server-request"],
        ..Behaviour::legacy("batch-first-element-only", "of an array only the first message is handled", EVERYWHERE)
    },
    Behaviour {
        hear_batch: Some(|_, _, batch| {
            let at = batch.iter().position(|message| message["method"] == "server/does-not-exist");
            if let Some(at) = at {
                batch.truncate(at);
            }
            Heard::Message
        }),
        also: &["client-one-answer-per-server-request"],
        ..Behaviour::legacy("batch-ends-at-unknown-request", "an unknown request ends the work on an array", EVERYWHERE)
    },
    Behaviour {
        say: Some(|memory, _, messages| {
            requests(messages, |_| ());
            if messages.iter().any(|message| message["method"] == "notifications/cancelled") {
                memory.count("cancelled");
            }
        }),
        hear: Some(|memory, scene, heard| {
            let cancelled = memory.counts.get("cancelled").copied().unwrap_or_default() > 0;
            let late = message::is_response(heard) && !scene.open.iter().any(|(id, _)| message::same_id(id, &heard["id"]));
            if cancelled && late { Heard::Disconnect } else { Heard::Message }
        }),
        also: &["*"],
        ..Behaviour::new("late-response-disconnects", "a response after a cancellation ends the connection", EVERYWHERE)
    },
];

fn is_unknown_notification(heard: &Value) -> bool {
    let unknown = |method: &str| method == "notifications/does-not-exist" || method == "com.example/moved";
    heard.get("id").is_none() && message::method(heard).is_some_and(unknown)
}

fn answer(heard: &Value, method: &str, by: &Value) -> Heard {
    if message::method(heard) != Some(method) || heard.get("id").is_none() {
        return Heard::Message;
    }
    let mut response = by.clone();
    response["jsonrpc"] = json!("2.0");
    response["id"] = heard["id"].clone();
    Heard::Instead(vec![response])
}

/// Keeps what nobody waits for, and gives it to the next call.
fn second_response(memory: &mut Memory, scene: &Scene, heard: &mut Value) -> Heard {
    if heard.pointer("/result/content/0/text") == Some(&json!("second")) {
        memory.keep("second", heard["result"].clone());
        return Heard::Nothing;
    }
    let kept = memory.kept("second");
    let calls = scene.open.iter().any(|(id, method)| method == "tools/call" && message::same_id(id, &heard["id"]));
    if calls && !kept.is_null() && heard.get("result").is_some() {
        heard["result"] = kept;
        memory.keep("second", Value::Null);
    }
    Heard::Message
}
