//! Faults in rounds of input and in subscriptions.

use serde_json::{Value, json};

use conform_reference_client::{
    Transport,
    behaviour::{
        Behaviour, EVERYWHERE, HTTP, STDIO,
        decisions::{Heard, Moment, Retry, Scene},
        memory::Memory,
    },
    report::Outcome,
    requests::{NOTHING_REQUIRED, WITHOUT_END},
};

/// Rounds that a client without a limit sends: more than a rule allows, but few enough for a run.
const MANY: u32 = 120;

pub static ROUNDS: &[Behaviour] = &[
    Behaviour {
        input: Some(|memory, _, _, params| {
            if memory.kept("first state").is_null() {
                memory.keep("first state", params.get("requestState").cloned().unwrap_or_default());
            } else if params.contains_key("requestState") {
                params.insert("requestState".to_owned(), memory.kept("first state"));
            }
        }),
        ..Behaviour::modern("first-state-kept", "all rounds have the `requestState` of the first one", EVERYWHERE)
    },
    Behaviour {
        input: Some(|memory, _, _, params| match params.get("requestState").cloned() {
            Some(state) => memory.keep("state", state),
            None if memory.kept("state") == "only one" => {
                params.insert("requestState".to_owned(), memory.kept("state"));
            }
            None => {}
        }),
        ..Behaviour::modern(
            "state-kept-after-last-round",
            "a round without `requestState` has that of the round before",
            EVERYWHERE,
        )
    },
    repeated("empty-round-repeated", "a request that requires nothing is sent again", |_, _, _, outcome, retry| {
        retry.again |= failed_by(outcome, NOTHING_REQUIRED) && retry.attempts < 6;
    }),
    repeated("rounds-without-end", "rounds of input have no limit", |_, _, _, outcome, retry| {
        retry.again |= failed_by(outcome, WITHOUT_END) && retry.attempts < MANY;
    }),
    Behaviour {
        outcome: Some(|_, action, outcome| {
            if action["of"] == "prompts" && outcome.is_err() {
                *outcome = Ok(json!([]));
            }
        }),
        ..Behaviour::modern("required-input-taken-for-list", "a list that requires input is empty", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, _, message| {
            let odd = message.pointer("/result/inputRequests/odd").is_some();
            if odd { Heard::Disconnect } else { Heard::Message }
        }),
        ..Behaviour::modern("unknown-input-disconnects", "an unknown input request ends the connection", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, _, message| {
            if message.pointer("/result/resultType").is_some_and(|kind| kind == "input_required") {
                message["result"]["resultType"] = json!("complete");
            }
            Heard::Message
        }),
        ..Behaviour::modern("required-input-taken-for-result", "`input_required` is taken for `complete`", EVERYWHERE)
    },
    Behaviour {
        outcome: Some(|memory, action, outcome| {
            if action["uri"] == "round://read" && outcome.is_ok() {
                if memory.kept("read").is_null() {
                    memory.keep("read", outcome.as_ref().ok().cloned().unwrap_or_default());
                }
                *outcome = Ok(memory.kept("read"));
            }
        }),
        ..Behaviour::modern("result-after-input-cached", "the result of a read with input is cached", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, scene, message| if ends(scene, message, "result") { Heard::Disconnect } else { Heard::Message }),
        ..Behaviour::modern(
            "end-of-subscription-disconnects",
            "the end of a subscription ends the connection",
            EVERYWHERE,
        )
    },
    Behaviour {
        hear: Some(|_, scene, message| if ends(scene, message, "error") { Heard::Disconnect } else { Heard::Message }),
        ..Behaviour::modern(
            "rejected-subscription-disconnects",
            "an error of a subscription ends the connection",
            EVERYWHERE,
        )
    },
    Behaviour {
        hear: Some(
            |_, _, message| {
                if message["method"] == "notifications/cancelled" { Heard::Disconnect } else { Heard::Message }
            },
        ),
        ..Behaviour::modern(
            "cancelled-subscription-disconnects",
            "a cancellation of the server ends the connection",
            STDIO,
        )
    },
    Behaviour {
        hear: Some(|memory, scene, message| {
            if message["method"] == "notifications/subscriptions/acknowledged" {
                memory.seen.insert(subscription(message).to_string());
            }
            let change = message["method"].as_str().is_some_and(|method| method.ends_with("list_changed"));
            let listens =
                |(id, method): &(Value, String)| method == "subscriptions/listen" && id == subscription(message);
            let early =
                change && scene.open.iter().any(listens) && !memory.seen.contains(&subscription(message).to_string());
            if early { Heard::Disconnect } else { Heard::Message }
        }),
        ..Behaviour::modern(
            "acknowledgement-asserted",
            "a notification before the acknowledgement ends the connection",
            EVERYWHERE,
        )
    },
    Behaviour {
        say: Some(|memory, _, messages| {
            // What is sent meanwhile waits, and is never sent.
            if memory.kept("unacknowledged").is_null() {
                let listen = messages.iter().find(|message| message["method"] == "subscriptions/listen");
                memory.keep("unacknowledged", listen.map(|message| message["id"].clone()).unwrap_or_default());
            } else {
                messages.clear();
            }
        }),
        hear: Some(|memory, _, message| {
            let open = memory.kept("unacknowledged");
            if message["id"] == open || *subscription(message) == open {
                memory.keep("unacknowledged", Value::Null);
            }
            Heard::Message
        }),
        ..Behaviour::modern(
            "acknowledgement-awaited-by-all",
            "no request is sent until a subscription is acknowledged",
            EVERYWHERE,
        )
    },
    Behaviour {
        abort: Some(|_, _, (_, method), abort| {
            if method == "subscriptions/listen" {
                (abort.notify, abort.close_stream) = (false, false);
            }
        }),
        ..Behaviour::modern(
            "listen-never-cancelled",
            "a subscription is not read any more and stays open",
            WITH_LISTENS,
        )
    },
    Behaviour {
        abort: Some(|_, _, (_, method), abort| {
            if method == "subscriptions/listen" {
                (abort.notify, abort.close_stream) = (true, false);
            }
        }),
        ..Behaviour::modern(
            "listen-cancelled-by-notification",
            "the stream of a cancelled subscription stays open",
            HTTP,
        )
    },
    Behaviour {
        say: Some(|_, _, messages| {
            for message in messages.iter_mut().filter(|message| message["method"] == "notifications/cancelled") {
                message["params"]["requestId"] = json!(message["params"]["requestId"].to_string());
            }
        }),
        ..Behaviour::modern("listen-cancelled-by-text", "cancellations have the text of the id", STDIO)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            for message in messages.iter_mut().filter(|message| message["method"] == "notifications/cancelled") {
                message["params"] = json!({ "subscriptionId": message["params"]["requestId"] });
            }
        }),
        ..Behaviour::modern("listen-cancelled-by-subscription", "cancellations have the id under another key", STDIO)
    },
    Behaviour {
        input: Some(|memory, _, _, params| {
            if params.contains_key("uri") {
                let last = memory.kept("last id");
                memory.keep("again", last);
            }
        }),
        id: Some(|memory, number, _| memory.values.remove("again").unwrap_or_else(|| json!(number))),
        ..Behaviour::modern("read-retry-with-old-id", "a read with input has the id of the first read", EVERYWHERE)
    },
    Behaviour {
        unasked: Some(|memory, _, moment| {
            let ended = moment == Moment::Tick && memory.counts.contains_key("ended");
            let again = ended && memory.count("again") <= 4;
            let listen = json!({ "do": "listen", "notifications": { "toolsListChanged": true } });
            if again {
                vec![json!({ "do": "parallel", "quiet": true, "actions": vec![listen; 8] })]
            } else {
                Vec::new()
            }
        }),
        hear: Some(|memory, scene, message| {
            if ends(scene, message, "result") {
                memory.count("ended");
            }
            Heard::Message
        }),
        ..Behaviour::modern(
            "subscription-opened-in-a-loop",
            "a subscription that has ended is opened again at once",
            EVERYWHERE,
        )
    },
];

/// 2026-07-28 has no others.
const WITH_LISTENS: &[Transport] = &[Transport::Stdio, Transport::Http];

/// The subscription that a notification names, as JSON.
fn subscription(message: &Value) -> &Value {
    &message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"]
}

const fn repeated(
    name: &'static str,
    about: &'static str,
    retry: fn(&mut Memory, &Scene, &str, &Outcome, &mut Retry),
) -> Behaviour {
    Behaviour { retry: Some(retry), ..Behaviour::modern(name, about, EVERYWHERE) }
}

fn failed_by(outcome: &Outcome, why: &str) -> bool {
    outcome.as_ref().is_err_and(|failure| failure.message == why)
}

/// Whether this is the response, of that kind, to the only subscription.
fn ends(scene: &Scene, message: &Value, kind: &str) -> bool {
    let listens = |(id, method): &(Value, String)| method == "subscriptions/listen" && *id == message["id"];
    message.get(kind).is_some() && scene.open.iter().any(listens)
}
