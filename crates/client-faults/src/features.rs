//! Faults in the use of tools and prompts.

use serde_json::{Value, json};

use crate::simple::{outcome, page, params, reject, tools};
use conform_model::revision::Revision;
use conform_reference_client::{
    behaviour::{
        Behaviour, EVERYWHERE, HTTP, code_of,
        decisions::{Heard, Moment},
        memory::Memory,
    },
    report::Outcome,
};

/// The types of content that the fault knows.
const KNOWN: [&str; 5] = ["text", "image", "audio", "resource_link", "resource"];

pub static FEATURES: &[Behaviour] = &[
    page("tools-first-page-only", "tools have one page", |_, _, pages, next| {
        if pages.method == "tools/list" {
            *next = None;
        }
    }),
    page("prompts-first-page-only", "prompts have one page", |_, _, pages, next| {
        if pages.method == "prompts/list" {
            *next = None;
        }
    }),
    page("short-page-taken-for-last", "a page that is shorter than the first is the last", |memory, _, pages, next| {
        if pages.requests == 1 {
            memory.keep("page", json!(pages.on_page));
        }
        if pages.method == "tools/list" && json!(pages.on_page).as_u64() < memory.kept("page").as_u64() {
            *next = None;
        }
    }),
    outcome("tools-kept-without-case", "of tools whose names differ by case one is kept", |memory, action, outcome| {
        if let Some(tools) = tools(action, outcome) {
            tools.retain(|tool| memory.seen.insert(tool["name"].to_string().to_lowercase()));
        }
    }),
    outcome("odd-tool-name-fails-list", "a tool with an unusual name fails the list", |_, action, outcome| {
        let odd = |tool: &Value| tool["name"].as_str().is_some_and(|name| name.contains([' ', '/']));
        if tools(action, outcome).is_some_and(|tools| tools.iter().any(odd)) {
            reject(outcome, "a tool has an invalid name");
        }
    }),
    outcome("same-tool-name-fails-list", "two tools with one name fail the list", |memory, action, outcome| {
        if tools(action, outcome)
            .is_some_and(|tools| tools.iter().any(|tool| !memory.seen.insert(tool["name"].to_string())))
        {
            reject(outcome, "two tools have the same name");
        }
    }),
    outcome("tools-with-unknown-fields-dropped", "tools with unknown fields are dropped", |_, action, outcome| {
        if let Some(tools) = tools(action, outcome) {
            tools.retain(|tool| tool.get("com.example/cost").is_none());
        }
    }),
    params("arguments-without-empty-values", "empty values in arguments are left out", |_, _, method, params| {
        let arguments = params.get_mut("arguments").and_then(Value::as_object_mut);
        if let Some(arguments) = arguments.filter(|_| method == "tools/call") {
            arguments.retain(|_, value| !matches!(value, Value::Null) && *value != json!("") && *value != json!([]));
        }
    }),
    outcome("templates-kept-by-name", "of templates with one name the last is kept", |_, action, outcome| {
        let listed = outcome.as_mut().ok().and_then(Value::as_array_mut).filter(|_| action["of"] == "templates");
        if let Some(templates) = listed {
            let names: Vec<Value> = templates.iter().map(|template| template["name"].clone()).collect();
            let mut at = 0;
            templates.retain(|_| {
                at += 1;
                !names[at..].contains(&names[at - 1])
            });
        }
    }),
    Behaviour {
        unasked: Some(|_, _, moment| {
            let reads = moment == Moment::BeforeClose;
            if reads { vec![json!({ "do": "read", "uri": "item://{id}", "force": true })] } else { Vec::new() }
        }),
        ..Behaviour::new("templates-read-literally", "a template is read without its variables", EVERYWHERE)
    },
    outcome("is-error-dropped", "`isError` is not reported", |_, action, outcome| {
        if let Some(result) = called(action, outcome).and_then(Value::as_object_mut) {
            result.shift_remove("isError");
        }
    }),
    Behaviour {
        retry: Some(|_, _, _, outcome, retry| retry.again |= code_of(outcome).is_some() && retry.attempts < 24),
        ..Behaviour::new("errors-repeated", "a request with an error is sent again and again", EVERYWHERE)
    },
    Behaviour {
        retry: Some(|_, _, _, outcome, retry| {
            let failed = outcome.as_ref().is_ok_and(|result| result["isError"] == true);
            retry.again |= failed && retry.attempts < 5;
        }),
        ..Behaviour::new("failing-call-repeated", "a call with `isError` is sent again and again", EVERYWHERE)
    },
    outcome("error-content-dropped", "the content of a tool's error is not reported", |_, action, outcome| {
        if let Some(result) = called(action, outcome).filter(|result| result["isError"] == true) {
            result["content"] = json!([{ "type": "text", "text": "The tool failed." }]);
        }
    }),
    outcome(
        "error-without-structure-rejected",
        "a tool's error without `structuredContent` is rejected",
        |_, action, outcome| {
            if action["name"] == "failing-structured" {
                reject(outcome, "`structuredContent` is missing");
            }
        },
    ),
    outcome("unknown-content-fails-call", "content of an unknown type fails the call", |_, action, outcome| {
        if called(action, outcome).is_some_and(|result| blocks(result).any(|block| !is_known(block))) {
            reject(outcome, "unknown content");
        }
    }),
    outcome("unknown-content-empties-result", "content of an unknown type drops all content", |_, action, outcome| {
        if let Some(result) = called(action, outcome)
            && blocks(result).any(|block| !is_known(block))
        {
            result["content"] = json!([]);
        }
    }),
    outcome("audio-content-rejected", "a result with audio content is rejected", |_, action, outcome| {
        if called(action, outcome).is_some_and(|result| blocks(result).any(|block| block["type"] == "audio")) {
            reject(outcome, "unknown content");
        }
    }),
    outcome("first-content-of-call-only", "only the first content of a result is kept", |_, action, outcome| {
        if let Some(content) = called(action, outcome).and_then(|result| result["content"].as_array_mut()) {
            content.truncate(1);
        }
    }),
    outcome("assistant-messages-dropped", "messages of the assistant in prompts are dropped", |_, _, outcome| {
        if let Some(messages) = outcome.as_mut().ok().and_then(|result| result.get_mut("messages")?.as_array_mut()) {
            messages.retain(|message| message["role"] == "user");
        }
    }),
    outcome("empty-content-fails-call", "a result without content is rejected", |_, action, outcome| {
        if called(action, outcome).is_some_and(|result| result["content"] == json!([])) {
            reject(outcome, "no content");
        }
    }),
    Behaviour {
        outcome: Some(|_, action, outcome| {
            if called(action, outcome).is_some_and(|result| result["structuredContent"].is_array()) {
                reject(outcome, "`structuredContent` is not an object");
            }
        }),
        ..Behaviour::modern("structured-array-rejected", "`structuredContent` has to be an object", EVERYWHERE)
    },
    Behaviour {
        outcome: Some(|_, action, outcome| {
            if called(action, outcome).is_some_and(|result| result.get("structuredContent") == Some(&Value::Null)) {
                reject(outcome, "`structuredContent` is missing");
            }
        }),
        ..Behaviour::modern("structured-null-rejected", "`structuredContent` must not be null", EVERYWHERE)
    },
    Behaviour {
        since: Some(Revision::V2025_06_18),
        outcome: Some(|memory, action, outcome| {
            let key = format!("{}{}", action["ref"], action["argument"]);
            kept_by(memory, action, outcome, &key);
        }),
        ..Behaviour::new("completions-kept-without-context", "completions are kept without `context`", EVERYWHERE)
    },
    Behaviour {
        since: Some(Revision::V2025_06_18),
        outcome: Some(|memory, action, outcome| {
            let key = action["argument"]["value"].to_string();
            kept_by(memory, action, outcome, &key);
        }),
        ..Behaviour::new("completions-kept-by-value", "completions are kept by the value alone", EVERYWHERE)
    },
    Behaviour {
        permit: Some(|memory, _, method, params, permitted| {
            let rejected = method == "prompts/get" && params["name"] == "rejected";
            *permitted &= method != "prompts/get" || !memory.counts.contains_key("rejected");
            if rejected {
                memory.count("rejected");
            }
        }),
        ..Behaviour::new("prompts-unsupported-after-error", "after an error there are no prompts", EVERYWHERE)
    },
    Behaviour {
        outcome: Some(|memory, action, outcome| kept(memory, action, outcome, "call")),
        ..Behaviour::modern("calls-cached", "results of calls are cached", EVERYWHERE)
    },
    Behaviour {
        outcome: Some(|memory, action, outcome| kept(memory, action, outcome, "get")),
        ..Behaviour::modern("prompts-cached", "results of prompts are cached", EVERYWHERE)
    },
    Behaviour {
        timeout: Some(|_, _, method, limit| {
            if method == "tools/call" {
                *limit = None;
            }
        }),
        ..Behaviour::legacy("progress-extends-timeout", "a call has no time limit while there is progress", EVERYWHERE)
    },
    Behaviour {
        since: Some(Revision::V2025_11_25),
        hear: Some(|memory, _, message| {
            let pointers = ["/params/url", "/result/inputRequests/page here/params/url"];
            if let Some(url) = pointers.iter().find_map(|pointer| message.pointer(pointer)) {
                memory.keep("page", url.clone());
            }
            Heard::Message
        }),
        unasked: Some(|memory, _, moment| {
            let loads = moment == Moment::AfterAction && memory.kept("page").is_string() && memory.first("loads");
            if loads { vec![json!({ "do": "http", "method": "GET" })] } else { Vec::new() }
        }),
        post: Some(|memory, _, posting| {
            if posting.method == "GET" && memory.counts.contains_key("loads") {
                posting.url = memory.kept("page").as_str().map(str::to_owned).unwrap_or_default();
            }
        }),
        ..Behaviour::new("elicitation-url-fetched", "the URL of an elicitation is loaded", HTTP)
    },
];

