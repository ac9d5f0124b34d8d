//! Faults in how the server handles the client's responses to its requests.

use serde_json::{Value, json};

use crate::{
    content::Content,
    faults::{
        Heard, Scene,
        behaviour::{Behaviour, EVERYWHERE, Memory},
    },
    options::Transport,
};
use conform_model::revision::Revision;

const STDIO: &[Transport] = &[Transport::Stdio];

pub static ASKING: &[Behaviour] = &[
    Behaviour {
        also: &["lifecycle-capabilities-not-carried-over", "lifecycle-no-reliance-on-undeclared-capability"],
        ..slip("asks-anyway", "input is requested whatever the client declared", |content| {
            content.slips.asks_anyway = true;
        })
    },
    slip("roots-ignored", "files outside of the roots are read", |content| content.slips.roots_ignored = true),
    slip("root-left-by-dots", "`..` leads out of the roots", |content| content.slips.roots_climbed = true),
    slip("roots-asked-twice", "one call sends roots/list twice", |content| content.slips.asks_twice = true),
    Behaviour {
        until: Some(Revision::NEWEST_LEGACY),
        ..slip("roots-asked-once", "the first list of roots is used forever", |content| content.slips.roots_kept = true)
    },
    // In earlier revisions this needs a client that waits long enough.
    modern(slip("tool-loop-endless", "a model that requests tools gets requests without end", |content| {
        content.slips.endless = true;
    })),
    modern(slip("redeems-twice", "a coupon can be redeemed twice with one requestState", |content| {
        content.slips.redeems_twice = true;
    })),
    modern(slip("state-unverified", "a requestState that fails verification is ignored", |content| {
        content.slips.state_unverified = true;
    })),
    modern(slip("state-for-any-request", "the requestState of one request is accepted for any", |content| {
        content.slips.state_for_any = true;
    })),
    Behaviour {
        until: Some(Revision::NEWEST_LEGACY),
        hear: Some(|_, message| match message.get("error") {
            Some(_) if message.get("method").is_none() => Heard::Nothing,
            _ => Heard::Message,
        }),
        ..Behaviour::new(
            "refusal-hangs",
            "after an error of the client the server never responds to the request",
            EVERYWHERE,
        )
    },
    Behaviour {
        since: Some(Revision::V2025_06_18),
        hear: Some(|_, message| {
            unless(message, |answer| answer["action"] == "decline" || answer["action"] == "cancel")
        }),
        also: &["jsonrpc-exactly-one-response", "mrtr-unknown-responses-ignored"],
        ..Behaviour::new("decline-hangs", "after a declined form the server never responds to the request", EVERYWHERE)
    },
    Behaviour {
        since: Some(Revision::V2025_06_18),
        hear: Some(|_, message| {
            let declined = |answer: &&mut Value| answer["action"] == "decline" || answer["action"] == "cancel";
            answers(message).into_iter().filter(declined).for_each(|answer| *answer = accepted());
            Heard::Message
        }),
        ..Behaviour::new("decline-taken-for-accept", "a declined form counts as filled in", EVERYWHERE)
    },
    Behaviour {
        since: Some(Revision::V2025_06_18),
        hear: Some(|_, message| {
            let unfit = |answer: &&mut Value| answer["content"]["name"].is_number();
            answers(message).into_iter().filter(unfit).for_each(|answer| *answer = accepted());
            Heard::Message
        }),
        ..Behaviour::new("answers-unchecked", "the content of forms is not validated", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, message| {
            unless(message, |answer| {
                answer.get("model").is_some() && answer["content"]["type"] != "text" && !answer["content"].is_array()
            })
        }),
        ..Behaviour::new(
            "nonsense-hangs",
            "after a malformed sampling result the server never responds to the request",
            EVERYWHERE,
        )
    },
    Behaviour {
        hear: Some(|_, message| {
            let there = |root: &Value| root["uri"].as_str().is_some_and(|uri| uri.starts_with("file:///src"));
            unless(message, |answer| answer["roots"].as_array().is_some_and(|roots| !roots.iter().all(there)))
        }),
        ..Behaviour::new(
            "missing-root-hangs",
            "after a root that does not exist the server never responds to the request",
            EVERYWHERE,
        )
    },
    Behaviour {
        until: Some(Revision::NEWEST_LEGACY),
        hear: Some(|_, message| match message["method"] == "notifications/roots/list_changed" {
            true => Heard::Crash,
            false => Heard::Message,
        }),
        ..Behaviour::new("roots-change-kills", "roots/list_changed ends the process", STDIO)
    },
    modern(Behaviour {
        say: Some(keep_history),
        ..Behaviour::new("history-kept", "a model gets the messages of earlier requests again", EVERYWHERE)
    }),
    modern(Behaviour {
        hear: Some(|_, message| match state(message) {
            Some(state) if !state.contains('.') => Heard::Nothing,
            _ => Heard::Message,
        }),
        ..Behaviour::new(
            "garbage-state-hangs",
            "the server never responds to a requestState that cannot be decoded",
            EVERYWHERE,
        )
    }),
    modern(Behaviour {
        hear: Some(wait),
        say: Some(remember),
        ..Behaviour::new("waits-for-retry", "a tool that required input is busy until it gets the input", EVERYWHERE)
    }),
    modern(Behaviour {
        hear: Some(|_, message| match is_retry(message) {
            true => refused(message, "This request is not under way."),
            false => Heard::Message,
        }),
        also: &["tasks-ext-methods-need-capability", "tasks-ext-update-unknown-keys-ignored"],
        ..Behaviour::new("retry-needs-old-id", "a retry is matched by its id, which is a new one", EVERYWHERE)
    }),
    modern(Behaviour {
        hear: Some(|_, message| {
            let nonsense = |answer: &&mut Value| !answer.is_object();
            let taken = || json!({ "action": "decline", "roots": [] });
            answers(message).into_iter().filter(nonsense).for_each(|answer| *answer = taken());
            Heard::Message
        }),
        ..Behaviour::new("nonsense-taken", "malformed input responses count as a decline", EVERYWHERE)
    }),
    modern(Behaviour {
        hear: Some(|memory, message| {
            let given = message.pointer("/params/inputResponses").and_then(Value::as_object);
            let known = given.is_none_or(|given| given.keys().all(|key| memory.keys.contains(key)));
            if known { Heard::Message } else { refused(message, "There is an input response that was not requested.") }
        }),
        say: Some(remember),
        also: &["tasks-ext-update-unknown-keys-ignored"],
        ..Behaviour::new("extra-answers-refused", "a retry with additional input responses is rejected", EVERYWHERE)
    }),
    modern(Behaviour {
        hear: Some(|_, message| {
            if lacks_answers(message) { refused(message, "The input responses are missing.") } else { Heard::Message }
        }),
        ..Behaviour::new("missing-answers-refused", "a retry without input responses is rejected", EVERYWHERE)
    }),
    modern(Behaviour {
        hear: Some(|_, message| ask_reader(message)),
        also: &[
            "mrtr-only-declared-capabilities",
            "mrtr-responses-validated",
            "resources-read-input-required-declared-only",
        ],
        ..Behaviour::new(
            "read-retry-unanswered-refused",
            "a read requires a name, and its retry without one is rejected",
            EVERYWHERE,
        )
    }),
    modern(Behaviour {
        hear: Some(|_, message| {
            let capabilities = "/params/_meta/io.modelcontextprotocol~1clientCapabilities";
            if message["method"] == "prompts/get"
                && let Some(declared) = message.pointer_mut(capabilities).and_then(Value::as_object_mut)
            {
                declared.insert("elicitation".to_owned(), json!({}));
            }
            ask_first(message, "prompts/get", refuse_nonsense)
        }),
        ..Behaviour::new("prompt-asks-anyway", "a prompt requests input whatever the client declared", EVERYWHERE)
    }),
    modern(Behaviour {
        hear: Some(|_, message| ask_first(message, "prompts/get", |_| None)),
        ..Behaviour::new("prompt-nonsense-taken", "a prompt requests input and accepts any input response", EVERYWHERE)
    }),
    modern(Behaviour {
        hear: Some(|_, message| ask_first(message, "resources/read", |_| None)),
        ..Behaviour::new("read-nonsense-taken", "a resource requests input and accepts any input response", EVERYWHERE)
    }),
    modern(Behaviour {
        hear: Some(|_, message| {
            ask_first(message, "prompts/get", |retry| {
                let missing = lacks_answers(retry).then(|| refused(retry, "The input responses are missing."));
                missing.or_else(|| refuse_nonsense(retry))
            })
        }),
        ..Behaviour::new(
            "prompt-missing-answers-refused",
            "a prompt requests input once, and rejects a retry without it",
            EVERYWHERE,
        )
    }),
    modern(Behaviour {
        hear: Some(|_, message| {
            ask_first(message, "prompts/get", |retry| {
                let strange = state(retry).is_some_and(|state| state != ROUND);
                strange.then_some(Heard::Nothing).or_else(|| refuse_nonsense(retry))
            })
        }),
        ..Behaviour::new(
            "prompt-garbage-state-hangs",
            "a prompt hangs at a requestState that it did not create",
            EVERYWHERE,
        )
    }),
];

