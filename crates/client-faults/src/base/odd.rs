//! Faults in the handling of unusual messages.

use serde_json::{Value, json};

use super::edits::{answers_open, is};
use conform_reference_client::{
    behaviour::{Behaviour, EVERYWHERE, code_of, decisions::Heard},
    message,
};

pub static FAULTS: &[Behaviour] = &[
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
        hear: Some(|_, scene, message| {
            let bare = message.get("error").is_some_and(|error| error.get("data").is_none());
            // A client that already exits at the probe proves nothing.
            if bare && scene.revision.is_some() { Heard::Nothing } else { Heard::Message }
        }),
        ..everywhere("error-without-data-dropped", "an error without data is dropped")
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

const fn everywhere(name: &'static str, about: &'static str) -> Behaviour {
    Behaviour::new(name, about, EVERYWHERE)
}

const fn modern(name: &'static str, about: &'static str) -> Behaviour {
    Behaviour::modern(name, about, EVERYWHERE)
}

fn any_schema(message: &Value, odd: impl Fn(&Value) -> bool) -> bool {
    let tools = message["result"]["tools"].as_array();
    tools.is_some_and(|tools| tools.iter().any(|tool| odd(&tool["inputSchema"]) || odd(&tool["outputSchema"])))
}
