//! Faults of tools that keep cards, and of prompts, templates and completions, which only certain values show.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::{
    notes::{argument, fails, internal_error, patch, returns, typed},
    of,
};
use crate::faults::{
    Heard, Scene,
    behaviour::{Behaviour, EVERYWHERE, Memory, STDIO},
};
use conform_model::revision::Revision;

/// The tools for cards, each with its arguments, and those of them that are required.
const CARDS: [(&str, &[&str], usize); 5] = [
    ("create_card", &["title", "body"], 2),
    ("get_card", &["id"], 1),
    ("update_card", &["id", "title", "body"], 1),
    ("delete_card", &["id"], 1),
    ("list_cards", &[], 0),
];
/// The number of cards after which a pool is exhausted.
const POOL: u64 = 80;
/// The number of reads of one card after which it changes.
const OFTEN: u64 = 9;
/// A list of so many cards is complete.
const FEW: usize = 50;

/// Tools for cards, in addition to the usual ones.
fn list_tools(_: &mut Memory, _: &Scene, message: &mut Value) -> bool {
    let is_last = message.pointer("/result/nextCursor").is_none();
    if let Some(tools) = message.pointer_mut("/result/tools").and_then(Value::as_array_mut).filter(|_| is_last) {
        for (name, arguments, required) in CARDS {
            let part = |name: &&str| ((*name).to_owned(), json!({ "type": "string", "maxLength": 10_000 }));
            let properties: Map<_, _> = arguments.iter().map(part).collect();
            let schema = json!({ "type": "object", "properties": properties, "required": arguments[..required] });
            let hints = json!({ "readOnlyHint": name.starts_with(['g', 'l']), "destructiveHint": false });
            tools.push(json!({ "name": name, "inputSchema": schema, "annotations": hints }));
        }
    }
    true
}

fn cards(memory: &Memory) -> Vec<Value> {
    memory.results.get("cards").and_then(Value::as_array).cloned().unwrap_or_default()
}

/// The behavior of those tools, with one mistake.
fn keep(memory: &mut Memory, message: &Value, mistake: &str) -> Heard {
    if message["method"] == "notifications/cancelled" {
        memory.unlocked = true;
    }
    let Some(name) = message.pointer("/params/name").and_then(Value::as_str) else { return Heard::Message };
    let known = CARDS.iter().find(|(known, ..)| *known == name).filter(|_| message["method"] == "tools/call");
    let Some((_, arguments, required)) = known else { return Heard::Message };
    let given = |name: &str| argument(Some(message), name);
    let mut cards = cards(memory);
    let is_known = |name: &String| arguments.contains(&name.as_str());
    let sent = message.pointer("/params/arguments").and_then(Value::as_object);
    let is_valid = arguments[..*required].iter().all(|name| given(name).is_some())
        && sent.is_none_or(|sent| {
            sent.iter()
                .filter(|(name, _)| is_known(name))
                .all(|(_, value)| value.as_str().is_some_and(|text| text.chars().count() <= 10_000))
        });
    if !is_valid {
        if mistake == "invalid stored" && name == "create_card" {
            cards.push(json!({ "id": "0", "title": given("title"), "body": given("body") }));
            memory.results.insert("cards".to_owned(), json!(cards));
        }
        return fails(message, true, "These are not the arguments of the tool.");
    }
    let at = cards.iter().position(|card| card["id"].as_str() == given("id"));
    let mut shown = Value::Null;
    match (name, at) {
        ("list_cards", _) => {
            let skipped = usize::from(mistake == "list lacks the last" && cards.len() < FEW);
            shown = json!({ "cards": cards[..cards.len().saturating_sub(skipped)] });
        }
        ("create_card", _) => {
            let count = memory.counts.entry("cards".to_owned()).or_default();
            *count += 1;
            let is_used_up = mistake == "pool" && *count >= POOL;
            if is_used_up || (mistake == "cancelled" && memory.unlocked) {
                return fails(message, true, "There is no connection to the store.");
            }
            let id = format!("card-{count}");
            let title = given("title").map(str::to_owned);
            shown = json!({ "id": id, "title": title, "body": given("body") });
            let kept = if mistake == "trims" { title.map(|title| title.trim().to_owned()) } else { title };
            cards.push(json!({ "id": id, "title": kept, "body": given("body") }));
        }
        (_, None) => return fails(message, true, "There is no such card."),
        ("get_card", Some(at)) => {
            shown = cards[at].clone();
            let reads = memory.counts.entry(format!("reads of {}", shown["id"])).or_default();
            *reads += 1;
            if mistake == "read changes" && *reads == OFTEN {
                cards[at]["body"] = json!(format!("{}.", shown["body"].as_str().unwrap_or_default()));
            }
        }
        ("update_card", Some(at)) => {
            for name in ["title", "body"] {
                let own = given(name).filter(|text| !text.is_empty() || mistake != "empty ignored");
                if let Some(text) = own {
                    cards[at][name] = json!(text);
                }
            }
            shown = cards[at].clone();
        }
        (_, Some(at)) => {
            cards.remove(at);
            if mistake == "deletes two" && at < cards.len() {
                cards.remove(at);
            }
        }
    }
    memory.results.insert("cards".to_owned(), json!(cards));
    returns(message, &json!(shown.to_string()), Duration::ZERO)
}

macro_rules! card_fault {
    ($name:literal, $mistake:literal, $about:literal) => {
        Behaviour {
            until: if matches!($mistake.as_bytes(), b"cancelled") { Some(Revision::NEWEST_LEGACY) } else { None },
            hear: Some(|memory, message| keep(memory, message, $mistake)),
            say: Some(list_tools),
            ..of($name, $about, STDIO)
        }
    };
}

