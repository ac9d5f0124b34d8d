//! Faults in `_meta`, and in the parts of 2026-07-28 that replace the handshake.

use serde_json::{Value, json};

use super::edits::{edit_version, initialize};
use conform_model::revision::Revision;
use conform_reference_client::behaviour::{
    Behaviour, EVERYWHERE,
    decisions::{Era, Heard, Moment, Probed},
};

pub static FAULTS: &[Behaviour] = &[
    Behaviour {
        hear: Some(|memory, _, message| {
            if let Some(first) = message.pointer("/result/supportedVersions/0") {
                memory.keep("version", first.clone());
            }
            Heard::Message
        }),
        era: Some(|_, _, probed, era| {
            if matches!(probed, Probed::Result(_)) {
                *era = Era::Modern(Revision::NEWEST);
            }
        }),
        say: Some(|memory, _, messages| {
            let version = memory.kept("version");
            if !version.is_null() {
                edit_version(messages, &version);
            }
        }),
        ..Behaviour::modern(
            "first-listed-version-taken",
            "the first version that server/discover lists is used",
            EVERYWHERE,
        )
    },
    Behaviour {
        unasked: Some(|_, _, moment| once(moment, initialize())),
        ..Behaviour::modern("initialize-after-discover", "initialize follows server/discover", EVERYWHERE)
    },
    Behaviour {
        unasked: Some(|_, _, moment| once(moment, json!({ "do": "notify", "method": "notifications/initialized" }))),
        ..Behaviour::modern(
            "initialized-after-discover",
            "notifications/initialized follows server/discover",
            EVERYWHERE,
        )
    },
    Behaviour {
        unasked: Some(|_, _, moment| once(moment, json!({ "do": "ping", "force": true, "timeout": 2000 }))),
        ..Behaviour::modern("modern-ping-sent", "ping is sent in a stateless revision", EVERYWHERE)
    },
    Behaviour {
        unasked: Some(|_, _, moment| {
            once(moment, json!({ "do": "setLevel", "level": "info", "force": true, "timeout": 2000 }))
        }),
        ..Behaviour::modern("modern-set-level-sent", "logging/setLevel is sent in a stateless revision", EVERYWHERE)
    },
    Behaviour {
        unasked: Some(|_, _, moment| {
            once(moment, json!({ "do": "notify", "method": "notifications/roots/list_changed" }))
        }),
        ..Behaviour::modern(
            "roots-change-notified-in-modern",
            "a change of roots is notified in a stateless revision",
            EVERYWHERE,
        )
    },
];

fn once(moment: Moment, action: Value) -> Vec<Value> {
    if moment == Moment::Connected { vec![action] } else { Vec::new() }
}
