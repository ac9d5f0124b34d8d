//! Faults in the handshake, and in its consequences.

use std::time::Duration;

use serde_json::{Value, json};

use super::edits::initialize;
use conform_model::revision::Revision;
use conform_reference_client::behaviour::{
    Behaviour, EVERYWHERE,
    decisions::{Era, Initialized, Moment, Probed, Settlement},
};

pub static FAULTS: &[Behaviour] = &[
    Behaviour {
        handshake: Some(|_, _, plan| plan.initialize = false),
        permit: Some(|_, _, _, _, permitted| *permitted = true),
        ..legacy("initialize-left-out", "requests are sent without initialize")
    },
    Behaviour {
        handshake: Some(|_, _, plan| plan.initialized = Initialized::Early),
        ..legacy("initialized-comes-first", "notifications/initialized goes before initialize")
    },
    Behaviour {
        handshake: Some(|_, _, plan| plan.initialized = Initialized::Never),
        ..legacy("initialized-never-sent", "`notifications/initialized` is not sent")
    },
    Behaviour {
        handshake: Some(|_, _, plan| plan.initialized = Initialized::Late),
        ..legacy("initialized-sent-late", "`notifications/initialized` is sent after the first list")
    },
    Behaviour {
        handshake: Some(|_, _, plan| plan.offer = json!(env!("CARGO_PKG_VERSION"))),
        ..legacy("version-of-the-sdk-offered", "initialize offers the version of the program")
    },
    Behaviour {
        handshake: Some(|_, _, plan| plan.offer = json!(Revision::NEWEST.as_str())),
        ..legacy("modern-version-in-initialize", "initialize offers a revision without a handshake")
    },
    Behaviour {
        handshake: Some(|_, _, plan| plan.offer = json!(Revision::V2024_11_05.as_str())),
        ..legacy("oldest-version-offered", "initialize always offers 2024-11-05")
    },
    Behaviour {
        settle: Some(|_, scene, outcome, settlement| {
            let other = outcome.as_ref().is_ok_and(|result| result["protocolVersion"] != "2025-11-25");
            if other && scene.legacy() {
                *settlement = Settlement::Disconnect("another version than the offered one".to_owned());
            }
        }),
        ..legacy("counter-offer-rejected", "only 2025-11-25 is accepted in the result of initialize")
    },
    Behaviour {
        settle: Some(|_, _, outcome, settlement| {
            if outcome.is_ok() && matches!(settlement, Settlement::Disconnect(_)) {
                *settlement = Settlement::GoOn(Revision::NEWEST_LEGACY);
            }
        }),
        ..legacy("unsupported-version-accepted", "any version in the result of `initialize` will do")
    },
    Behaviour {
        settle: Some(|_, _, outcome, settlement| {
            if outcome.is_err() {
                *settlement = Settlement::GoOn(Revision::NEWEST_LEGACY);
            }
        }),
        permit: Some(|_, _, _, _, permitted| *permitted = true),
        ..legacy("goes-on-after-failed-initialize", "requests are sent after initialize failed")
    },
    Behaviour {
        settle: Some(|_, _, outcome, settlement| {
            if outcome.as_ref().is_ok_and(|result| result["capabilities"].get("tools").is_none()) {
                *settlement = Settlement::Disconnect("the server has no tools".to_owned());
            }
        }),
        ..legacy("server-without-tools-rejected", "a server that does not declare tools is rejected")
    },
    Behaviour {
        settle: Some(|_, _, outcome, settlement| {
            if outcome.as_ref().is_ok_and(|result| has_unknown(&result["capabilities"])) {
                *settlement = Settlement::Disconnect("unknown capability".to_owned());
            }
        }),
        era: Some(|_, _, probed, era| {
            if matches!(probed, Probed::Result(result) if has_unknown(&result["capabilities"])) {
                *era = Era::GiveUp("unknown capability".to_owned());
            }
        }),
        ..Behaviour::new("unknown-capability-rejected", "a server with an unknown capability is rejected", EVERYWHERE)
    },
    Behaviour {
        handshake: Some(|_, _, plan| plan.awaits = false),
        permit: Some(|_, _, _, _, permitted| *permitted = true),
        ..legacy("lists-before-initialize-response", "requests do not wait for the response to initialize")
    },
    Behaviour {
        unasked: Some(|_, _, moment| if moment == Moment::BeforeAction { vec![initialize()] } else { Vec::new() }),
        ..legacy("initialize-before-each-action", "initialize is sent before each action")
    },
    Behaviour {
        unasked: Some(|_, _, moment| {
            let probe = json!({ "do": "discover", "force": true, "timeout": 2000 });
            if moment == Moment::BeforeAction { vec![probe, initialize()] } else { Vec::new() }
        }),
        ..legacy("probe-before-each-action", "each action begins with a probe and initialize")
    },
    Behaviour {
        unasked: Some(|_, _, moment| {
            let probe = json!({ "do": "discover", "force": true, "timeout": 2000 });
            if moment == Moment::Connected { vec![probe] } else { Vec::new() }
        }),
        ..legacy("discover-in-open-session", "server/discover is sent in an open session")
    },
    Behaviour {
        abort: Some(|_, _, (_, method), abort| abort.notify |= method == "initialize"),
        ..legacy("initialize-cancelled", "initialize is cancelled at its timeout")
    },
    Behaviour {
        handshake: Some(|_, _, plan| {
            plan.timeout = Some(Duration::from_millis(200));
            (plan.repeats, plan.pause) = (20, Duration::ZERO);
        }),
        ..legacy("initialize-in-a-loop", "initialize is repeated without a pause")
    },
    Behaviour {
        handshake: Some(|_, _, plan| plan.timeout = None),
        timeout: Some(|_, _, method, limit| {
            if method == "initialize" {
                *limit = None;
            }
        }),
        ..legacy("initialize-without-timeout", "initialize is waited for without end")
    },
    Behaviour {
        permit: Some(|_, _, _, _, permitted| *permitted = true),
        ..legacy("capabilities-of-server-ignored", "all methods are used, whatever the server declared")
    },
    Behaviour {
        permit: Some(|_, _, method, _, permitted| *permitted |= method == "completion/complete"),
        ..legacy("completion-tried-undeclared", "completion/complete is tried without its capability")
    },
    Behaviour {
        unasked: Some(|_, _, moment| {
            let set = json!({ "do": "setLevel", "level": "info", "force": true, "timeout": 2000 });
            if moment == Moment::Connected { vec![set] } else { Vec::new() }
        }),
        ..legacy("level-set-after-initialize", "logging/setLevel follows each handshake")
    },
];

const fn legacy(name: &'static str, about: &'static str) -> Behaviour {
    Behaviour::legacy(name, about, EVERYWHERE)
}

fn has_unknown(capabilities: &Value) -> bool {
    let known = [
        "tools",
        "prompts",
        "resources",
        "logging",
        "completions",
        "experimental",
        "tasks",
        "extensions",
        "elicitation",
    ];
    capabilities.as_object().is_some_and(|all| all.keys().any(|name| !known.contains(&name.as_str())))
}
