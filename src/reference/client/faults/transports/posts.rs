//! Faults in the HTTP requests of the client: method, path, and the headers of every message.

use crate::{
    reference::client::{
        faults::{
            behaviour::{Behaviour, HTTP, WEB},
            decisions::{Moment, Posting},
        },
        message,
    },
    revision::Revision,
};

pub static FAULTS: &[Behaviour] = &[
    Behaviour {
        post: Some(|_, _, posting| {
            if posting.rpc().ends_with("/list") {
                posting.url.push('/');
            }
        }),
        ..Behaviour::new("posts-with-slash", "lists are requested at a path with a slash at its end", HTTP)
    },
    Behaviour {
        post: Some(|_, _, posting| {
            if message::is_response(&posting.message) {
                posting.url.push_str("/responses");
            }
        }),
        ..Behaviour::legacy("responses-to-other-path", "responses are sent to a path of their own", HTTP)
    },
    Behaviour {
        post: Some(|_, _, posting| {
            if posting.rpc().ends_with("/list") {
                "PUT".clone_into(&mut posting.method);
            }
        }),
        ..Behaviour::new("sends-by-put", "lists are requested by PUT", HTTP)
    },
    Behaviour {
        post: Some(|_, _, posting| {
            if posting.method == "POST" {
                posting.set("accept", "application/json");
            }
        }),
        ..Behaviour::legacy("accept-json-only", "POST requests accept JSON only", HTTP)
    },
    Behaviour {
        post: Some(|_, _, posting| {
            if posting.method == "POST" {
                posting.set("accept", "*/*");
            }
        }),
        ..Behaviour::new("accept-range", "POST requests accept `*/*`", HTTP)
    },
    Behaviour {
        post: Some(|_, _, posting| {
            if posting.method == "POST" {
                posting.set("accept", "text/event-stream");
            }
        }),
        ..Behaviour::legacy("accept-events-only", "POST requests accept event streams only", HTTP)
    },
    Behaviour {
        post: Some(|_, _, posting| {
            if posting.method == "POST" {
                posting.set("accept", "application/json, text/event-stream;q=0");
            }
        }),
        ..Behaviour::new("accept-quality-zero", "POST requests name event streams with a quality of 0", HTTP)
    },
    Behaviour {
        post: Some(|_, _, posting| {
            if posting.method == "POST" {
                posting.set("content-type", "text/plain");
            }
        }),
        ..Behaviour::legacy("content-type-text", "bodies are labelled text/plain", HTTP)
    },
    Behaviour {
        post: Some(|_, _, posting| {
            if posting.method == "POST" {
                posting.remove("content-type");
            }
        }),
        ..Behaviour::legacy("content-type-missing", "bodies are not labelled", HTTP)
    },
    Behaviour {
        post: Some(|_, _, posting| {
            if posting.method == "POST" {
                posting.set("content-type", "application/json; charset=iso-8859-1");
            }
        }),
        ..Behaviour::new("content-type-latin1", "bodies are labelled with another charset than UTF-8", HTTP)
    },
    Behaviour {
        post: Some(|_, _, posting| {
            if posting.method == "POST" && !message::is_request(&posting.message) {
                posting.remove("accept");
            }
        }),
        ..Behaviour::legacy("accept-missing-on-notifications", "notifications and responses have no Accept", HTTP)
    },
    Behaviour {
        post: Some(|_, _, posting| {
            if message::is_response(&posting.message) {
                posting.remove("accept");
            }
        }),
        ..Behaviour::legacy("responses-without-accept", "responses have no Accept", HTTP)
    },
    Behaviour {
        since: Some(Revision::V2025_06_18),
        say: Some(|_, _, messages| {
            if message::method(&messages[0]) == Some("tools/list") {
                let notification = message::notification("notifications/roots/list_changed", &serde_json::Value::Null);
                *messages = vec![serde_json::json!([notification, messages[0]])];
            }
        }),
        ..Behaviour::legacy("notifications-joined", "a notification and a request are sent as one array", HTTP)
    },
    Behaviour {
        post: Some(|_, _, posting| {
            if posting.method == "GET" {
                posting.set("accept", "application/json");
            }
        }),
        ..Behaviour::legacy("get-accepts-json", "GET requests accept JSON only", HTTP)
    },
    Behaviour {
        post: Some(|_, _, posting| {
            if posting.method == "GET" {
                posting.remove("accept");
            }
        }),
        ..Behaviour::legacy("get-without-accept", "GET requests have no Accept", HTTP)
    },
    Behaviour {
        handshake: Some(|_, _, plan| plan.early_stream = true),
        ..Behaviour::legacy("get-before-initialized", "the stream of a GET is opened before initialize", HTTP)
    },
    Behaviour {
        since: Some(Revision::V2025_06_18),
        post: Some(|_, _, posting| {
            if posting.rpc() == "notifications/initialized" {
                posting.remove(VERSION);
            }
        }),
        ..Behaviour::legacy(
            "version-header-missing-on-initialized",
            "notifications/initialized has no MCP-Protocol-Version",
            HTTP,
        )
    },
    Behaviour {
        since: Some(Revision::V2025_06_18),
        post: Some(|_, _, posting| {
            if posting.method == "GET" {
                posting.remove(VERSION);
            }
        }),
        ..Behaviour::legacy("version-header-missing-on-get", "GET requests have no MCP-Protocol-Version", HTTP)
    },
    Behaviour {
        since: Some(Revision::V2025_06_18),
        post: Some(|_, _, posting| {
            if posting.method == "DELETE" {
                posting.remove(VERSION);
            }
        }),
        ..Behaviour::legacy("version-header-missing-on-delete", "DELETE requests have no MCP-Protocol-Version", HTTP)
    },
    Behaviour {
        since: Some(Revision::V2025_06_18),
        post: Some(|_, _, posting| {
            if message::is_response(&posting.message) {
                posting.remove(VERSION);
            }
        }),
        ..Behaviour::legacy("version-header-missing-on-responses", "responses have no MCP-Protocol-Version", HTTP)
    },
    Behaviour {
        since: Some(Revision::V2025_06_18),
        until: Some(Revision::V2025_06_18),
        post: Some(|_, _, posting| {
            if posting.get(VERSION).is_some() {
                posting.set(VERSION, Revision::NEWEST_LEGACY.as_str());
            }
        }),
        ..Behaviour::new(
            "version-header-newest",
            "MCP-Protocol-Version is the newest version, not the negotiated one",
            HTTP,
        )
    },
    Behaviour {
        post: Some(|_, _, posting| posting.set(VERSION, Revision::NEWEST_LEGACY.as_str())),
        ..Behaviour::modern("version-header-of-legacy", "MCP-Protocol-Version is a legacy version", HTTP)
    },
    Behaviour {
        post: Some(|_, _, posting| {
            if posting.rpc() == "server/discover" {
                posting.remove(VERSION);
            }
        }),
        ..Behaviour::modern("version-header-missing-on-discover", "server/discover has no MCP-Protocol-Version", HTTP)
    },
    Behaviour {
        unasked: Some(|_, _, moment| at_start(moment, "GET")),
        ..Behaviour::modern("get-in-modern", "a stream is opened by GET in a stateless revision", HTTP)
    },
    Behaviour {
        unasked: Some(|_, _, moment| if moment == Moment::BeforeClose { bare("DELETE") } else { Vec::new() }),
        ..Behaviour::modern("delete-in-modern", "a session is ended by DELETE in a stateless revision", HTTP)
    },
    Behaviour {
        post: Some(|memory, _, posting| {
            if memory.count("posts") > 1 {
                posting.set("last-event-id", "1");
            }
        }),
        ..Behaviour::modern("last-event-id-in-modern", "requests name the last event in a stateless revision", HTTP)
    },
    Behaviour {
        post: Some(|_, _, posting| fill_event_id(posting, "undefined")),
        ..Behaviour::legacy(
            "last-event-id-undefined",
            "GET requests without an event have `Last-Event-ID: undefined`",
            HTTP,
        )
    },
    Behaviour {
        post: Some(|_, _, posting| fill_event_id(posting, "")),
        ..Behaviour::legacy("last-event-id-empty", "GET requests without an event have an empty Last-Event-ID", HTTP)
    },
    Behaviour {
        post: Some(|_, _, posting| {
            let length = posting.body.len();
            let characters = String::from_utf8_lossy(&posting.body).chars().count();
            posting.body.truncate(characters.min(length));
        }),
        ..Behaviour::new("length-in-characters", "a body is cut after as many bytes as it has characters", WEB)
    },
];

const VERSION: &str = "mcp-protocol-version";

fn fill_event_id(posting: &mut Posting, id: &str) {
    if posting.method == "GET" && posting.get("last-event-id").is_none() {
        posting.set("last-event-id", id);
    }
}

fn bare(method: &str) -> Vec<serde_json::Value> {
    vec![serde_json::json!({ "do": "http", "method": method })]
}

fn at_start(moment: Moment, method: &str) -> Vec<serde_json::Value> {
    if moment == Moment::Connected { bare(method) } else { Vec::new() }
}
