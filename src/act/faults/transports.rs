//! Faults in the HTTP requests of the client, and in HTTP+SSE.

mod processes;
mod requests;

use crate::act::{
    faults::{
        behaviour::{Behaviour, HTTP, SSE},
        decisions::{Posting, Scene},
        memory::Memory,
        simple::{post, reject, said, time_out},
    },
    report::Failure,
};
use crate::revision::Revision;

/// What most of these faults are about: a request that nothing else depends on.
const ONE: &str = "prompts/list";

pub static FURTHER: &[&[Behaviour]] = &[processes::FAULTS, requests::FAULTS];

pub static TRANSPORTS: &[Behaviour] = &[
    post("posts-with-slash", "a path gets a slash", |_, _, posting| {
        one(posting, |posting| posting.url.push('/'));
    }),
    Behaviour {
        until: Some(Revision::NEWEST_LEGACY),
        ..post("responses-to-other-path", "responses go to another path", |_, _, posting| {
            if posting.message.get("method").is_none() && posting.method == "POST" {
                posting.url = posting.url.replace("/mcp", "/responses");
            }
        })
    },
    post("sends-by-put", "a message is sent by PUT", |_, _, posting| {
        one(posting, |posting| "PUT".clone_into(&mut posting.method));
    }),
    post("accept-json-only", "only JSON is accepted", |_, _, posting| {
        one(posting, |posting| posting.set("accept", "application/json"));
    }),
    post("accept-events-only", "only event streams are accepted", |_, _, posting| {
        one(posting, |posting| posting.set("accept", "text/event-stream"));
    }),
    Behaviour {
        until: Some(Revision::NEWEST_LEGACY),
        ..post("accept-missing-on-notifications", "notifications have no Accept", |_, _, posting| {
            if posting.rpc().starts_with("notifications/") {
                posting.remove("accept");
            }
        })
    },
    post("accept-quality-zero", "event streams are listed, but not accepted", |_, _, posting| {
        one(posting, |posting| posting.set("accept", "application/json, text/event-stream;q=0"));
    }),
    post("content-type-text", "a message is labelled as text", |_, _, posting| {
        one(posting, |posting| posting.set("content-type", "text/plain"));
    }),
    post("content-type-missing", "a message has no label", |_, _, posting| {
        one(posting, |posting| posting.remove("content-type"));
    }),
    Behaviour {
        since: Some(Revision::V2025_06_18),
        say: Some(|_, _, messages| {
            if messages[0]["method"] == "notifications/initialized" {
                messages[0] = serde_json::json!([messages[0]]);
            }
        }),
        ..Behaviour::legacy("notifications-joined", "notifications are sent in an array", HTTP)
    },
    Behaviour {
        until: Some(Revision::NEWEST_LEGACY),
        ..post("get-accepts-json", "a GET accepts JSON", |_, _, posting| {
            if posting.method == "GET" {
                posting.set("accept", "application/json");
            }
        })
    },
    Behaviour {
        until: Some(Revision::NEWEST_LEGACY),
        ..post("get-without-accept", "a GET has no Accept", |_, _, posting| {
            if posting.method == "GET" {
                posting.remove("accept");
            }
        })
    },
    version("version-header-missing-on-initialized", "the notification has no version header", |_, _, posting| {
        if posting.rpc() == "notifications/initialized" {
            posting.remove("mcp-protocol-version");
        }
    }),
    version("version-header-missing-on-get", "a GET has no version header", |_, _, posting| {
        if posting.method == "GET" {
            posting.remove("mcp-protocol-version");
        }
    }),
    version("version-header-missing-on-delete", "a DELETE has no version header", |_, _, posting| {
        if posting.method == "DELETE" {
            posting.remove("mcp-protocol-version");
        }
    }),
    version("version-header-newest", "the version header has another version", |_, _, posting| {
        one(posting, |posting| posting.set("mcp-protocol-version", "2024-11-05"));
    }),
    Behaviour {
        since: Some(Revision::V2026_07_28),
        also: &["client-http-headers-match-body"],
        ..post("version-header-of-legacy", "the version header has a legacy version", |_, _, posting| {
            one(posting, |posting| posting.set("mcp-protocol-version", "2025-11-25"));
        })
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        also: &["client-http-headers-match-body"],
        ..post("version-header-missing-on-lists", "a list has no version header", |_, _, posting| {
            one(posting, |posting| posting.remove("mcp-protocol-version"));
        })
    },
    Behaviour {
        shutdown: Some(|_, _, plan| plan.deletes = 1),
        ..Behaviour::modern("delete-in-modern", "the end is announced by DELETE", HTTP)
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        ..post("last-event-id-in-modern", "a request has Last-Event-ID", |_, _, posting| {
            one(posting, |posting| posting.set("last-event-id", "1"));
        })
    },
    Behaviour {
        until: Some(Revision::NEWEST_LEGACY),
        also: &["client-http-last-event-id-value"],
        ..post("last-event-id-on-post", "a POST has Last-Event-ID", |_, _, posting| {
            if posting.rpc() == "tools/call" {
                posting.set("last-event-id", "1");
            }
        })
    },
    Behaviour {
        until: Some(Revision::NEWEST_LEGACY),
        ..post("last-event-id-undefined", "a GET names an undefined event", |_, _, posting| {
            fresh_get(posting, "undefined")
        })
    },
    Behaviour {
        until: Some(Revision::NEWEST_LEGACY),
        ..post("last-event-id-empty", "a GET names an empty event", |_, _, posting| fresh_get(posting, ""))
    },
    sse("endpoint-without-query", "the query of the endpoint is dropped", |_, _, posting| {
        if posting.rpc() == "tools/list" {
            posting.url.truncate(posting.url.find('?').unwrap_or(posting.url.len()));
        }
    }),
    sse("endpoint-appended", "the endpoint is appended to the URL of the stream", |_, _, posting| {
        if posting.rpc() == "tools/list" {
            posting.url = posting.url.replace("/messages", "/sse/messages");
        }
    }),
    sse("endpoint-encoded-anew", "the query of the endpoint is encoded anew", |_, _, posting| {
        if posting.rpc() == "tools/list" {
            posting.url = posting.url.replace("%20", "+");
        }
    }),
    Behaviour {
        outcome: Some(|_, action, outcome| {
            if said(action) == "hello" {
                reject(outcome, "`Accepted` is not JSON");
            }
        }),
        ..Behaviour::new("accepted-text-parsed", "the body of the response to a POST is parsed", SSE)
    },
    Behaviour {
        event: Some(|memory, _, event| {
            if event.name != "endpoint" && memory.counts.is_empty() {
                memory.count("late");
            }
            let late = memory.counts.contains_key("late");
            memory.count("events");
            !late
        }),
        ..Behaviour::new("endpoint-must-come-first", "the first event has to be the endpoint", SSE)
    },
    Behaviour {
        outcome: Some(|_, action, outcome| {
            if said(action) == "last" {
                *outcome = Err(Failure::closed("the stream was idle"));
            }
        }),
        ..Behaviour::new("idle-stream-closed", "an idle stream is closed", SSE)
    },
    Behaviour {
        outcome: Some(|_, action, outcome| {
            if said(action) == "break" {
                time_out(outcome);
            }
        }),
        ..Behaviour::new("sse-loss-unnoticed", "the end of the stream does not end its requests", SSE)
    },
    Behaviour {
        restart: Some(|_, _, restart| restart.handshake = false),
        ..Behaviour::new("sse-stream-reopened-silently", "a new stream is used without a handshake", SSE)
    },
    Behaviour {
        outcome: Some(|_, action, outcome| {
            if ["500", "503", "429", "hang-up"].contains(&said(action)) {
                *outcome = Err(Failure::new("timeout", "no response in time"));
            }
        }),
        ..Behaviour::new(
            "http-error-unnoticed",
            "an HTTP error does not end its request",
            crate::act::faults::behaviour::WEB,
        )
    },
];

const fn version(name: &'static str, about: &'static str, hook: fn(&mut Memory, &Scene, &mut Posting)) -> Behaviour {
    Behaviour { since: Some(Revision::V2025_06_18), until: Some(Revision::NEWEST_LEGACY), ..post(name, about, hook) }
}

const fn sse(name: &'static str, about: &'static str, hook: fn(&mut Memory, &Scene, &mut Posting)) -> Behaviour {
    Behaviour { transports: SSE, ..post(name, about, hook) }
}

fn one(posting: &mut Posting, change: fn(&mut Posting)) {
    if posting.rpc() == ONE {
        change(posting);
    }
}

fn fresh_get(posting: &mut Posting, id: &str) {
    if posting.method == "GET" && posting.get("last-event-id").is_none() {
        posting.set("last-event-id", id);
    }
}
