//! Faults in the form of messages.

use serde_json::{Value, json};

use crate::act::{
    faults::{
        behaviour::{Behaviour, EVERYWHERE},
        tools::{calls, errors, meta, of_method, remove, rename, requests, results},
    },
    message,
};

pub static MESSAGES: &[Behaviour] = &[
    Behaviour {
        reply: Some(|_, _, _, responses| responses.iter_mut().for_each(|response| remove(response, "jsonrpc"))),
        ..Behaviour::legacy("responses-without-jsonrpc", "responses lack `jsonrpc`", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| requests(messages, |message| message["jsonrpc"] = json!(2.0))),
        also: &["*"],
        ..Behaviour::new("jsonrpc-as-number", "`jsonrpc` of requests is a number", EVERYWHERE)
    },
    Behaviour {
        say: Some(|memory, _, messages| {
            if messages.iter().any(|message| message["method"] == "tools/list") && memory.first("heartbeat") {
                messages.push(json!({}));
            }
        }),
        ..Behaviour::new("empty-object-as-heartbeat", "an empty object is sent as a heartbeat", EVERYWHERE)
    },
    Behaviour {
        reply: Some(|_, _, request, responses| responses[0]["method"] = request["method"].clone()),
        also: &["client-one-answer-per-server-request"],
        ..Behaviour::legacy("response-repeats-method", "responses repeat the method of the request", EVERYWHERE)
    },
    Behaviour {
        #[expect(clippy::cast_precision_loss, reason = "numbers are small")]
        id: Some(|_, number, _| json!(1_700_000_000.25 + number as f64)),
        also: &["*"],
        ..Behaviour::new("ids-are-timestamps", "ids are timestamps with fractions", EVERYWHERE)
    },
    Behaviour {
        id: Some(|_, number, _| json!({ "n": number })),
        also: &["*"],
        ..Behaviour::new("ids-are-objects", "ids are objects", EVERYWHERE)
    },
    Behaviour {
        id: Some(|memory, _, method| json!(memory.tally(method))),
        ..Behaviour::legacy("id-counter-per-method", "each method has its own ids", EVERYWHERE)
    },
    Behaviour {
        id: Some(|_, number, _| json!((number - 1) % 8 + 1)),
        ..Behaviour::legacy("id-counter-wraps", "ids begin again after 8", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| of_method(messages, "notifications/initialized", |message| message["id"] = json!("i"))),
        also: &["client-initialized-sent", "client-initialized-before-operation"],
        ..Behaviour::legacy("initialized-with-id", "`notifications/initialized` has an id", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| of_method(messages, "notifications/cancelled", |message| message["id"] = Value::Null)),
        ..Behaviour::new("cancelled-with-null-id", "`notifications/cancelled` has the id null", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            calls(messages, |message| {
                if message.get("params").is_none() {
                    message["params"] = Value::Null;
                }
            });
        }),
        ..Behaviour::legacy("params-null", "`params` is null if there are none", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            of_method(messages, "completion/complete", |message| {
                let params = &message["params"];
                message["params"] = json!([params["ref"], params["argument"]]);
            });
        }),
        ..Behaviour::legacy("completion-params-as-array", "params of a completion are an array", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            requests(messages, |message| {
                let lists = message::method(message).is_some_and(|method| method.ends_with("/list"));
                if lists && message["params"].get("cursor").is_none() {
                    if !message["params"].is_object() {
                        message["params"] = json!({});
                    }
                    message["params"]["cursor"] = Value::Null;
                }
            });
        }),
        ..Behaviour::new("cursor-null", "the first page is requested with the cursor null", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            of_method(messages, "initialize", |message| message["params"]["capabilities"]["experimental"] = Value::Null);
        }),
        also: &["client-capabilities-shape"],
        ..Behaviour::legacy("capabilities-null", "a capability that is not there is null", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            of_method(messages, "initialize", |message| message["params"]["clientInfo"]["title"] = Value::Null);
        }),
        also: &["client-client-info-optional-fields"],
        ..Behaviour::legacy("client-info-title-null", "the title of the client is null", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            of_method(messages, "completion/complete", |message| {
                let argument = &message["params"]["argument"];
                message["params"]["argument"] = json!([argument["name"], argument["value"]]);
            });
        }),
        ..Behaviour::new("completion-argument-as-list", "the argument of a completion is an array", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            of_method(messages, "prompts/get", |message| {
                message["params"]["arguments"] = json!(message["params"]["arguments"].to_string());
            });
        }),
        also: &["client-meta-reserved-no-assumptions"],
        ..Behaviour::new("call-arguments-as-text", "the arguments of a prompt are a string", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            of_method(messages, "completion/complete", |message| message["params"]["argument"]["name"] = json!(7));
        }),
        ..Behaviour::new("name-as-number", "the name of an argument is a number", EVERYWHERE)
    },
    Behaviour {
        spell: Some(|_, _, bytes| {
            let latin = |c: char| u8::try_from(u32::from(c)).unwrap_or(b'?');
            *bytes = String::from_utf8_lossy(bytes).chars().map(latin).collect();
        }),
        also: &["client-timeout-client-survives"],
        ..Behaviour::new("messages-in-latin-1", "messages are encoded in Latin-1", EVERYWHERE)
    },
    Behaviour {
        reply: Some(|_, _, _, responses| {
            let number = responses[0]["id"].as_str().and_then(|id| id.parse::<i64>().ok());
            if let Some(number) = number {
                responses[0]["id"] = json!(number);
            }
        }),
        also: &["client-one-answer-per-server-request"],
        ..Behaviour::legacy("string-ids-become-numbers", "the id \"7\" becomes 7", EVERYWHERE)
    },
    Behaviour {
        reply: Some(|memory, _, request, responses| {
            if request["id"] == "unknown-1" {
                responses[0]["id"] = json!(format!("own-{}", memory.count("own")));
            }
        }),
        also: &["client-one-answer-per-server-request"],
        ..Behaviour::legacy("response-has-own-id", "an error has an id of the client's own", EVERYWHERE)
    },
    Behaviour {
        reply: Some(|_, _, _, responses| {
            if responses[0].get("result").is_some() {
                responses[0]["error"] = Value::Null;
            }
        }),
        also: &["*"],
        ..Behaviour::legacy("error-null-beside-result", "results have `error: null` beside them", EVERYWHERE)
    },
    Behaviour {
        reply: Some(|_, _, _, responses| {
            if responses[0]["result"] == json!({}) {
                remove(&mut responses[0], "result");
            }
        }),
        also: &["client-one-answer-per-server-request", "client-ping-answered-early", "client-early-server-traffic"],
        ..Behaviour::legacy("empty-result-left-out", "an empty result is left out", EVERYWHERE)
    },
    Behaviour {
        reply: Some(|_, _, _, responses| {
            results(responses, |result| {
                if *result == json!({}) {
                    *result = json!(true);
                }
            });
        }),
        ..Behaviour::legacy("ping-result-true", "the result of ping is true", EVERYWHERE)
    },
    Behaviour {
        reply: Some(|_, _, _, responses| {
            results(responses, |result| {
                if *result == json!({}) {
                    *result = Value::Null;
                }
            });
        }),
        ..Behaviour::legacy("ping-result-null", "the result of ping is null", EVERYWHERE)
    },
    Behaviour {
        reply: Some(|_, _, _, responses| errors(responses, |error| error["code"] = json!("METHOD_NOT_FOUND"))),
        also: &[
            "client-roots-unsupported-code",
            "client-sampling-tool-result-missing",
            "client-sampling-tool-result-mixed",
            "client-sampling-rejected-code",
            "client-unknown-request-code",
        ],
        ..Behaviour::legacy("error-code-as-text", "`code` of errors is a string", EVERYWHERE)
    },
    Behaviour {
        reply: Some(|_, _, _, responses| errors(responses, |error| remove(error, "message"))),
        ..Behaviour::legacy("error-without-message", "errors have no message", EVERYWHERE)
    },
    Behaviour {
        reply: Some(|_, _, _, responses| errors(responses, |error| *error = json!("failed"))),
        also: &[
            "client-roots-unsupported-code",
            "client-sampling-tool-result-missing",
            "client-sampling-tool-result-mixed",
            "client-sampling-rejected-code",
            "client-unknown-request-code",
        ],
        ..Behaviour::legacy("error-as-text", "`error` is a string", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, scene, messages| {
            if scene.revision.is_some() {
                *messages = vec![json!(messages)];
            }
        }),
        also: &["*"],
        ..Behaviour::legacy("messages-as-batches", "messages are sent in arrays", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            if messages[0]["method"] == "initialize" {
                *messages = vec![json!(messages)];
            }
        }),
        also: &["*"],
        ..Behaviour::legacy("initialize-in-batch", "initialize is sent in an array", EVERYWHERE)
    },
    Behaviour {
        say: Some(|memory, _, messages| {
            if messages[0]["method"] == "initialize" && memory.first("early") {
                messages.push(json!([message::notification("notifications/cancelled", &json!({ "requestId": "none" }))]));
            }
        }),
        also: &["client-cancel-own-open-request"],
        ..Behaviour::legacy("initialized-in-early-batch", "an array is sent before initialize has a response", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            requests(messages, |message| {
                if let Some(meta) = message["params"].as_object_mut().and_then(|params| params.shift_remove("_meta")) {
                    message["_meta"] = meta;
                }
            });
        }),
        also: &["*"],
        ..Behaviour::new("meta-beside-params", "`_meta` stands beside `params`", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            of_method(messages, "prompts/get", |message| message["params"]["_meta"] = json!([["a", "b"]]));
        }),
        also: &["*"],
        ..Behaviour::new("meta-as-array", "`_meta` is an array of pairs", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| requests(messages, |message| meta(message)["my:key"] = json!(1))),
        ..Behaviour::new("meta-key-with-colon", "a key of `_meta` has a colon", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| requests(messages, |message| meta(message)["com.example/a/b"] = json!(1))),
        ..Behaviour::new("meta-key-with-two-slashes", "a key of `_meta` has two slashes", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| requests(messages, |message| meta(message)["com.7up/a"] = json!(1))),
        ..Behaviour::new("meta-label-begins-with-digit", "a label in a key of `_meta` begins with a digit", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| requests(messages, |message| meta(message)["io.modelcontextprotocol/myTrace"] = json!(1))),
        ..Behaviour::new("own-key-with-reserved-prefix", "an own key of `_meta` has a reserved prefix", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| requests(messages, |message| meta(message)["example.com/trace"] = json!(1))),
        ..Behaviour::new("meta-prefix-forward-dns", "the prefix of a key of `_meta` is a domain", EVERYWHERE)
    },
    Behaviour {
        say: Some(|memory, _, messages| {
            if messages[0]["method"] == "tools/list" && memory.first("empty") {
                messages.push(json!([]));
            }
        }),
        ..Behaviour::legacy("empty-batch-sent", "an empty array is sent", EVERYWHERE)
    },
    Behaviour {
        token: Some(|_, number| json!(f64::from(u32::try_from(number).unwrap_or_default()) + 0.5)),
        ..Behaviour::new("progress-token-fractional", "progress tokens have fractions", EVERYWHERE)
    },
    Behaviour {
        token: Some(|_, _| json!("progress")),
        ..Behaviour::new("progress-token-constant", "every request has the same progress token", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            requests(messages, |message| {
                let token = message.pointer_mut("/params/_meta").and_then(|meta| {
                    let token = meta.get("progressToken").cloned();
                    remove(meta, "progressToken");
                    token
                });
                if let Some(token) = token {
                    message["params"]["progressToken"] = token;
                }
            });
        }),
        ..Behaviour::new("progress-token-beside-meta", "the progress token stands beside `_meta`", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            of_method(messages, "logging/setLevel", |message| rename(&mut message["params"], "level", "logLevel"));
        }),
        ..Behaviour::legacy("level-under-other-name", "the level is sent as `logLevel`", EVERYWHERE)
    },
];
