//! Faults in what the client returns for roots, sampling and elicitation, by responses and inside of retries.

use serde_json::{Map, Value, json};

use crate::{
    act::{
        faults::{
            behaviour::{Behaviour, EVERYWHERE},
            decisions::{Moment, Scene},
            memory::Memory,
            tools::{of_method, remove},
        },
        message,
    },
    revision::Revision,
};

/// Changes the result of a method, given the request with its params.
type Change = fn(&Value, &mut Value);

fn in_reply(request: &Value, responses: &mut [Value], method: &str, change: Change) {
    if request["method"] == method {
        responses
            .iter_mut()
            .filter_map(|response| response.get_mut("result"))
            .for_each(|result| change(request, result));
    }
}

fn in_retry(result: &Value, params: &mut Map<String, Value>, method: &str, change: Change) {
    for (key, request) in result["inputRequests"].as_object().into_iter().flatten() {
        let response = params.get_mut("inputResponses").and_then(|responses| responses.get_mut(key));
        if let Some(response) = response.filter(|_| request["method"] == method) {
            change(request, response);
        }
    }
}

/// A fault in results, in the way of every revision.
macro_rules! results {
    ($name:literal, $about:literal, $method:literal, $change:expr $(, $field:ident: $value:expr)*) => {
        Behaviour {
            reply: Some(|_, _, request, responses| in_reply(request, responses, $method, $change)),
            input: Some(|_, _, result, params| in_retry(result, params, $method, $change)),
            $($field: $value,)*
            ..Behaviour::new($name, $about, EVERYWHERE)
        }
    };
}

/// A fault in responses to one request, by its id.
macro_rules! replies {
    ($name:literal, $about:literal, $id:literal, $change:expr $(, $field:ident: $value:expr)*) => {
        Behaviour {
            reply: Some(|_, _, request, responses| {
                if request["id"] == $id {
                    let change: fn(&Value, &mut Vec<Value>) = $change;
                    change(request, responses);
                }
            }),
            $($field: $value,)*
            ..Behaviour::legacy($name, $about, EVERYWHERE)
        }
    };
}

const ROOTS: &str = "roots/list";
const MODES: Option<Revision> = Some(Revision::V2025_11_25);
const FORMS: Option<Revision> = Some(Revision::V2025_06_18);

fn each_root(result: &mut Value, change: impl Fn(&mut Value)) {
    result["roots"].as_array_mut().into_iter().flatten().for_each(change);
}

fn each_use(result: &mut Value, change: impl Fn(&mut Value)) {
    let blocks = result["content"].as_array_mut().into_iter().flatten();
    blocks.filter(|block| block["type"] == "tool_use").for_each(change);
}

fn content(result: &mut Value) -> Option<&mut Map<String, Value>> {
    result.get_mut("content")?.as_object_mut()
}

fn error(request: &Value, code: i64) -> Value {
    message::error(&request["id"], code, "Failed")
}

fn said() -> Value {
    json!({ "role": "assistant", "content": { "type": "text", "text": "Hi" }, "model": "m", "stopReason": "endTurn" })
}

fn without_capability(_: &mut Memory, _: &Scene, messages: &mut Vec<Value>, name: &str) {
    of_method(messages, "initialize", |message| remove(&mut message["params"]["capabilities"], name));
}

