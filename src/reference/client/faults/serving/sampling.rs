//! Faults in roots and in the results of sampling.

use serde_json::{Value, json};

use super::edits::{FORMS, MODES, each_root, each_use, error, in_reply, in_retry, said, without_capability};
use crate::{
    reference::client::{
        faults::{
            behaviour::{Behaviour, EVERYWHERE},
            decisions::Heard,
            tools::remove,
        },
        message,
    },
    revision::Revision,
};

pub static FAULTS: &[Behaviour] = &[
    results!("roots-are-paths", "roots are paths instead of objects", "roots/list", |_, result| {
        each_root(result, |root| *root = json!("/work"));
    }),
    results!("root-name-null", "the name of a root is null", "roots/list", |_, result| {
        each_root(result, |root| root["name"] = Value::Null);
    }),
    results!("root-uri-is-path", "the URI of a root is a path", "roots/list", |_, result| {
        each_root(result, |root| root["uri"] = json!("/work/project"));
    }),
    results!("root-uri-with-space", "spaces in URIs of roots are not encoded", "roots/list", |_, result| {
        each_root(result, |root| root["uri"] = json!("file:///work/my project"));
    }),
    Behaviour {
        say: Some(|memory, scene, messages| without_capability(memory, scene, messages, "roots")),
        ..Behaviour::legacy("roots-not-declared", "roots are served and not declared", EVERYWHERE)
    },
    Behaviour {
        say: Some(|memory, scene, messages| without_capability(memory, scene, messages, "sampling")),
        ..Behaviour::legacy("sampling-not-declared", "sampling is served and not declared", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| messages.retain(|message| message["method"] != "notifications/roots/list_changed")),
        ..Behaviour::legacy("root-change-not-notified", "a change of roots is not notified", EVERYWHERE)
    },
    Behaviour {
        reply: Some(|memory, _, request, responses| {
            if request["method"] == "roots/list" && responses[0].get("result").is_some() {
                if memory.kept("roots").is_null() {
                    memory.keep("roots", responses[0]["result"].clone());
                }
                responses[0]["result"] = memory.kept("roots");
            }
        }),
        ..Behaviour::legacy("roots-kept-from-start", "the list of roots is the one of the start", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            for message in messages.iter_mut().filter(|message| message["method"] == "tools/call") {
                message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
            }
        }),
        ..Behaviour::modern("capabilities-in-discover-only", "only server/discover declares capabilities", EVERYWHERE)
    },
    results!("sampling-without-model", "the result of sampling has no model", "sampling/createMessage", |_, result| {
        remove(result, "model");
    }),
    results!(
        "sampling-content-as-text",
        "the content of sampling is a string",
        "sampling/createMessage",
        |_, result| {
            result["content"] = json!("Hi");
        }
    ),
    results!(
        "sampling-in-shape-of-provider",
        "the result of sampling has choices",
        "sampling/createMessage",
        |_, result| {
            *result = json!({ "choices": [{ "message": { "content": "Hi" } }] });
        }
    ),
    results!("sampling-role-copied", "the role of the result is user", "sampling/createMessage", |_, result| {
        result["role"] = json!("user");
    }),
    results!("sampling-content-always-array", "the content of sampling is an array", "sampling/createMessage", |_, result| {
        if !result["content"].is_array() {
            result["content"] = json!([result["content"]]);
        }
    }, until: Some(Revision::V2025_06_18)),
    results!(
        "sampling-type-of-provider",
        "the type of content is output_text",
        "sampling/createMessage",
        |_, result| {
            if result["content"]["type"] == "text" {
                result["content"]["type"] = json!("output_text");
            }
        }
    ),
    replies!(
        "sampling-image-without-response",
        "sampling with an image has no response",
        "sampling image",
        |_, responses| {
            responses.clear();
        }
    ),
    replies!(
        "sampling-context-without-response",
        "sampling with a context has no response",
        "sampling context",
        |_, responses| {
            responses.clear();
        }
    ),
    Behaviour {
        since: MODES,
        reply: Some(|_, _, request, responses| {
            if request["id"] == "sampling tools" || request["id"] == "sampling tool choice" {
                responses[0] = message::result(&request["id"], &said());
            }
        }),
        hear: Some(|_, scene, heard| {
            if scene.modern
                && let Some(asked) = heard.pointer_mut("/result/inputRequests").and_then(Value::as_object_mut)
            {
                for request in asked.values_mut().filter(|request| request["method"] == "sampling/createMessage") {
                    remove(&mut request["params"], "tools");
                    remove(&mut request["params"], "toolChoice");
                }
            }
            Heard::Message
        }),
        ..Behaviour::new("undeclared-tools-dropped", "tools in sampling are dropped", EVERYWHERE)
    },
    Behaviour {
        input: Some(|_, _, result, params| {
            in_retry(result, params, "sampling/createMessage", |_, result| {
                result["content"] = json!({ "type": "text", "text": "word ".repeat(100) });
            });
        }),
        ..Behaviour::modern("max-tokens-ignored", "the text is longer than `maxTokens`", EVERYWHERE)
    },
    Behaviour {
        since: MODES,
        say: Some(|_, _, messages| {
            for message in messages.iter_mut() {
                let places = [
                    "/params/capabilities/sampling",
                    "/params/_meta/io.modelcontextprotocol~1clientCapabilities/sampling",
                ];
                for place in places {
                    if let Some(sampling) = message.pointer_mut(place) {
                        remove(sampling, "tools");
                    }
                }
            }
        }),
        ..Behaviour::new("sampling-tools-not-declared", "tools are used without `sampling.tools`", EVERYWHERE)
    },
    results!("tool-input-as-text", "the input of a tool use is a string", "sampling/createMessage", |_, result| {
        each_use(result, |block| block["input"] = json!(block["input"].to_string()));
    }, since: MODES),
    results!("tool-use-without-id", "a tool use has no id", "sampling/createMessage", |_, result| {
        each_use(result, |block| remove(block, "id"));
    }, since: MODES),
    results!("tool-name-with-prefix", "names of tools have a prefix", "sampling/createMessage", |_, result| {
        each_use(result, |block| block["name"] = json!("server__look"));
    }, since: MODES),
    results!("tool-choice-ignored", "a tool is used although the choice is none", "sampling/createMessage", |request, result| {
        if request["params"]["toolChoice"]["mode"] == "none" {
            result["content"] = json!([{ "type": "tool_use", "id": "1", "name": "look", "input": {} }]);
            result["stopReason"] = json!("toolUse");
        }
    }, since: MODES),
    results!("stop-reason-of-provider", "the stop reason is that of the provider", "sampling/createMessage", |_, result| {
        if result["stopReason"] == "toolUse" {
            result["stopReason"] = json!("tool_calls");
        }
    }, since: MODES),
    replies!("history-not-checked", "a tool use without a result is accepted", "sampling result missing", |request, responses| {
        responses[0] = message::result(&request["id"], &said());
    }, since: MODES),
    replies!("mixed-results-accepted", "tool results beside other content are accepted", "sampling result mixed", |request, responses| {
        responses[0] = message::result(&request["id"], &said());
    }, since: MODES),
    replies!("results-in-other-order-rejected", "tool results in another order are rejected", "sampling results parallel", |request, responses| {
        responses[0] = error(request, -32602);
    }, since: MODES),
    replies!(
        "rejected-sampling-internal-error",
        "rejected sampling gets -32603",
        "sampling text",
        |request, responses| {
            if responses[0]["error"]["code"] == -1 {
                responses[0] = error(request, -32603);
            }
        }
    ),
    replies!(
        "rejected-sampling-empty-message",
        "rejected sampling gets an empty message",
        "sampling text",
        |request, responses| {
            if responses[0]["error"]["code"] == -1 {
                responses[0] = message::result(&request["id"], &said());
            }
        }
    ),
    Behaviour {
        say: Some(|memory, _, messages| {
            if messages.iter().any(|message| message["method"] == "tools/call") && memory.first("roots") {
                messages.insert(0, message::notification("notifications/roots/list_changed", &Value::Null));
            }
        }),
        since: FORMS,
        ..Behaviour::legacy("root-change-always-notified", "changes of roots are notified undeclared", EVERYWHERE)
    },
];
