//! Worlds for rules about messages, the lifecycle, cancellation, progress, logging and timeouts.
//!
//! In `odd-messages` the text of a call of `echo` selects the message before, after or in place of its response.

use serde_json::{Value, json};

use std::time::Duration;

use super::odd;
use crate::faults::{Behaviour, EVERYWHERE, Heard, Memory, Scene};
use conform_model::revision::Revision;

/// The delay of the response to `initialize`, so that messages that are sent too early are noticed.
const SLOW: Duration = Duration::from_millis(1200);

pub static BASE: &[Behaviour] = &[
    Behaviour {
        hear: Some(odd::hear),
        say: Some(odd::say),
        around: Some(odd::around),
        spell: Some(odd::spell),
        ..Behaviour::new(
            "odd-messages",
            "unusual messages precede and follow the responses to calls of `echo`",
            EVERYWHERE,
        )
    },
    Behaviour {
        around: Some(crossed),
        delay: |responses| Duration::from_millis([300, 150, 0][usize::try_from(responses % 3).unwrap_or_default()]),
        ..Behaviour::new(
            "crossed-lists",
            "pages of lists arrive out of order, twice, and after a page that was not requested",
            EVERYWHERE,
        )
    },
    Behaviour {
        around: Some(|_, scene, _| {
            if scene.method() != Some("initialize") {
                return (Vec::new(), Vec::new());
            }
            let log = json!({ "jsonrpc": "2.0", "method": "notifications/message",
                "params": { "level": "info", "data": "The server starts." } });
            let ping = |id: &str| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
            (vec![ping("early-before"), log.clone()], vec![ping("early-after"), log])
        }),
        delay: |responses| if responses == 1 { SLOW } else { Duration::ZERO },
        until: Some(Revision::NEWEST_LEGACY),
        ..Behaviour::new(
            "slow-initialize",
            "initialize takes time, with pings before and after its response",
            EVERYWHERE,
        )
    },
    Behaviour {
        hear: Some(|_, message| {
            if message["method"] != "initialize" {
                return Heard::Message;
            }
            let error = json!({ "code": -32603, "message": "Internal error" });
            Heard::Answered(json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }))
        }),
        until: Some(Revision::NEWEST_LEGACY),
        ..Behaviour::new("initialize-fails", "initialize returns an error", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, message| if message["method"] == "initialize" { Heard::Nothing } else { Heard::Message }),
        until: Some(Revision::NEWEST_LEGACY),
        ..Behaviour::new("initialize-unanswered", "initialize has no response", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, scene, message| {
            if scene.method() == Some("initialize") && message.get("result").is_some() {
                message["result"]["protocolVersion"] = json!("1999-01-01");
            }
            true
        }),
        until: Some(Revision::NEWEST_LEGACY),
        ..Behaviour::new("unsupported-version", "the result of initialize names an unknown revision", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, message| {
            let method = message["method"].as_str().unwrap_or_default();
            let basic = method == "initialize" || method == "ping" || method == "server/discover";
            if basic || message.get("id").is_none() || message.get("method").is_none() {
                return Heard::Message;
            }
            let error = json!({ "code": -32601, "message": "Method not found" });
            Heard::Answered(json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }))
        }),
        say: Some(|_, scene, message| {
            if scene.method() == Some("initialize") && message.get("result").is_some() {
                let version = message["result"]["protocolVersion"].take();
                let server = json!({ "name": "bare", "version": "1" });
                message["result"] = json!({ "protocolVersion": version, "capabilities": {}, "serverInfo": server });
            }
            true
        }),
        until: Some(Revision::NEWEST_LEGACY),
        ..Behaviour::new("bare-server", "the server declares nothing and has only ping", EVERYWHERE)
    },
    Behaviour {
        say: Some(vendor),
        ..Behaviour::new(
            "vendor-fields",
            "capabilities, results and `_meta` have fields that no client knows",
            EVERYWHERE,
        )
    },
    Behaviour {
        hear: Some(|_, message| {
            if message.get("id").is_none() || message.get("method").is_none() {
                return Heard::Message;
            }
            let data = json!({ "supported": ["2099-01-01"], "requested": "2026-07-28" });
            let error = json!({ "code": -32022, "message": "Unsupported protocol version", "data": data });
            Heard::Answered(json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }))
        }),
        since: Some(Revision::V2026_07_28),
        ..Behaviour::new(
            "no-common-version",
            "every request gets -32022 with an unknown revision as the supported one",
            EVERYWHERE,
        )
    },
    Behaviour {
        answers_cancelled: true,
        ..Behaviour::new("late-responses", "cancelled requests get a response nevertheless", EVERYWHERE)
    },
    Behaviour {
        around: Some(|_, scene, _| {
            if scene.method() != Some("tools/call") {
                return (Vec::new(), Vec::new());
            }
            let ping = |id: &str| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
            let log = json!({ "jsonrpc": "2.0", "method": "notifications/message",
                "params": { "level": "info", "data": "in a batch" } });
            let unknown = json!({ "jsonrpc": "2.0", "id": "batch-unknown", "method": "server/does-not-exist" });
            (vec![json!([ping("batch-first"), log, unknown, ping("batch-last")])], Vec::new())
        }),
        spell: Some(|message| {
            let alone = message.pointer("/result/protocolVersion").is_some() || message.is_array();
            let batch = if alone { message.clone() } else { json!([message]) };
            batch.to_string().into_bytes()
        }),
        since: Some(Revision::V2025_03_26),
        until: Some(Revision::V2025_03_26),
        ..Behaviour::new("batched", "all messages but the result of initialize are sent in arrays", EVERYWHERE)
    },
];

/// Before a page, one that was not requested; after it, another one for the same request.
fn crossed(_: &mut Memory, scene: &Scene, message: &Value) -> (Vec<Value>, Vec<Value>) {
    let is_list = scene.method().is_some_and(|method| method.ends_with("/list"));
    if !is_list || message.get("result").is_none() {
        return (Vec::new(), Vec::new());
    }
    let (mut stray, mut second) = (message.clone(), message.clone());
    stray["id"] = json!("never-sent");
    stray["result"]["nextCursor"] = json!("cursor-of-stray-response");
    second["result"]["nextCursor"] = json!("cursor-of-second-response");
    (vec![stray], vec![second])
}

/// Vendor fields, each in another place, so that a failure shows the place.
fn vendor(_: &mut Memory, scene: &Scene, message: &mut Value) -> bool {
    let Some(result) = message.get_mut("result") else { return true };
    match scene.method() {
        Some("initialize" | "server/discover") => {
            result["capabilities"]["com.example/feature"] = json!({ "level": 3 });
            result["capabilities"]["telepathy"] = json!({ "listChanged": true });
            result["capabilities"]["experimental"] = json!({ "com.example/trial": { "on": null } });
            if let Some(versions) = result.get_mut("supportedVersions").and_then(Value::as_array_mut) {
                versions.insert(0, json!("2099-01-01"));
                versions.push(json!("DRAFT-2098-v1"));
            }
        }
        Some("prompts/list") => {
            result["x-vendor"] = json!({ "trace": [1, null] });
            for prompt in result["prompts"].as_array_mut().into_iter().flatten() {
                prompt["x-vendor"] = json!(null);
            }
        }
        Some("prompts/get") => {
            result["_meta"] = json!({
                "io.modelcontextprotocol/unheardOf": null,
                "modelcontextprotocol.io/number": 7,
                "io.modelcontextprotocol/nothingKnown": "a text",
            });
        }
        Some("tools/list") => odd::schemas(result),
        _ => {}
    }
    true
}
