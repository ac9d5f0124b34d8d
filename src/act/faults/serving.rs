//! Faults in roots, sampling, elicitation and whatever else the client does for a server.

use serde_json::json;

use crate::act::{
    faults::behaviour::{Behaviour, EVERYWHERE},
    message,
};

pub static SERVING: &[Behaviour] = &[
    Behaviour {
        reply: Some(|_, _, request, responses| {
            if message::method(request) == Some("roots/list") {
                for response in responses {
                    if let Some(roots) = response.pointer_mut("/result/roots") {
                        response["result"] = roots.take();
                    }
                }
            }
        }),
        ..Behaviour::legacy("roots-as-array", "the result of `roots/list` is an array", EVERYWHERE)
    },
    Behaviour {
        input: Some(|_, _, result, params| {
            for (key, request) in result["inputRequests"].as_object().into_iter().flatten() {
                if request["method"] == "sampling/createMessage" {
                    params["inputResponses"][key] = json!({ "error": { "code": -1, "message": "User rejected" } });
                }
            }
        }),
        ..Behaviour::modern(
            "sampling-error-as-response",
            "an input response for sampling is an error object",
            EVERYWHERE,
        )
    },
];
