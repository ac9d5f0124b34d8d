//! Faults in messages of clients.

use serde_json::{Value, json};

use super::edits::{error, everywhere, instead, is, objects, texts, without};
use crate::reference::gateway::{Fault, fault::Action};

/// A larger request is rejected.
const SMALL: usize = 100_000;

pub static REQUESTS: &[Fault] = &[
    Fault {
        up: Some(|_, message| without(message, "/params", "cursor")),
        ..Fault::new("cursor-dropped", "cursors of clients don't pass")
    },
    Fault {
        up: Some(|_, message| {
            instead(message, "/params/cursor", |cursor| json!(cursor.as_str().unwrap_or_default().to_lowercase() + "="))
        }),
        ..Fault::new("cursor-rewritten", "cursors are changed on their way to the upstream")
    },
    Fault {
        up: Some(|_, message| without(message, "/params", "_meta")),
        ..Fault::new("request-meta-dropped", "`_meta` of requests does not pass")
    },
    Fault {
        up: Some(|_, message| {
            if let Some(meta) = message.pointer_mut("/params/_meta").and_then(Value::as_object_mut) {
                meta.retain(|name, _| name == "progressToken");
            }
            Action::Pass
        }),
        ..Fault::new("request-meta-only-token", "of `_meta` only the progress token passes")
    },
    Fault {
        up: Some(|_, message| without(message, "/params/_meta", "progressToken")),
        ..Fault::new("progress-token-dropped", "progress tokens don't pass")
    },
    Fault {
        up: Some(|_, message| without(message, "/params", "arguments")),
        also: &["*"],
        ..Fault::new("arguments-dropped", "arguments don't pass")
    },
    Fault {
        up: Some(|_, message| {
            let arguments = message.pointer_mut("/params/arguments");
            arguments.map_or(Action::Pass, |arguments| {
                objects(arguments, &|fields| fields.retain(|_, value| !value.is_null()))
            })
        }),
        ..Fault::new("arguments-without-null", "arguments that are null don't pass")
    },
    Fault {
        up: Some(|_, message| {
            if let Some(arguments) = message.pointer_mut("/params/arguments") {
                everywhere(arguments, &|value| {
                    let rounded = value.as_f64().filter(|_| value.is_i64()).map(|number| format!("{number:.0}"));
                    if let Some(number) = rounded.and_then(|number| number.parse::<i64>().ok()) {
                        *value = json!(number);
                    }
                });
            }
            Action::Pass
        }),
        ..Fault::new("arguments-rounded", "large integers in arguments are rounded")
    },
    Fault {
        up: Some(|_, message| {
            let arguments = message.pointer_mut("/params/arguments");
            arguments.map_or(Action::Pass, |arguments| texts(arguments, &|text| text.trim().to_owned()))
        }),
        ..Fault::new("arguments-trimmed", "spaces around texts of arguments don't pass")
    },
    Fault {
        up: Some(|_, message| {
            let arguments = message.pointer_mut("/params/arguments");
            let ascii = |text: &str| text.chars().map(|c| if c.is_ascii() { c } else { '?' }).collect();
            arguments.map_or(Action::Pass, |arguments| texts(arguments, &ascii))
        }),
        ..Fault::new("arguments-in-ascii", "characters beyond ASCII in arguments become question marks")
    },
    Fault {
        up: Some(|_, message| {
            let arguments = message.pointer_mut("/params/arguments").and_then(Value::as_object_mut);
            for value in arguments.into_iter().flat_map(|fields| fields.values_mut()).filter(|value| value.is_object())
            {
                *value = json!(value.to_string());
            }
            Action::Pass
        }),
        ..Fault::new("arguments-as-text", "objects in arguments become texts")
    },
    Fault {
        up: Some(|_, message| {
            if is(message, "resources/read") {
                instead(message, "/params/uri", |uri| {
                    json!(uri.as_str().unwrap_or_default().replace("%20", " ").replace("%2F", "/"))
                })
            } else {
                Action::Pass
            }
        }),
        ..Fault::new("uri-decoded", "URIs are decoded")
    },
    Fault {
        up: Some(|_, message| {
            if is(message, "resources/read") {
                instead(message, "/params/uri", |uri| json!(uri.as_str().unwrap_or_default().to_lowercase()))
            } else {
                Action::Pass
            }
        }),
        ..Fault::new("uri-in-lower-case", "URIs are written in lower case")
    },
    Fault {
        up: Some(|_, message| without(message, "/params", "context")),
        ..Fault::new("completion-context-dropped", "the context of completions does not pass")
    },
    Fault {
        up: Some(|_, message| {
            if is(message, "logging/setLevel") {
                instead(message, "/params/level", |_| json!("debug"))
            } else {
                Action::Pass
            }
        }),
        ..Fault::new("level-replaced", "the log level is always `debug`")
    },
    Fault {
        up: Some(|_, message| {
            if let Some(params) = message["params"].as_object_mut() {
                params.retain(|name, _| !name.contains('/'));
            }
            Action::Pass
        }),
        ..Fault::new("unknown-params-dropped", "params that the gateway does not know don't pass")
    },
    Fault {
        up: Some(|_, message| if is(message, "tools/call") { Action::Twice } else { Action::Pass }),
        also: &["gateway-upstream-ids-unique"],
        ..Fault::new("calls-repeated", "each call is sent twice")
    },
    Fault {
        up: Some(|_, message| swallowed(message, "resources/subscribe")),
        ..Fault::new("subscribe-swallowed", "the gateway responds to resources/subscribe itself")
    },
    Fault {
        up: Some(|_, message| swallowed(message, "resources/unsubscribe")),
        ..Fault::new("unsubscribe-swallowed", "the gateway responds to resources/unsubscribe itself")
    },
    Fault {
        up: Some(|_, message| swallowed(message, "logging/setLevel")),
        ..Fault::new("set-level-swallowed", "the gateway responds to logging/setLevel itself")
    },
    Fault {
        up: Some(|_, message| {
            if is(message, "completion/complete") {
                Action::Return(
                    json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "completion": { "values": [] } } }),
                )
            } else {
                Action::Pass
            }
        }),
        ..Fault::new("completion-swallowed", "the gateway responds to completion/complete itself")
    },
    Fault {
        up: Some(
            |_, message| {
                if is(message, "prompts/get") { error(message, -32601, "Method not found") } else { Action::Pass }
            },
        ),
        ..Fault::new("prompts-get-rejected", "the gateway does not support prompts/get")
    },
    Fault {
        up: Some(|_, message| {
            if is(message, "resources/templates/list") {
                error(message, -32601, "Method not found")
            } else {
                Action::Pass
            }
        }),
        ..Fault::new("templates-rejected", "the gateway does not support resources/templates/list")
    },
    Fault {
        up: Some(|_, message| if is(message, "resources/read") { Action::Drop } else { Action::Pass }),
        also: &["*"],
        ..Fault::new("reads-unanswered", "resources/read is never answered")
    },
    Fault {
        up: Some(|_, message| {
            if is(message, "tools/call") && message.to_string().len() > SMALL {
                error(message, -32600, "too large")
            } else {
                Action::Pass
            }
        }),
        ..Fault::new("large-request-rejected", "large requests are rejected")
    },
    Fault {
        up: Some(|_, message| if is(message, "notifications/cancelled") { Action::Drop } else { Action::Pass }),
        ..Fault::new("cancelled-dropped", "cancellations don't pass")
    },
    Fault {
        up: Some(|_, message| {
            if is(message, "notifications/cancelled") {
                instead(message, "/params/requestId", |id| json!(format!("front-{id}")))
            } else {
                Action::Pass
            }
        }),
        ..Fault::new("cancelled-other-id", "cancellations have an id that the upstream does not know")
    },
    Fault {
        up: Some(
            |_, message| if is(message, "notifications/roots/list_changed") { Action::Drop } else { Action::Pass },
        ),
        ..Fault::new("roots-changed-dropped", "notifications/roots/list_changed does not pass")
    },
    Fault {
        up: Some(|_, message| {
            if is(message, "initialize") {
                instead(message, "/params/capabilities", |_| json!({}))
            } else {
                Action::Pass
            }
        }),
        also: &["*"],
        ..Fault::new("client-capabilities-dropped", "the capabilities of clients don't pass")
    },
    Fault {
        answer: Some(|_, _, _| Action::Drop),
        also: &["*"],
        ..Fault::new("client-responses-dropped", "responses of clients don't pass")
    },
    Fault {
        answer: Some(|_, message, _| without(message, "/result", "model")),
        ..Fault::new("sampling-model-dropped", "`model` of sampling results does not pass")
    },
];

fn swallowed(message: &Value, method: &str) -> Action {
    if is(message, method) {
        Action::Return(json!({ "jsonrpc": "2.0", "id": message["id"], "result": {} }))
    } else {
        Action::Pass
    }
}
