//! Faults in sessions over Streamable HTTP, and in streams that are resumed.

use std::time::Duration;

use serde_json::json;

use crate::act::{
    faults::{
        behaviour::{Behaviour, HTTP},
        decisions::{Posting, Scene},
        memory::Memory,
        simple::{post, reject, said, time_out},
    },
    message::method,
    report::Failure,
};
use crate::revision::Revision;

const SESSION: &str = "mcp-session-id";

pub static SESSIONS: &[Behaviour] = &[
    session("session-id-missing-on-initialized", "the notification has no session id", |_, _, posting| {
        if posting.rpc() == "notifications/initialized" {
            posting.remove(SESSION);
        }
    }),
    session("session-id-missing-on-get", "a GET has no session id", |_, _, posting| {
        if posting.method == "GET" {
            posting.remove(SESSION);
        }
    }),
    session("session-id-missing-on-responses", "responses have no session id", |_, _, posting| {
        if posting.method == "POST" && posting.message.get("method").is_none() {
            posting.remove(SESSION);
        }
    }),
    session("session-id-upper-cased", "a session id is put into upper case", |_, _, posting| {
        if let (Some(id), "prompts/list") = (posting.get(SESSION).map(<[u8]>::to_ascii_uppercase), posting.rpc()) {
            posting.set(SESSION, id);
        }
    }),
    session("session-id-of-first-session", "the first session is deleted at the end", |memory, _, posting| {
        let Some(id) = posting.get(SESSION).map(|id| String::from_utf8_lossy(id).into_owned()) else { return };
        if memory.kept("session").is_null() {
            memory.keep("session", json!(id));
        }
        if posting.method == "DELETE" {
            let first = memory.kept("session").as_str().unwrap_or_default().to_owned();
            posting.set(SESSION, first);
        }
    }),
    session("session-id-invented", "a session id is made up", |_, scene, posting| {
        if scene.session.is_none() && posting.rpc() != "initialize" {
            posting.set(SESSION, "0b4f7a9e-made-up");
        }
    }),
    session("session-id-empty", "there is an empty session id", |_, scene, posting| {
        if scene.session.is_none() && posting.rpc() != "initialize" {
            posting.set(SESSION, "");
        }
    }),
    session("session-id-on-initialize", "initialize has a session id", |_, _, posting| {
        if posting.rpc() == "initialize" {
            posting.set(SESSION, "of-an-earlier-run");
        }
    }),
    Behaviour {
        head: Some(|memory, _, _, head| {
            if let Some(session) = &head.session {
                memory.keep("session", json!(session));
            }
        }),
        post: Some(|memory, _, posting| {
            if let Some(id) = memory.kept("session").as_str() {
                posting.set(SESSION, id);
            }
        }),
        ..Behaviour::modern("session-id-echoed-in-modern", "any session id of a response is sent back", HTTP)
    },
    Behaviour {
        also: &["client-http-session-id-sent"],
        ..session("resumes-without-session", "a GET that resumes a stream has no session id", |_, _, posting| {
            if posting.get("last-event-id").is_some() {
                posting.remove(SESSION);
            }
        })
    },
    Behaviour {
        shutdown: Some(|_, _, plan| plan.deletes = 0),
        ..Behaviour::legacy("session-never-deleted", "sessions are never deleted", HTTP)
    },
    Behaviour {
        shutdown: Some(|_, _, plan| plan.deletes = 3),
        ..Behaviour::legacy("delete-repeated", "a session is deleted three times", HTTP)
    },
    session("responses-without-accept", "responses have no Accept", |_, _, posting| {
        if posting.method == "POST" && posting.message.get("method").is_none() {
            posting.remove("accept");
        }
    }),
    Behaviour {
        say: Some(|_, _, messages| {
            if method(&messages[0]) == Some("notifications/initialized") {
                let first = messages[0].clone();
                messages.extend([first.clone(), first.clone(), first]);
            }
        }),
        ..Behaviour::legacy("initialized-repeated", "the notification is sent four times", HTTP)
    },
    Behaviour {
        restart: Some(|_, _, restart| restart.again = false),
        ..Behaviour::legacy("session-not-restarted", "a session that is over is not started again", HTTP)
    },
    Behaviour {
        post: Some(|memory, scene, posting| {
            if let Some(session) = &scene.session {
                memory.keep("session", json!(session));
            }
            let dead = memory.kept("session");
            if let (Some(dead), "initialize") = (dead.as_str(), posting.rpc()) {
                posting.set(SESSION, dead);
            }
        }),
        ..Behaviour::legacy("dead-session-id-on-initialize", "initialize has the id of the session that is over", HTTP)
    },
    Behaviour {
        restart: Some(|_, _, restart| {
            restart.again = restart.attempts < 40;
            restart.wait = Duration::ZERO;
        }),
        ..Behaviour::legacy("session-restarted-forever", "sessions are started again and again", HTTP)
    },
    Behaviour {
        head: Some(|memory, _, posting, head| {
            if posting.method == "GET" && head.status == 405 {
                memory.count("405");
            }
        }),
        outcome: Some(|memory, _, outcome| {
            if memory.counts.contains_key("405") {
                *outcome = Err(Failure::closed("GET failed"));
            }
        }),
        ..Behaviour::legacy("get-405-disconnects", "status 405 for GET ends the connection", HTTP)
    },
    Behaviour {
        standalone: Some(|_, _, next| {
            next.open = next.attempts < 60;
            next.wait = Duration::from_millis(10);
        }),
        ..Behaviour::legacy("get-reopened-at-once", "a stream of GET that was closed is opened again at once", HTTP)
    },
    Behaviour {
        resume: Some(|_, _, _, next| {
            next.last_event_id = next.last_event_id.as_ref().map(|id| id.replace('-', "%2D"));
        }),
        also: &[
            "client-http-poll-reconnects",
            "client-http-priming-event-ignored",
            "client-http-stream-end-without-response",
        ],
        ..Behaviour::legacy("last-event-id-encoded", "event ids are escaped", HTTP)
    },
    Behaviour {
        resume: Some(|_, _, lost, next| {
            next.last_event_id.clone_from(&lost.first_event_id);
            next.again &= lost.attempts < 6;
        }),
        also: &[
            "client-http-poll-reconnects",
            "client-http-priming-event-ignored",
            "client-http-stream-end-without-response",
        ],
        ..Behaviour::legacy("first-event-id-kept", "streams are resumed after their first event", HTTP)
    },
    Behaviour {
        since: Some(Revision::V2025_11_25),
        resume: Some(|memory, _, _, next| next.again &= memory.first("resumed")),
        also: &["client-http-priming-event-ignored"],
        ..Behaviour::legacy("resumes-once-only", "a stream is resumed once", HTTP)
    },
    Behaviour {
        since: Some(Revision::V2025_11_25),
        resume: Some(|_, _, _, next| next.again = false),
        also: &["client-http-priming-event-ignored"],
        ..Behaviour::legacy("broken-stream-fails-call", "a stream that ends is not resumed", HTTP)
    },
    Behaviour {
        resume: Some(|_, _, _, next| next.wait = Duration::ZERO),
        ..Behaviour::legacy("retry-ignored", "streams are resumed at once", HTTP)
    },
    Behaviour {
        resume: Some(|_, _, lost, next| next.wait = lost.retry.unwrap_or_default() / 10),
        ..Behaviour::legacy("retry-in-seconds", "the time to resume is read in another unit", HTTP)
    },
    Behaviour {
        since: Some(Revision::V2025_11_25),
        outcome: Some(|_, action, outcome| {
            if action["name"] == "slow" {
                reject(outcome, "an event has no data");
            }
        }),
        also: &["client-http-poll-reconnects"],
        ..Behaviour::legacy("empty-event-fails-stream", "an event without data is rejected", HTTP)
    },
    Behaviour {
        resume: Some(|memory, _, lost, next| next.repost = lost.method == "tools/call" && memory.first("reposted")),
        also: &["client-http-poll-reconnects", "client-http-priming-event-ignored"],
        ..Behaviour::legacy("broken-call-repeated", "a call is sent again if its stream ends", HTTP)
    },
    Behaviour {
        retry: Some(|_, _, method, outcome, retry| {
            let broken = outcome.as_ref().is_err_and(|failure| failure.kind == "closed");
            if broken && method == "tools/call" && retry.attempts == 0 {
                retry.again = true;
                retry.same_id = true;
            }
        }),
        ..Behaviour::modern("broken-call-repeated-with-id", "a call is sent again with its id if its stream ends", HTTP)
    },
    Behaviour {
        resume: Some(|_, _, _, next| next.again = false),
        outcome: Some(|_, action, outcome| {
            if action["name"] == "slow" || said(action) == "ended" {
                time_out(outcome);
            }
        }),
        also: &["client-http-poll-reconnects", "client-http-priming-event-ignored"],
        ..Behaviour::new("broken-stream-unnoticed", "the end of a stream does not end its request", HTTP)
    },
];

const fn session(name: &'static str, about: &'static str, hook: fn(&mut Memory, &Scene, &mut Posting)) -> Behaviour {
    Behaviour { until: Some(Revision::NEWEST_LEGACY), ..post(name, about, hook) }
}
