//! Faults in messages of the upstream.

use serde_json::{Value, json};

use super::edits::{instead, is, objects, of_each, texts, without};
use crate::reference::gateway::{Fault, fault::Action};

const SMALL: usize = 100_000;

pub static RESULTS: &[Fault] = &[
    Fault {
        result: Some(|_, message, _| without(message, "/result", "nextCursor")),
        ..Fault::new("next-cursor-dropped", "`nextCursor` does not pass")
    },
    Fault {
        result: Some(|_, message, _| without(message, "/result", "_meta")),
        ..Fault::new("result-meta-dropped", "`_meta` of results does not pass")
    },
    Fault {
        result: Some(|_, message, _| {
            let Some(result) = message["result"].as_object_mut() else { return Action::Pass };
            for (_, value) in result.iter_mut().filter(|(name, _)| *name != "_meta") {
                objects(value, &|fields| drop(fields.shift_remove("_meta")));
            }
            Action::Pass
        }),
        ..Fault::new("inner-meta-dropped", "`_meta` of tools and contents does not pass")
    },
    Fault {
        result: Some(|_, message, _| of_each(message, "/result/tools", "annotations")),
        ..Fault::new("tool-annotations-dropped", "`annotations` of tools don't pass")
    },
    Fault {
        result: Some(|_, message, _| of_each(message, "/result/tools", "outputSchema")),
        ..Fault::new("output-schema-dropped", "`outputSchema` of tools does not pass")
    },
    Fault {
        result: Some(|_, message, _| of_each(message, "/result/tools", "title")),
        ..Fault::new("tool-title-dropped", "`title` of tools does not pass")
    },
    Fault {
        result: Some(|_, message, _| of_each(message, "/result/resources", "size")),
        ..Fault::new("resource-size-dropped", "`size` of resources does not pass")
    },
    Fault {
        result: Some(|_, message, _| of_each(message, "/result/resourceTemplates", "mimeType")),
        ..Fault::new("template-type-dropped", "`mimeType` of resource templates does not pass")
    },
    Fault {
        result: Some(|_, message, _| of_each(message, "/result/prompts", "arguments")),
        ..Fault::new("prompt-arguments-dropped", "`arguments` of prompts don't pass")
    },
    Fault {
        result: Some(|_, message, _| {
            for tool in message.pointer_mut("/result/tools").and_then(Value::as_array_mut).into_iter().flatten() {
                instead(tool, "/description", |text| json!(text.as_str().unwrap_or_default().trim()));
            }
            Action::Pass
        }),
        ..Fault::new("description-trimmed", "spaces around descriptions of tools don't pass")
    },
    Fault {
        result: Some(|_, message, _| {
            if let Some(tools) = message.pointer_mut("/result/tools").and_then(Value::as_array_mut) {
                tools.pop();
            }
            Action::Pass
        }),
        ..Fault::new("last-tool-dropped", "the last tool of each page does not pass")
    },
    Fault {
        result: Some(|_, message, _| {
            if let Some(resources) = message.pointer_mut("/result/resources").and_then(Value::as_array_mut) {
                resources.reverse();
            }
            Action::Pass
        }),
        also: &["gateway-inner-meta-kept", "gateway-results-not-extended"],
        ..Fault::new("resources-reversed", "resources come in another order")
    },
    Fault {
        result: Some(|_, message, _| in_content(message, &|text| text.trim().to_owned())),
        ..Fault::new("content-trimmed", "spaces around text content don't pass")
    },
    Fault {
        result: Some(|_, message, _| {
            in_content(message, &|text| text.chars().map(|c| if c.is_ascii() { c } else { '?' }).collect())
        }),
        ..Fault::new("content-in-ascii", "characters beyond ASCII in content become question marks")
    },
    Fault {
        result: Some(|_, message, _| in_content(message, &|text| text.replace("\r\n", "\n"))),
        ..Fault::new("content-line-ends-changed", "line ends in content are changed")
    },
    Fault {
        result: Some(|_, message, _| {
            let content = message.pointer_mut("/result/content").and_then(Value::as_array_mut);
            content.into_iter().flatten().for_each(|block| {
                drop(instead(block, "/data", |data| {
                    json!(data.as_str().unwrap_or_default().replace('+', "-").replace('/', "_"))
                }));
            });
            Action::Pass
        }),
        ..Fault::new("data-in-other-base64", "binary content is encoded with another alphabet")
    },
    Fault {
        result: Some(|_, message, _| kept(message, "audio")),
        ..Fault::new("audio-dropped", "audio content does not pass")
    },
    Fault {
        result: Some(|_, message, _| kept(message, "resource_link")),
        ..Fault::new("links-dropped", "resource links don't pass")
    },
    Fault {
        result: Some(|_, message, _| {
            let content = message.pointer_mut("/result/content").and_then(Value::as_array_mut);
            content.into_iter().flatten().for_each(|block| drop(without(block, "/resource", "blob")));
            Action::Pass
        }),
        ..Fault::new("blob-dropped", "`blob` of embedded resources does not pass")
    },
    Fault {
        result: Some(|_, message, _| of_each(message, "/result/content", "annotations")),
        ..Fault::new("content-annotations-dropped", "`annotations` of content don't pass")
    },
    Fault {
        result: Some(|_, message, _| of_each(message, "/result/contents", "mimeType")),
        ..Fault::new("contents-type-dropped", "`mimeType` of read contents does not pass")
    },
    Fault {
        result: Some(|_, message, _| without(message, "/result", "structuredContent")),
        ..Fault::new("structured-content-dropped", "`structuredContent` does not pass")
    },
    Fault {
        result: Some(|_, message, _| {
            let structured = message.pointer_mut("/result/structuredContent");
            structured
                .map_or(Action::Pass, |value| objects(value, &|fields| fields.retain(|_, value| !value.is_null())))
        }),
        ..Fault::new("structured-null-dropped", "null in `structuredContent` does not pass")
    },
    Fault {
        result: Some(|_, message, _| without(message, "/result", "isError")),
        ..Fault::new("is-error-dropped", "`isError` does not pass")
    },
    Fault {
        result: Some(|_, message, _| {
            if message.pointer("/result/isError") == Some(&json!(true)) {
                *message = json!({ "jsonrpc": "2.0", "id": message["id"], "error": { "code": -32603, "message": "the tool failed" } });
            }
            Action::Pass
        }),
        ..Fault::new("tool-error-as-error", "failed tools become JSON-RPC errors")
    },
    Fault {
        result: Some(|_, message, _| {
            if let Some(result) = message["result"].as_object_mut() {
                result.retain(|name, _| !name.contains('/'));
            }
            Action::Pass
        }),
        ..Fault::new("unknown-result-dropped", "fields of results that the gateway does not know don't pass")
    },
    Fault {
        result: Some(|_, message, asked| {
            if is(asked, "tools/call") {
                instead(message, "/result", |result| {
                    let mut result = result.clone();
                    result["gateway"] = json!("added");
                    result
                });
            }
            Action::Pass
        }),
        ..Fault::new("result-extended", "the gateway adds a field to results")
    },
    Fault {
        result: Some(|_, message, asked| {
            if let Some(error) = message.get("error").filter(|_| is(asked, "tools/call")) {
                let content = json!([{ "type": "text", "text": error["message"] }]);
                *message =
                    json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "content": content, "isError": true } });
            }
            Action::Pass
        }),
        ..Fault::new("error-as-result", "errors become results of failed tools")
    },
    Fault {
        result: Some(|_, message, _| instead(message, "/error/code", |_| json!(-32603))),
        ..Fault::new("error-code-replaced", "every error has the code -32603")
    },
    Fault {
        result: Some(|_, message, _| instead(message, "/error/message", |_| json!("Bad gateway"))),
        ..Fault::new("error-message-replaced", "every error has the same message")
    },
    Fault {
        result: Some(|_, message, _| without(message, "/error", "data")),
        ..Fault::new("error-data-dropped", "`data` of errors does not pass")
    },
    Fault {
        result: Some(
            |_, message, asked| {
                if is(asked, "initialize") { without(message, "/result", "instructions") } else { Action::Pass }
            },
        ),
        ..Fault::new("instructions-dropped", "`instructions` don't pass")
    },
    Fault {
        result: Some(|_, message, _| without(message, "/result/capabilities", "completions")),
        ..Fault::new("capability-dropped", "the capability `completions` does not pass")
    },
    Fault {
        result: Some(|_, message, asked| {
            if is(asked, "tools/call") && message.to_string().len() > SMALL {
                instead(message, "/result/content/0/text", |text| {
                    json!(text.as_str().unwrap_or_default().get(..SMALL))
                });
            }
            Action::Pass
        }),
        also: &["gateway-content-kept"],
        ..Fault::new("large-result-truncated", "large content is truncated")
    },
    Fault {
        result: Some(|_, message, asked| {
            if is(asked, "tools/call") && message.to_string().len() > SMALL {
                *message = json!({ "jsonrpc": "2.0", "id": message["id"], "error": { "code": -32603, "message": "too large" } });
            }
            Action::Pass
        }),
        ..Fault::new("large-result-rejected", "large results become errors")
    },
    Fault {
        result: Some(|_, _, asked| if is(asked, "tools/call") { Action::Twice } else { Action::Pass }),
        fronts: &[crate::reference::gateway::fault::STDIO],
        ..Fault::new("responses-repeated", "responses to calls come twice")
    },
    Fault {
        result: Some(|_, _, asked| if is(asked, "completion/complete") { Action::Drop } else { Action::Pass }),
        also: &["*"],
        ..Fault::new("response-dropped", "responses to completions don't pass")
    },
];

fn in_content(message: &mut Value, change: &dyn Fn(&str) -> String) -> Action {
    for block in message.pointer_mut("/result/content").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(text) = block.get_mut("text") {
            texts(text, change);
        }
    }
    Action::Pass
}

/// Removes content of that type.
fn kept(message: &mut Value, dropped: &str) -> Action {
    if let Some(content) = message.pointer_mut("/result/content").and_then(Value::as_array_mut) {
        content.retain(|block| block["type"] != dropped);
    }
    Action::Pass
}
