//! Faults in the headers that mirror the arguments of a tool.

use serde_json::Value;

use crate::transports::mirrors::{
    PARAM, annotations, change, each, keep_first, learn, mirror, params, pointer, raw, recode,
};
use conform_reference_client::{
    behaviour::{Behaviour, HTTP, code_of, decisions::Heard},
    message::HEADER_MISMATCH,
    transport::headers::{encode, mirrored, text_of},
};

pub static FAULTS: &[Behaviour] = &[
    Behaviour {
        hear: Some(learn),
        post: Some(|memory, _, posting| {
            each(memory, posting, |posting, param, header| {
                if param.path.len() > 1 {
                    posting.remove(header);
                }
            });
        }),
        ..Behaviour::modern("param-headers-of-nested-missing", "nested arguments are not mirrored into headers", HTTP)
    },
    Behaviour {
        hear: Some(learn),
        post: Some(|memory, _, posting| {
            each(memory, posting, |posting, param, header| {
                if let Some(value) = posting.get(header).map(<[u8]>::to_vec) {
                    posting.remove(header);
                    let property = param.path.last().map(String::as_str).unwrap_or_default();
                    posting.set(&format!("{PARAM}x-{property}"), value);
                }
            });
        }),
        ..Behaviour::modern("param-named-after-property", "headers of arguments are not named by the annotation", HTTP)
    },
    Behaviour {
        hear: Some(learn),
        post: Some(|memory, _, posting| {
            each(memory, posting, |posting, param, header| {
                if posting.message["params"]["arguments"].pointer(&pointer(param)) == Some(&Value::Null) {
                    posting.set(header, "null");
                }
            });
        }),
        ..Behaviour::modern("param-null-as-text", "an argument that is null is mirrored as `null`", HTTP)
    },
    Behaviour {
        hear: Some(learn),
        post: Some(|memory, _, posting| {
            each(memory, posting, |posting, _, header| {
                if posting.get(header).is_none() {
                    posting.set(header, "");
                }
            });
        }),
        ..Behaviour::modern("param-empty-for-absent", "an absent argument is mirrored as an empty header", HTTP)
    },
    Behaviour {
        post: Some(|_, _, posting| {
            for header in params(posting) {
                recode(posting, &header, |text| match text {
                    "true" => "True".to_owned(),
                    "false" => "False".to_owned(),
                    other => encode(other),
                });
            }
        }),
        ..Behaviour::modern("param-boolean-capital", "booleans in headers are True and False", HTTP)
    },
    Behaviour {
        post: Some(|_, _, posting| params(posting).iter().for_each(|header| raw(posting, header))),
        ..Behaviour::modern("param-raw-bytes", "arguments are mirrored with their raw bytes", HTTP)
    },
    Behaviour {
        post: Some(|_, _, posting| {
            for header in params(posting) {
                change(posting, &header, |text| text.trim().to_owned());
            }
        }),
        ..Behaviour::modern("param-trimmed", "arguments are trimmed in headers", HTTP)
    },
    Behaviour {
        post: Some(|_, _, posting| {
            for header in params(posting) {
                let whole = |text: &str| text.parse::<i64>().is_ok();
                recode(posting, &header, |text| if whole(text) { format!("{text}.0") } else { encode(text) });
            }
        }),
        ..Behaviour::modern("param-integer-with-fraction", "integers in headers have a fraction", HTTP)
    },
    Behaviour {
        hear: Some(learn),
        post: Some(|memory, _, posting| {
            each(memory, posting, |posting, param, header| {
                let name = param.path.last().map(String::as_str).unwrap_or_default();
                let first = text_of(&posting.message["params"]["arguments"][name]);
                if let Some(text) = first.filter(|_| param.path.len() > 1) {
                    posting.set(header, encode(&text));
                }
            });
        }),
        ..Behaviour::modern("param-of-first-name", "a nested argument is mirrored from the first of its name", HTTP)
    },
    Behaviour {
        post: Some(|_, _, posting| {
            let arguments = posting.message["params"]["arguments"].as_object().cloned().unwrap_or_default();
            for (name, value) in arguments.iter().filter(|(name, _)| name.is_ascii()) {
                let header = format!("{PARAM}{}", name.to_ascii_lowercase());
                if let Some(text) = text_of(value).filter(|_| posting.get(&header).is_none()) {
                    posting.set(&header, encode(&text));
                }
            }
        }),
        ..Behaviour::modern("all-arguments-mirrored", "every argument is mirrored into a header", HTTP)
    },
    Behaviour {
        post: Some(|memory, _, posting| keep_first(memory, posting, "mcp-param-region")),
        ..Behaviour::modern("param-of-earlier-call", "a header of the first call is sent with later ones", HTTP)
    },
    Behaviour {
        post: Some(|_, _, posting| {
            if posting.message.pointer("/params/inputResponses").is_some() {
                posting.headers.retain(|(name, _)| !name.starts_with(PARAM));
            }
        }),
        ..Behaviour::modern("retry-without-param-headers", "a request with input has no headers of arguments", HTTP)
    },
    Behaviour {
        post: Some(|_, _, posting| {
            for header in params(posting) {
                recode(posting, &header, |text| match text {
                    "true" => "1".to_owned(),
                    "false" => "0".to_owned(),
                    other => encode(other),
                });
            }
        }),
        ..Behaviour::modern("param-boolean-number", "booleans in headers are 1 and 0", HTTP)
    },
    Behaviour {
        post: Some(|_, _, posting| {
            for header in params(posting) {
                recode(posting, &header, |text| match text.parse::<f64>() {
                    Ok(number) if number.abs() > 1e15 => format!("{number:e}"),
                    _ => encode(text),
                });
            }
        }),
        ..Behaviour::modern("param-integer-exponent", "large integers in headers have an exponent", HTTP)
    },
    Behaviour {
        tools: Some(|_, _, all, kept| {
            let hidden = |tool: &Value| mirrored(&tool["inputSchema"]).is_err_and(|why| why.contains("not reached"));
            kept.extend(all.iter().filter(|tool| hidden(tool)).cloned());
        }),
        ..Behaviour::modern("unreachable-header-tools-kept", "only `properties` are searched for x-mcp-header", HTTP)
    },
    Behaviour {
        hear: Some(|_, _, message| {
            if let Some(Value::Array(tools)) = message.pointer_mut("/result/tools")
                && tools.iter().any(|tool| mirrored(&tool["inputSchema"]).is_err())
            {
                tools.clear();
            }
            Heard::Message
        }),
        ..Behaviour::modern("bad-tool-spoils-page", "one tool with an invalid x-mcp-header spoils its page", HTTP)
    },
    Behaviour {
        retry: Some(|_, _, _, outcome, retry| {
            retry.again |= code_of(outcome) == Some(HEADER_MISMATCH) && retry.attempts < 6;
        }),
        ..Behaviour::modern("param-mismatch-repeated", "a call with the error -32020 is sent again and again", HTTP)
    },
    Behaviour {
        tools: Some(|_, _, all, kept| kept.clone_from(all)),
        ..Behaviour::modern("invalid-header-tools-kept", "tools with an invalid x-mcp-header are kept", HTTP)
    },
    Behaviour {
        tools: Some(|_, _, all, kept| {
            let repeated = |tool: &Value| mirrored(&tool["inputSchema"]).is_err_and(|why| why.starts_with("two "));
            kept.extend(all.iter().filter(|tool| repeated(tool)).cloned());
        }),
        ..Behaviour::modern("repeated-header-tools-kept", "tools with two equal x-mcp-header are kept", HTTP)
    },
    Behaviour {
        tools: Some(|_, _, _, kept| kept.retain(|tool| annotations(tool).is_empty())),
        ..Behaviour::modern("header-tools-dropped", "tools with x-mcp-header are dropped", HTTP)
    },
    Behaviour {
        tools: Some(|_, _, _, kept| {
            let plain = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-');
            kept.retain(|tool| annotations(tool).iter().all(|param| plain(&param.name) && param.path.len() == 1));
        }),
        ..Behaviour::modern("odd-header-names-dropped", "only plain names of headers are accepted", HTTP)
    },
    Behaviour {
        tools: Some(|_, _, all, kept| {
            if kept.len() < all.len() {
                kept.clear();
            }
        }),
        ..Behaviour::modern("bad-tool-spoils-list", "one tool with an invalid x-mcp-header spoils the list", HTTP)
    },
    Behaviour {
        hear: Some(learn),
        post: Some(|memory, _, posting| {
            posting.headers.retain(|(name, _)| !name.starts_with(PARAM));
            each(memory, posting, mirror);
        }),
        ..Behaviour::modern("first-schema-kept", "headers follow the first schema of a tool", HTTP)
    },
    Behaviour {
        hear: Some(learn),
        post: Some(|memory, _, posting| each(memory, posting, mirror)),
        ..Behaviour::modern("schemas-merged", "headers follow all schemas that a tool ever had", HTTP)
    },
];
