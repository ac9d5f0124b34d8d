//! Faults in responses to requests of the server.

use std::time::Duration;

use serde_json::{Value, json};

use super::edits::{is, remove};
use crate::reference::client::{
    faults::{
        behaviour::{Behaviour, EVERYWHERE},
        decisions::{Heard, Phase},
    },
    message,
};

pub static FAULTS: &[Behaviour] = &[
    Behaviour {
        reply: Some(|_, _, request, responses| {
            if is(request, "ping") {
                responses.push(responses[0].clone());
            }
        }),
        ..legacy("ping-answered-twice", "a ping of the server gets two responses")
    },
    Behaviour {
        reply: Some(|memory, _, _, responses| {
            if !memory.first("request") {
                responses.clear();
            }
        }),
        ..legacy("first-request-only-answered", "only the first request of the server gets a response")
    },
    Behaviour {
        reply: Some(|_, _, _, responses| {
            for response in responses {
                if let Some(number) = response["id"].as_str().and_then(|id| id.parse::<i64>().ok()) {
                    response["id"] = json!(number);
                }
            }
        }),
        ..legacy("string-ids-become-numbers", "ids that are strings of digits come back as numbers")
    },
    Behaviour {
        reply: Some(|memory, _, _, responses| {
            for response in responses {
                response["id"] = json!(10_000 + memory.count("response"));
            }
        }),
        ..legacy("response-has-own-id", "responses have ids of the client")
    },
    Behaviour {
        reply: Some(|_, _, request, responses| {
            if request["id"] == 0 || request["id"] == "" {
                responses.clear();
            }
        }),
        ..legacy("falsy-ids-dropped", "requests with the id 0 or an empty id get no response")
    },
    Behaviour {
        reply: Some(|_, _, _, responses| {
            for response in responses.iter_mut().filter(|response| response.get("result").is_some()) {
                response["error"] = Value::Null;
            }
        }),
        ..legacy("error-null-beside-result", "responses with a result have a null error")
    },
    Behaviour {
        reply: Some(|_, _, _, responses| {
            for response in responses.iter_mut().filter(|response| response["result"] == json!({})) {
                remove(response, "result");
            }
        }),
        ..legacy("empty-result-left-out", "an empty result is left out")
    },
    Behaviour {
        reply: Some(|_, _, request, responses| {
            for response in responses.iter_mut().filter(|_| is(request, "ping")) {
                response["result"] = json!(true);
            }
        }),
        ..legacy("ping-result-true", "the result of ping is true")
    },
    Behaviour {
        reply: Some(|_, _, request, responses| {
            for response in responses.iter_mut().filter(|_| is(request, "ping")) {
                response["result"] = Value::Null;
            }
        }),
        ..legacy("ping-result-null", "the result of ping is null")
    },
    Behaviour {
        reply: Some(|_, _, request, responses| {
            for response in responses.iter_mut().filter(|_| is(request, "ping")) {
                response["result"] = json!({ "pong": true });
            }
        }),
        ..legacy("ping-result-pong", "the result of ping has a field")
    },
    Behaviour {
        reply: Some(|_, _, request, responses| {
            for response in responses.iter_mut().filter(|_| is(request, "ping")) {
                *response = message::error(&response["id"], message::METHOD_NOT_FOUND, "Method not found");
            }
        }),
        ..legacy("ping-unknown", "ping is an unknown method")
    },
    Behaviour {
        reply: Some(|_, _, _, responses| {
            for error in responses.iter_mut().filter_map(|response| response.get_mut("error")) {
                error["code"] = json!("METHOD_NOT_FOUND");
            }
        }),
        ..legacy("error-code-as-text", "the code of an error is a string")
    },
    Behaviour {
        reply: Some(|_, _, _, responses| {
            for error in responses.iter_mut().filter_map(|response| response.get_mut("error")) {
                remove(error, "message");
            }
        }),
        ..legacy("error-without-message", "errors have no message")
    },
    Behaviour {
        reply: Some(|_, _, _, responses| {
            for error in responses.iter_mut().filter_map(|response| response.get_mut("error")) {
                *error = json!("Method not found");
            }
        }),
        ..legacy("error-as-text", "errors are strings")
    },
    Behaviour {
        reply: Some(|_, _, _, responses| {
            for response in responses.iter_mut().filter(|response| response["error"]["code"] == METHOD) {
                response["error"]["code"] = json!(-32603);
            }
        }),
        ..legacy("unknown-request-internal-error", "an unknown method is an internal error")
    },
    Behaviour {
        reply: Some(|_, _, _, responses| {
            for response in responses.iter_mut().filter(|response| response["error"]["code"] == METHOD) {
                response["error"]["code"] = json!(-32602);
            }
        }),
        ..legacy("unknown-request-invalid-params", "an unknown method is a matter of invalid params")
    },
    Behaviour {
        reply: Some(|_, _, _, responses| {
            for response in responses.iter_mut().filter(|response| response["error"]["code"] == METHOD) {
                *response = message::result(&response["id"], &json!({}));
            }
        }),
        ..legacy("unknown-request-gets-result", "an unknown request gets an empty result")
    },
    Behaviour {
        reply: Some(|_, _, _, responses| responses.retain(|response| response["error"]["code"] != METHOD)),
        ..legacy("unknown-request-dropped", "an unknown request gets no response")
    },
    Behaviour {
        reply: Some(|_, _, _, responses| responses.retain(|response| response["error"]["code"] != PARAMS)),
        ..legacy("bad-params-without-response", "a request with invalid params gets no response")
    },
    Behaviour {
        reply: Some(|_, _, request, responses| serve_anyway(request, responses, PARAMS)),
        ..legacy("bad-params-accepted", "a request with invalid params gets a result")
    },
    Behaviour {
        reply: Some(|_, _, request, responses| serve_anyway(request, responses, METHOD)),
        ..legacy("undeclared-requests-served", "requests of undeclared capabilities get results")
    },
    Behaviour {
        reply: Some(|_, _, request, responses| {
            if is(request, "roots/list") {
                *responses = vec![message::error(&request["id"], message::METHOD_NOT_FOUND, "Method not found")];
            }
        }),
        ..legacy("roots-without-handler", "roots are declared, and roots/list is an unknown method")
    },
    Behaviour {
        reply_delay: Some(|_, method| if method == "ping" { Duration::from_secs(7) } else { Duration::ZERO }),
        ..legacy("ping-response-late", "ping gets its response after seven seconds")
    },
    Behaviour {
        serves_in_turn: true,
        ..legacy("requests-served-in-turn", "requests of the server wait until no own request is open")
    },
    Behaviour {
        hear: Some(|_, scene, message| {
            let waiting = scene.open.iter().any(|(_, method)| method == "initialize");
            drop_if(message::is_request(message) && waiting)
        }),
        ..legacy("requests-before-initialize-dropped", "requests before the response to initialize are dropped")
    },
    Behaviour {
        hear: Some(|_, scene, message| {
            let waiting = scene.open.iter().any(|(_, method)| method == "initialize");
            drop_if(message::is_request(message) && !waiting && scene.phase != Phase::Open)
        }),
        ..legacy("requests-after-initialize-dropped", "requests before notifications/initialized are dropped")
    },
    Behaviour {
        hear: Some(|_, _, message| drop_if(is(message, "notifications/cancelled"))),
        ..legacy("server-cancellation-not-heard", "requests that the server cancelled get a response")
    },
];

const METHOD: i64 = message::METHOD_NOT_FOUND;
const PARAMS: i64 = message::INVALID_PARAMS;

const fn legacy(name: &'static str, about: &'static str) -> Behaviour {
    Behaviour::legacy(name, about, EVERYWHERE)
}

fn drop_if(dropped: bool) -> Heard {
    if dropped { Heard::Nothing } else { Heard::Message }
}

/// A result in place of an error.
fn serve_anyway(request: &Value, responses: &mut [Value], code: i64) {
    let result = match message::method(request).unwrap_or_default() {
        "roots/list" => json!({ "roots": [] }),
        "elicitation/create" => json!({ "action": "accept", "content": {} }),
        "sampling/createMessage" => {
            json!({ "role": "assistant", "content": { "type": "text", "text": "" }, "model": "reference-model" })
        }
        _ => return,
    };
    for response in responses.iter_mut().filter(|response| response["error"]["code"] == code) {
        *response = message::result(&request["id"], &result);
    }
}