/// The state of a prompt or a resource that sends requests to its client.
const ROUND: &str = "round-1";

/// Makes one prompt or one resource send requests to capable clients, until `retried` accepts the retry.
fn ask_first(message: &mut Value, method: &str, retried: fn(&mut Value) -> Option<Heard>) -> Heard {
    let params = &message["params"];
    let meant = params["name"] == "greet" || params["uri"] == "file:///docs/report";
    let declared = &params["_meta"]["io.modelcontextprotocol/clientCapabilities"]["elicitation"];
    if message["method"] != method || !meant || !declared.is_object() {
        return Heard::Message;
    }
    if is_retry(message)
        && let Some(heard) = retried(message)
    {
        return heard;
    }
    if message.pointer("/params/inputResponses").is_some() {
        return Heard::Message;
    }
    let schema = json!({ "type": "object", "properties": { "sure": { "type": "boolean" } }, "required": ["sure"] });
    let form = json!({ "mode": "form", "message": "Are you sure?", "requestedSchema": schema });
    let asks = json!({ "sure": { "method": "elicitation/create", "params": form } });
    let result = json!({ "resultType": "input_required", "inputRequests": asks, "requestState": ROUND });
    Heard::Answered(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }))
}

fn refuse_nonsense(retry: &mut Value) -> Option<Heard> {
    let nonsense = answers(retry).into_iter().any(|answer| !answer.is_object());
    nonsense.then(|| refused(retry, "The input responses are malformed."))
}

