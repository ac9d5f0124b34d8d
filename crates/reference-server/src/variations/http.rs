//! Variations of HTTP that need more than headers and statuses.

use serde_json::Value;

use crate::{
    faults::{Behaviour, Bodies, HttpWays},
    options::Transport,
    variations::content::{asks_nothing, lacks, without_execution},
};
use conform_model::revision::Revision;

const HTTP_ONLY: &[Transport] = &[Transport::Http];

pub static HTTP: &[Behaviour] = &[
    Behaviour {
        ways: HttpWays { bodies: Bodies::Events, ..HttpWays::USUAL },
        // The first event of its streams is the response.
        also: &["streamable-http-sse-priming-event", "tasks-get-no-sse-upgrade"],
        ..Behaviour::new("always-event-streams", "each response over HTTP is an event stream", HTTP_ONLY)
    },
    Behaviour {
        until: Some(Revision::NEWEST_LEGACY),
        ways: HttpWays { bodies: Bodies::Json, ..HttpWays::USUAL },
        hear: Some(|_, message| {
            asks_nothing(message);
            lacks(message, &["tasks/"])
        }),
        say: Some(|_, _, message| {
            without_execution(message);
            true
        }),
        ..Behaviour::new("always-json", "each response over HTTP is JSON, and no other messages are sent", HTTP_ONLY)
    },
    Behaviour {
        until: Some(Revision::NEWEST_LEGACY),
        ways: HttpWays { stateless: true, ..HttpWays::USUAL },
        hear: Some(|_, message| {
            asks_nothing(message);
            lacks(message, &["resources/subscribe", "resources/unsubscribe", "logging/", "tasks/"])
        }),
        say: Some(|_, _, message| {
            without_execution(message);
            if let Some(Value::Object(declared)) = message.pointer_mut("/result/capabilities") {
                declared.remove("logging");
                for capability in declared.values_mut().filter_map(Value::as_object_mut) {
                    capability.retain(|name, _| !["listChanged", "subscribe"].contains(&name.as_str()));
                }
            }
            true
        }),
        also: &[
            "streamable-http-sse-priming-event",
            "cancellation-stops-processing",
            "sep2093-subscribe-needs-server-flag",
        ],
        ..Behaviour::new("stateless", "there are no sessions over HTTP, and no GET streams", HTTP_ONLY)
    },
    Behaviour {
        until: Some(Revision::NEWEST_LEGACY),
        ways: HttpWays { one_session: true, ..HttpWays::USUAL },
        ..Behaviour::new("one-session", "while one session is open, no other can be opened", HTTP_ONLY)
    },
    Behaviour {
        until: Some(Revision::NEWEST_LEGACY),
        ways: HttpWays { one_get_stream: true, ..HttpWays::USUAL },
        ..Behaviour::new("one-get-stream", "a second GET stream is rejected with status 409", HTTP_ONLY)
    },
    Behaviour {
        ways: HttpWays {
            event: Some(|event| [b": keep-alive\n\nretry: 3000\n".as_slice(), event].concat()),
            ..HttpWays::USUAL
        },
        ..Behaviour::new("event-comments", "comments and retry times are between events", HTTP_ONLY)
    },
    Behaviour {
        ways: HttpWays {
            event: Some(|event| String::from_utf8_lossy(event).replace('\n', "\r\n").into_bytes()),
            ..HttpWays::USUAL
        },
        ..Behaviour::new("event-crlf", "lines of event streams end in CR LF", HTTP_ONLY)
    },
    Behaviour {
        ways: HttpWays {
            event: Some(|event| String::from_utf8_lossy(event).replace("event: message\n", "").into_bytes()),
            ..HttpWays::USUAL
        },
        ..Behaviour::new("events-unnamed", "events have no name", HTTP_ONLY)
    },
    Behaviour {
        ways: HttpWays { bodies: Bodies::Events, ..HttpWays::USUAL },
        // The first event of its streams is the response.
        also: &["streamable-http-sse-priming-event", "tasks-get-no-sse-upgrade"],
        spell: Some(|message| format!("{message:#}").into_bytes()),
        ..Behaviour::new("events-of-many-lines", "the data of events is JSON over several lines", HTTP_ONLY)
    },
];