/// The result of the first such action, also for later ones.
fn kept(memory: &mut Memory, action: &Value, outcome: &mut Outcome, what: &'static str) {
    if action["do"] != what || action["name"] != "count" || outcome.is_err() {
        return;
    }
    if memory.kept(what).is_null() {
        memory.keep(what, outcome.as_ref().ok().cloned().unwrap_or_default());
    }
    *outcome = Ok(memory.kept(what));
}

/// The result of the first completion with this key, also for later ones.
fn kept_by(memory: &mut Memory, action: &Value, outcome: &mut Outcome, key: &str) {
    if action["do"] == "complete"
        && let Ok(result) = outcome
    {
        let mut all = memory.kept("completions");
        if let Some(known) = all.get(key) {
            *result = known.clone();
        } else {
            all[key] = result.clone();
            memory.keep("completions", all);
        }
    }
}

fn called<'a>(action: &Value, outcome: &'a mut Outcome) -> Option<&'a mut Value> {
    outcome.as_mut().ok().filter(|_| action["do"] == "call")
}

fn blocks(result: &Value) -> impl Iterator<Item = &Value> {
    result["content"].as_array().into_iter().flatten()
}

fn is_known(block: &Value) -> bool {
    block["type"].as_str().is_some_and(|kind| KNOWN.contains(&kind))
}