pub static ANSWERS: &[Behaviour] = &[
    results!("roots-are-paths", "roots are paths instead of objects", "roots/list", |_, result| {
        each_root(result, |root| *root = json!("/work"));
    }),
    results!("root-name-null", "the name of a root is null", "roots/list", |_, result| {
        each_root(result, |root| root["name"] = Value::Null);
    }),
    results!("root-uri-is-path", "the URI of a root is a path", "roots/list", |_, result| {
        each_root(result, |root| root["uri"] = json!("/work/project"));
    }, also: &["client-roots-uri-valid", "client-roots-list-fresh"]),
    results!("root-uri-with-space", "spaces in URIs of roots are not encoded", "roots/list", |_, result| {
        each_root(result, |root| root["uri"] = json!("file:///work/my project"));
    }, also: &["client-roots-list-fresh"]),
    Behaviour {
        say: Some(|memory, scene, messages| without_capability(memory, scene, messages, "roots")),
        also: &["client-undeclared-request-refused"],
        ..Behaviour::legacy("roots-not-declared", "roots are served and not declared", EVERYWHERE)
    },
    Behaviour {
        say: Some(|memory, scene, messages| without_capability(memory, scene, messages, "sampling")),
        also: &["client-undeclared-request-refused"],
        ..Behaviour::legacy("sampling-not-declared", "sampling is served and not declared", EVERYWHERE)
    },
    Behaviour {
        since: FORMS,
        say: Some(|memory, scene, messages| without_capability(memory, scene, messages, "elicitation")),
        also: &["client-undeclared-request-refused"],
        ..Behaviour::legacy("elicitation-not-declared", "elicitation is served and not declared", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| messages.retain(|message| message["method"] != "notifications/roots/list_changed")),
        ..Behaviour::legacy("root-change-not-notified", "a change of roots is not notified", EVERYWHERE)
    },
    Behaviour {
        reply: Some(|memory, _, request, responses| {
            if request["method"] == ROOTS && responses[0].get("result").is_some() {
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
        also: &["*"],
        ..Behaviour::modern("capabilities-in-discover-only", "only server/discover declares capabilities", EVERYWHERE)
    },
    results!("sampling-without-model", "the result of sampling has no model", "sampling/createMessage", |_, result| {
        remove(result, "model");
    }),
    results!("sampling-content-as-text", "the content of sampling is a string", "sampling/createMessage", |_, result| {
        result["content"] = json!("Hi");
    }, also: &["client-sampling-tools-declared-used"]),
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
            crate::act::faults::decisions::Heard::Message
        }),
        also: &["client-sampling-tool-choice-none"],
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
        also: &["client-sampling-tools-undeclared", "client-sampling-tools-undeclared-modern"],
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
    results!("url-returned-in-content", "the URL is returned as content", "elicitation/create", |request, result| {
        if request["params"]["mode"] == "url" {
            result["content"] = json!({ "url": request["params"]["url"] });
        }
    }, since: MODES),
    replies!("elicitation-id-has-to-be-uuid", "an elicitation id that is not a UUID is rejected", "mode url odd id", |request, responses| {
        responses[0] = error(request, -32600);
    }, since: MODES),
    replies!("url-mode-declared-and-rejected", "URL mode is declared and rejected", "mode url", |request, responses| {
        responses[0] = error(request, -32602);
    }, since: MODES),
    replies!("elicitation-mode-required", "an elicitation without a mode is rejected", "mode missing", |request, responses| {
        responses[0] = error(request, -32602);
    }, since: MODES),
    Behaviour {
        since: MODES,
        reply: Some(|_, _, request, responses| {
            if request["params"]["mode"] == "url" && responses[0].get("error").is_some() {
                responses[0] = message::result(&request["id"], &json!({ "action": "accept" }));
            }
        }),
        hear: Some(|_, scene, heard| {
            if scene.modern
                && scene.own["elicitation"].get("url").is_none()
                && let Some(asked) = heard.pointer_mut("/result/inputRequests").and_then(Value::as_object_mut)
            {
                for request in asked.values_mut().filter(|request| request["params"]["mode"] == "url") {
                    request["params"] =
                        json!({ "message": "", "requestedSchema": { "type": "object", "properties": {} } });
                }
            }
            crate::act::faults::decisions::Heard::Message
        }),
        ..Behaviour::new("undeclared-mode-accepted", "a mode that was not declared is accepted", EVERYWHERE)
    },
    replies!("undeclared-mode-cancelled", "a mode that was not declared gets cancel", "mode url", |request, responses| {
        if responses[0].get("error").is_some() {
            responses[0] = message::result(&request["id"], &json!({ "action": "cancel" }));
        }
    }, since: MODES),
    replies!("unknown-mode-taken-for-form", "an unknown mode is taken for a form", "mode voice", |request, responses| {
        responses[0] = message::result(&request["id"], &json!({ "action": "accept", "content": { "name": "Ada" } }));
    }, since: MODES),
    results!("elicitation-action-reject", "the action for decline is reject", "elicitation/create", |_, result| {
        if result["action"] == "decline" {
            result["action"] = json!("reject");
        }
    }, since: FORMS),
    results!("elicitation-accepted-flag", "the result of elicitation has `accepted`", "elicitation/create", |_, result| {
        remove(result, "action");
        result["accepted"] = json!(true);
    }, since: FORMS),
    results!("content-with-decline", "content is sent with decline", "elicitation/create", |_, result| {
        if result["action"] != "accept" {
            result["content"] = json!({ "text": "half" });
        }
    }, since: FORMS),
    results!("content-nested", "content is nested", "elicitation/create", |_, result| {
        if let Some(content) = content(result).filter(|content| content.contains_key("name")) {
            content.insert("name".to_owned(), json!({ "first": "Ada" }));
        }
    }, since: FORMS),
    results!("empty-fields-null", "empty fields are null", "elicitation/create", |_, result| {
        if let Some(content) = content(result).filter(|content| content.contains_key("needed")) {
            content.insert("number".to_owned(), Value::Null);
        }
    }, since: FORMS),
    results!("empty-number-as-text", "an empty number is an empty string", "elicitation/create", |_, result| {
        if let Some(content) = content(result).filter(|content| content.contains_key("needed")) {
            content.insert("number".to_owned(), json!(""));
        }
    }, since: FORMS),
    results!("numbers-as-text", "numbers of a form are strings", "elicitation/create", |_, result| {
        if let Some(content) = content(result).filter(|content| content.contains_key("whole")) {
            content.insert("whole".to_owned(), json!("3"));
        }
    }, since: FORMS),
    results!("required-field-left-out", "a required field is left out", "elicitation/create", |_, result| {
        if let Some(content) = content(result) {
            content.shift_remove("day");
        }
    }, since: FORMS),
    results!("length-not-checked", "a text is longer than `maxLength`", "elicitation/create", |_, result| {
        if let Some(content) = content(result).filter(|content| content.contains_key("mail")) {
            content.insert("text".to_owned(), json!("much too long"));
        }
    }, since: FORMS),
    results!("choice-by-title", "the title of a choice is sent", "elicitation/create", |_, result| {
        if let Some(content) = content(result).filter(|content| content.contains_key("size")) {
            content.insert("size".to_owned(), json!("Small"));
        }
    }, since: FORMS),
    results!("choice-by-index", "the index of a choice is sent", "elicitation/create", |_, result| {
        if let Some(content) = content(result).filter(|content| content.contains_key("size")) {
            content.insert("size".to_owned(), json!(0));
        }
    }, since: FORMS),
    results!("several-choices-as-text", "several choices are one string", "elicitation/create", |_, result| {
        if let Some(content) = content(result).filter(|content| content.contains_key("several")) {
            content.insert("several".to_owned(), json!("x,y"));
        }
    }, since: MODES),
    results!("falsy-defaults-dropped", "the defaults 0 and false are dropped", "elicitation/create", |request, result| {
        if request["params"]["requestedSchema"]["properties"].get("flag").is_some()
            && let Some(content) = content(result)
        {
            content.shift_remove("number");
            content.shift_remove("flag");
        }
    }, since: MODES),
    results!("fields-added-to-content", "content has a field of its own", "elicitation/create", |_, result| {
        if let Some(content) = content(result) {
            content.insert("_submit".to_owned(), json!("ok"));
        }
    }, since: FORMS),
    replies!("forbidden-schema-without-response", "a nested form has no response", "form forbidden", |_, responses| {
        responses.clear();
    }, since: FORMS),
    replies!("unknown-keywords-rejected", "a form with unknown keywords is rejected", "form keywords", |request, responses| {
        responses[0] = error(request, -32602);
    }, since: FORMS),
    results!("dismissed-form-accepted", "a dismissed form is accepted", "elicitation/create", |_, result| {
        if result["action"] == "cancel" {
            *result = json!({ "action": "accept", "content": { "text": "as it is", "number": 0, "flag": false, "choice": "m" } });
        }
    }, since: FORMS),
    Behaviour {
        since: FORMS,
        unasked: Some(|memory, _, moment| match moment {
            Moment::AfterAction if memory.first("given up") => {
                vec![
                    json!({ "do": "call", "name": "slow", "arguments": { "steps": 20, "milliseconds": 50 }, "timeout": 200 }),
                ]
            }
            _ => Vec::new(),
        }),
        also: &["*"],
        ..Behaviour::legacy(
            "call-cancelled-while-user-thinks",
            "a call is cancelled while the user is asked",
            EVERYWHERE,
        )
    },
    Behaviour {
        say: Some(|memory, _, messages| {
            if messages.iter().any(|message| message["method"] == "tools/call") && memory.first("roots") {
                messages.insert(0, message::notification("notifications/roots/list_changed", &Value::Null));
            }
        }),
        since: FORMS,
        ..Behaviour::legacy("root-change-always-notified", "changes of roots are notified undeclared", EVERYWHERE)
    },
    replies!("task-for-sampling-undeclared", "sampling as a task gets a task undeclared", "sampling task", |request, responses| {
        responses[0] = message::result(&request["id"], &json!({ "task": { "taskId": "1", "status": "working" } }));
    }, since: MODES, also: &["client-sampling-result-shape", "client-sampling-role-assistant"]),
    replies!("tasks-listed-undeclared", "tasks are listed undeclared", "task list", |request, responses| {
        responses[0] = message::result(&request["id"], &json!({ "tasks": [] }));
    }, since: MODES),
    Behaviour {
        input: Some(|_, _, result, params| {
            in_retry(result, params, "sampling/createMessage", |_, result| {
                *result = json!({ "task": { "taskId": "1", "status": "working" } });
            });
        }),
        also: &["client-sampling-result-shape", "client-sampling-role-assistant"],
        ..Behaviour::modern("task-as-input-response", "an input response is a task", EVERYWHERE)
    },
    Behaviour {
        since: MODES,
        outcome: Some(|_, action, outcome| {
            if action["arguments"]["text"] == "page required" {
                *outcome = Err(crate::act::report::Failure::invalid("there is no elicitation"));
            }
        }),
        ..Behaviour::legacy("page-required-without-list-fails", "the error -32042 is not understood", EVERYWHERE)
    },
    Behaviour {
        since: MODES,
        retry: Some(|_, _, _, outcome, retry| {
            let code = outcome.as_ref().err().and_then(crate::act::report::Failure::code);
            retry.again |= code == Some(-32042) && retry.attempts < 5;
        }),
        ..Behaviour::new("page-required-retried", "a call with the error -32042 is sent again and again", EVERYWHERE)
    },
    replies!("url-accepted-when-complete", "accept of URL mode waits for the page", "mode url", |_, responses| {
        responses.clear();
    }, since: MODES, also: &["client-elicitation-undeclared-mode"]),
    Behaviour {
        since: MODES,
        hear: Some(|_, scene, heard| {
            crate::act::faults::tools::fail_call_at(scene, heard, "notifications/elicitation/complete", |_| true)
        }),
        ..Behaviour::legacy("unknown-completion-fails-call", "an unknown completion fails the open call", EVERYWHERE)
    },
    Behaviour {
        since: MODES,
        outcome: Some(|memory, action, outcome| {
            if action["arguments"]["text"] == "mode url" {
                memory.count("page");
            }
            if memory.counts.contains_key("page") && action["arguments"]["text"] == "last" {
                *outcome = Err(crate::act::report::Failure::new("timeout", "a page is open"));
            }
        }),
        ..Behaviour::legacy("blocked-until-completion", "calls wait for the page of an elicitation", EVERYWHERE)
    },
];