fn lacks_answers(message: &Value) -> bool {
    state(message).is_some() && message.pointer("/params/inputResponses").is_none()
}

const fn slip(name: &'static str, about: &'static str, prepare: fn(&mut Content)) -> Behaviour {
    Behaviour { prepare: Some(prepare), ..Behaviour::new(name, about, EVERYWHERE) }
}

// The value is a compile-time constant.
#[allow(clippy::large_types_passed_by_value)]
pub(super) const fn modern(behaviour: Behaviour) -> Behaviour {
    Behaviour { since: Some(Revision::V2026_07_28), ..behaviour }
}

/// The results of a client, in a response or in a retry.
pub(super) fn answers(message: &mut Value) -> Vec<&mut Value> {
    if message.get("method").is_none() {
        return message.get_mut("result").into_iter().collect();
    }
    let given = message.pointer_mut("/params/inputResponses").and_then(Value::as_object_mut);
    given.into_iter().flat_map(|given| given.values_mut()).collect()
}

/// Ignores a message with such a result.
fn unless(message: &mut Value, hangs: impl Fn(&Value) -> bool) -> Heard {
    if answers(message).into_iter().any(|answer| hangs(answer)) { Heard::Nothing } else { Heard::Message }
}

/// The values that a person would enter into the form.
pub(super) fn accepted() -> Value {
    json!({ "action": "accept", "content": { "name": "conform", "mail": "conform@example.com", "size": "s" } })
}

fn state(message: &Value) -> Option<&str> {
    message.pointer("/params/requestState")?.as_str()
}

pub(super) fn is_retry(message: &Value) -> bool {
    state(message).is_some() || message.pointer("/params/inputResponses").is_some()
}

pub(super) fn refused(message: &Value, why: &str) -> Heard {
    let error = json!({ "code": -32602, "message": why });
    Heard::Answered(json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }))
}

/// A read of one resource continues when it receives a name.
fn ask_reader(message: &Value) -> Heard {
    if message["method"] != "resources/read" || message["params"]["uri"] != "file:///docs/report" {
        return Heard::Message;
    }
    if message.pointer("/params/inputResponses/name").is_some() {
        return Heard::Message;
    }
    if is_retry(message) {
        return refused(message, "The name is missing.");
    }
    let form = json!({ "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] });
    let params = json!({ "mode": "form", "message": "Who reads?", "requestedSchema": form });
    let asked = json!({ "name": { "method": "elicitation/create", "params": params } });
    let result = json!({ "resultType": "input_required", "requestState": "reader", "inputRequests": asked });
    Heard::Answered(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }))
}

fn keep_history(memory: &mut Memory, _: &Scene, message: &mut Value) -> bool {
    let inputs = message.pointer_mut("/result/inputRequests").and_then(Value::as_object_mut);
    for request in inputs.into_iter().flat_map(|inputs| inputs.values_mut()) {
        if let Some(messages) = request.pointer_mut("/params/messages").and_then(Value::as_array_mut) {
            memory.history.append(messages);
            messages.clone_from(&memory.history);
        }
    }
    true
}

/// Remembers the requests to the client, and the tool that sends them.
pub(super) fn remember(memory: &mut Memory, scene: &Scene, message: &mut Value) -> bool {
    if let Some(inputs) = message.pointer("/result/inputRequests").and_then(Value::as_object) {
        memory.keys.extend(inputs.keys().cloned());
        memory.waiting.extend(scene.sent.map(|sent| sent["params"]["name"].to_string()));
    }
    true
}

fn wait(memory: &mut Memory, message: &mut Value) -> Heard {
    let tool = message["params"]["name"].to_string();
    if is_retry(message) {
        memory.waiting.remove(&tool);
    }
    if message["method"] == "tools/call" && memory.waiting.contains(&tool) { Heard::Nothing } else { Heard::Message }
}
