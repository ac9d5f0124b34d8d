//! Faults in the handling of unusual messages.

use serde_json::{Value, json};

use super::edits::{answers_open, is, is_unknown, strange_token};
use crate::reference::client::{
    faults::{
        behaviour::{Behaviour, EVERYWHERE, code_of},
        decisions::Heard,
    },
    message,
};

pub static FAULTS: &[Behaviour] = &[
    Behaviour {
        hear: Some(|_, _, message| if is_unknown(message) { Heard::Disconnect } else { Heard::Message }),
        ..everywhere("unknown-notification-disconnects", "an unknown notification ends the connection")
    },
    Behaviour {
        hear: Some(|_, _, message| if is_unknown(message) { Heard::Fail } else { Heard::Message }),
        ..everywhere("unknown-notification-fails-call", "an unknown notification fails the open requests")
    },
    Behaviour {
        hear: Some(|_, _, message| if is_unknown(message) { Heard::And(vec![refusal()]) } else { Heard::Message }),
        ..everywhere("unknown-notification-answered", "an unknown notification gets an error")
    },
    Behaviour {
        hear: Some(|_, _, message| if strange_token(message) { Heard::And(vec![refusal()]) } else { Heard::Message }),
        ..everywhere("progress-for-unknown-token-answered", "progress for an unknown token gets an error")
    },
    Behaviour {
        hear: Some(|_, _, message| if strange_token(message) { Heard::Fail } else { Heard::Message }),
        ..everywhere("unknown-progress-token-fails-call", "progress for an unknown token fails the open requests")
    },
    Behaviour {
        hear: Some(|_, _, message| {
            let lacks = is(message, "notifications/progress") && message["params"].get("total").is_none();
            if lacks { Heard::Fail } else { Heard::Message }
        }),
        ..everywhere("progress-without-total-fails-call", "progress without a total fails the open requests")
    },
    Behaviour {
        hear: Some(|_, _, message| {
            let odd = is(message, "notifications/message") && !message["params"]["data"].is_string();
            if odd { Heard::Fail } else { Heard::Message }
        }),
        ..everywhere("log-data-has-to-be-text", "log messages with other data than texts fail the open requests")
    },
    Behaviour {
        hear: Some(|_, _, message| {
            let level = message["params"]["level"].as_str().unwrap_or_default();
            let odd = is(message, "notifications/message") && !LEVELS.contains(&level);
            if odd { Heard::Fail } else { Heard::Message }
        }),
        ..everywhere("unknown-log-level-fails-call", "log messages of an unknown level fail the open requests")
    },
    Behaviour {
        hear: Some(|_, _, message| {
            let id = &message["params"]["requestId"];
            let odd = is(message, "notifications/cancelled") && !id.is_string() && !id.is_number();
            if odd { Heard::Fail } else { Heard::Message }
        }),
        ..everywhere("cancellation-without-id-fails-call", "a cancellation without an id fails the open requests")
    },
    Behaviour {
        hear: Some(|_, scene, message| {
            let id = message["params"]["requestId"].clone();
            let own = is(message, "notifications/cancelled") && scene.open.iter().any(|(open, _)| *open == id);
            if own {
                *message = message::error(&id, -32800, "Request cancelled");
            }
            Heard::Message
        }),
        ..everywhere(
            "server-cancellation-ends-own-request",
            "a cancellation of the server ends a request of the client",
        )
    },
    Behaviour {
        hear: Some(|_, scene, message| {
            let stray = message::is_response(message) && !answers_open(scene, message);
            if stray && message.get("id").is_some_and(|id| !id.is_null()) { Heard::Fail } else { Heard::Message }
        }),
        ..everywhere("unknown-response-fails-call", "a response to no request fails the open requests")
    },
    Behaviour {
        correlate: Some(|_, scene, _, at| {
            if at.is_none() && !scene.open.is_empty() {
                *at = Some(0);
            }
        }),
        ..everywhere("unknown-response-ends-oldest", "a response to no request ends the oldest request")
    },
    Behaviour {
        correlate: Some(|_, scene, _, at| {
            if !scene.open.is_empty() {
                *at = Some(0);
            }
        }),
        ..everywhere("responses-taken-in-order", "responses end requests in the order in which these were sent")
    },
    Behaviour {
        hear: Some(|memory, scene, message| {
            if message.get("result").is_some() && !answers_open(scene, message) {
                memory.held.push(message["result"].clone());
                return Heard::Nothing;
            }
            if let Some(result) = memory.held.pop().filter(|_| message.get("result").is_some()) {
                message["result"] = result;
            }
            Heard::Message
        }),
        ..everywhere("second-response-ends-next-request", "a second response is taken for that of the next request")
    },
    Behaviour {
        hear: Some(|_, scene, message| {
            let id = message["id"].clone();
            if message::is_request(message) && scene.open.iter().any(|(open, _)| message::same_id(open, &id)) {
                *message = message::result(&id, &json!({}));
            }
            Heard::Message
        }),
        ..everywhere(
            "request-with-own-id-ends-call",
            "a request with the id of an open request is taken for its response",
        )
    },
    Behaviour {
        hear: Some(|_, _, message| {
            if message["error"]["code"].as_i64().is_some_and(|code| code > 0) {
                *message = message::result(&message["id"], &json!({}));
            }
            Heard::Message
        }),
        ..everywhere("positive-code-taken-for-result", "an error with a positive code is taken for a result")
    },
    Behaviour {
        hear: Some(|_, _, message| {
            let odd = message["error"]["code"].as_i64().is_some_and(|code| !(-32768..=-32000).contains(&code));
            if odd { Heard::Nothing } else { Heard::Message }
        }),
        ..everywhere("odd-code-waited-for", "an error with another code than those of JSON-RPC is dropped")
    },
    Behaviour {
        hear: Some(|_, _, message| {
            let data = message.get("error").and_then(|error| error.get("data"));
            if data.is_some_and(|data| !data.is_object()) { Heard::Disconnect } else { Heard::Message }
        }),
        ..everywhere("error-data-has-to-be-object", "an error with other data than an object ends the connection")
    },
    Behaviour {
        hear: Some(|_, scene, message| {
            let bare = message.get("error").is_some_and(|error| error.get("data").is_none());
            // A client that already exits at the probe proves nothing.
            if bare && scene.revision.is_some() { Heard::Nothing } else { Heard::Message }
        }),
        ..everywhere("error-without-data-dropped", "an error without data is dropped")
    },
    Behaviour {
        hear: Some(|_, _, message| {
            let without = message.get("error").is_some() && message.get("id").is_none_or(Value::is_null);
            if without { Heard::Disconnect } else { Heard::Message }
        }),
        ..everywhere("error-without-id-disconnects", "an error without an id ends the connection")
    },
    Behaviour {
        noise: Some(|_, _, _| Heard::Hang),
        hear: Some(|_, _, message| {
            let parts = ["method", "result", "error"].iter().filter(|part| message.get(part).is_some()).count();
            if parts == 1 && message["jsonrpc"] == "2.0" { Heard::Message } else { Heard::Hang }
        }),
        ..everywhere("malformed-message-hangs-call", "after a malformed message every request hangs")
    },
    Behaviour {
        hear: Some(|_, _, message| if message::is_request(message) { Heard::Hang } else { Heard::Message }),
        ..modern("server-request-hangs-call", "after a request of the server every request hangs")
    },
    Behaviour {
        hear: Some(|_, scene, message| {
            let answer = is(message, "ping") && scene.modern;
            if answer { Heard::Instead(vec![message::result(&message["id"], &json!({}))]) } else { Heard::Message }
        }),
        ..modern("modern-ping-answered", "ping gets a response in a stateless revision")
    },
    Behaviour {
        hear: Some(|_, scene, message| {
            if message::is_request(message) && scene.modern {
                let error = message::error(&message["id"], message::METHOD_NOT_FOUND, "Method not found");
                return Heard::Instead(vec![error]);
            }
            Heard::Message
        }),
        ..modern("modern-request-refused", "requests of the server get errors in a stateless revision")
    },
    Behaviour {
        retry: Some(|_, _, _, outcome, retry| {
            retry.again |= code_of(outcome).is_some_and(|code| (-32019..=-32000).contains(&code)) && retry.attempts < 3;
        }),
        ..modern("old-code-retried", "a request is repeated after a code that drafts gave a meaning")
    },
    Behaviour {
        retry: Some(|_, _, _, outcome, retry| {
            retry.again |= code_of(outcome) == Some(message::MISSING_CAPABILITY) && retry.attempts < 20;
        }),
        ..modern("missing-capability-retried", "a request is repeated though a capability is missing")
    },
    Behaviour {
        hear: Some(|_, scene, message| {
            if scene.revision.is_some()
                && message["result"].is_object()
                && message["result"].get("resultType").is_none()
            {
                message["result"]["resultType"] = json!("missing");
            }
            Heard::Message
        }),
        ..modern("result-type-required", "a result without `resultType` is invalid")
    },
    Behaviour {
        hear: Some(|_, _, message| {
            let kind = message.pointer("/result/resultType").and_then(Value::as_str);
            if kind.is_some_and(|kind| kind != "complete" && kind != "input_required") {
                message["result"]["resultType"] = json!("complete");
            }
            Heard::Message
        }),
        ..modern("unknown-result-type-taken", "a result with an unknown `resultType` counts as complete")
    },
    Behaviour {
        hear: Some(|_, _, message| {
            let odd = |(key, value): (&String, &Value)| {
                key.starts_with("io.modelcontextprotocol/") && !key.ends_with("serverInfo") && !value.is_string()
            };
            let meta = message.pointer("/result/_meta").or_else(|| message.pointer("/params/_meta"));
            let fails = meta.and_then(Value::as_object).is_some_and(|meta| meta.iter().any(odd));
            if fails { Heard::Fail } else { Heard::Message }
        }),
        ..everywhere("reserved-meta-has-to-be-text", "values of reserved keys in `_meta` have to be texts")
    },
    Behaviour {
        hear: Some(|_, _, message| {
            let odd = |schema: &Value| {
                schema
                    .get("$schema")
                    .and_then(Value::as_str)
                    .is_some_and(|dialect| !dialect.contains("json-schema.org"))
            };
            if any_schema(message, odd) { Heard::Fail } else { Heard::Message }
        }),
        ..everywhere("unknown-dialect-rejects-list", "one tool with an unknown schema dialect fails the list")
    },
    Behaviour {
        hear: Some(|_, _, message| {
            let circular = |schema: &Value| schema.to_string().contains("\"$ref\":\"#");
            if any_schema(message, circular) { Heard::Hang } else { Heard::Message }
        }),
        ..everywhere("circular-schema-never-ends", "a schema that refers to itself is followed without end")
    },
];

const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

const fn everywhere(name: &'static str, about: &'static str) -> Behaviour {
    Behaviour::new(name, about, EVERYWHERE)
}

const fn modern(name: &'static str, about: &'static str) -> Behaviour {
    Behaviour::modern(name, about, EVERYWHERE)
}

fn refusal() -> Value {
    message::error(&Value::Null, message::METHOD_NOT_FOUND, "Method not found")
}

fn any_schema(message: &Value, odd: impl Fn(&Value) -> bool) -> bool {
    let tools = message["result"]["tools"].as_array();
    tools.is_some_and(|tools| tools.iter().any(|tool| odd(&tool["inputSchema"]) || odd(&tool["outputSchema"])))
}