/// The name and the arguments of a request for a prompt.
fn prompted(message: &Value) -> Option<&str> {
    message["method"].as_str().filter(|method| *method == "prompts/get")?;
    message.pointer("/params/arguments/name")?.as_str()
}

fn contents(message: &Value, contents: &Value) -> Heard {
    let result = json!({ "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "contents": contents });
    Heard::Answered(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }))
}

/// A template that shows its variable.
fn people(message: &Value) -> Option<(&str, String)> {
    let uri = message.pointer("/params/uri").and_then(Value::as_str)?;
    let name = uri.strip_prefix("people://")?;
    Some((uri, percent_encoding::percent_decode_str(name).decode_utf8().ok()?.into_owned()))
}

fn list_people(_: &mut Memory, _: &Scene, message: &mut Value) -> bool {
    if let Some(templates) = message.pointer_mut("/result/resourceTemplates").and_then(Value::as_array_mut) {
        templates.push(json!({ "uriTemplate": "people://{name}", "name": "people" }));
    }
    true
}

pub static KEPT: &[Behaviour] = &[
    card_fault!("call-cards-trimmed", "trims", "a title is stored without the spaces that were confirmed"),
    card_fault!("call-cards-read-changes", "read changes", "the ninth read of a card changes its body"),
    card_fault!("call-cards-list-short", "list lacks the last", "a short list of cards lacks the last one"),
    card_fault!("call-cards-empty-ignored", "empty ignored", "an update to an empty text is not stored"),
    card_fault!("call-cards-deletes-two", "deletes two", "the deletion of a card deletes the next one too"),
    card_fault!("call-cards-invalid-stored", "invalid stored", "a card is stored although its arguments are rejected"),
    card_fault!("call-cards-pool", "pool", "the 80th creation of a card fails"),
    card_fault!("call-cards-cancelled", "cancelled", "no card can be created after a cancellation"),
    Behaviour {
        hear: Some(|_, message| {
            let is_null = message.pointer("/params/arguments/text").is_some_and(Value::is_null);
            if !is_null || message["method"] != "tools/call" || message["params"]["name"] != "echo" {
                return Heard::Message;
            }
            returns(message, &json!("null"), Duration::ZERO)
        }),
        ..of("call-null-for-text", "a text may be null, though other tools reject null", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, message| {
            let is_plot = message["params"]["name"] == "plot";
            let mark = message.pointer("/params/arguments/mark").filter(|_| is_plot);
            fails(message, mark.is_some_and(|mark| mark != "dot"), "`mark` has an unknown value.")
        }),
        ..of("call-last-option-lost", "the last value of an enum is rejected like an unknown one", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, scene, message| {
            let empty = argument(scene.sent, "text") == Some("");
            patch(message, "/result/content/0/text", empty.then(|| json!("Error: there is nothing to say")))
        }),
        ..of("call-error-unmarked", "a failure is a result without `isError`", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, message| {
            if prompted(message).is_none_or(|name| !name.contains('%')) {
                return Heard::Message;
            }
            internal_error(message, "Internal error")
        }),
        ..of("call-prompt-formats", "a percent sign in a prompt's argument causes an internal error", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, message| {
            if message["method"] != "prompts/get"
                || message.pointer("/params/name").is_none_or(|name| name != "greet")
                || prompted(message).is_some()
            {
                return Heard::Message;
            }
            let content = json!({ "type": "text", "text": "Write a friendly greeting for somebody." });
            let messages = json!([{ "role": "user", "content": content }]);
            let result = json!({ "resultType": "complete", "messages": messages });
            Heard::Answered(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }))
        }),
        ..of("call-prompt-without-name", "a prompt does not need its required argument", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, scene, message| {
            let name = scene.sent.and_then(prompted).filter(|name| name.contains('{')).map(str::to_owned);
            if let (Some(name), Some(text)) = (name, message.pointer_mut("/result/messages/0/content/text")) {
                let kept = text.as_str().unwrap_or_default().replace(&name, "somebody");
                *text = json!(kept);
            }
            true
        }),
        ..of("call-prompt-drops-braces", "a prompt's argument with a brace is lost", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, scene, message| {
            let is_typed = typed(scene.sent).is_some_and(|typed| !typed.is_empty());
            let few = message.pointer("/result/completion/values").is_some_and(Value::is_array);
            patch(
                message,
                "/result/completion",
                (is_typed && few).then(|| json!({ "values": ["a"], "total": 1, "hasMore": true })),
            )
        }),
        ..of("call-completion-has-more", "`hasMore` is true though all values are sent", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|memory, message| {
            let Some((uri, name)) = people(message) else { return Heard::Message };
            let first = memory.said.entry("first").or_insert_with(|| json!(name)).clone();
            contents(
                message,
                &json!([{ "uri": uri, "mimeType": "text/plain", "text": format!("about {}", first.as_str().unwrap_or_default()) }]),
            )
        }),
        say: Some(list_people),
        ..of("call-template-stale", "a template always returns what was read first", STDIO)
    },
    Behaviour {
        hear: Some(|_, message| {
            let Some((uri, name)) = people(message) else { return Heard::Message };
            if name.chars().count() > 200 {
                return contents(message, &json!([]));
            }
            contents(message, &json!([{ "uri": uri, "mimeType": "text/plain", "text": format!("about {name}") }]))
        }),
        say: Some(list_people),
        ..of("call-template-empty", "a long value of a template has no contents", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, message| {
            if message.pointer("/params/uri").is_none_or(|uri| uri != "file:///src/lib.rs") {
                return Heard::Message;
            }
            let error = json!({ "code": -32602, "message": "There is no such file.", "data": { "uri": message["params"]["uri"] } });
            Heard::Answered(json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }))
        }),
        ..of("call-template-offered", "a value that is offered as a completion cannot be read", EVERYWHERE)
    },
];
