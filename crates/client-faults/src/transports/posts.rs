//! Faults in the HTTP requests of the client: method, path, and the headers of every message.

use conform_reference_client::behaviour::{Behaviour, HTTP, WEB, decisions::Moment};

pub static FAULTS: &[Behaviour] = &[
    Behaviour {
        handshake: Some(|_, _, plan| plan.early_stream = true),
        ..Behaviour::legacy("get-before-initialized", "the stream of a GET is opened before initialize", HTTP)
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
        post: Some(|_, _, posting| {
            let end = posting.url.find('?').unwrap_or(posting.url.len());
            posting.url.truncate(end);
        }),
        ..Behaviour::new("query-dropped", "the query of the URL is not sent", HTTP)
    },
    Behaviour {
        post: Some(|_, _, posting| posting.url = posting.url.replace("%2F", "/")),
        ..Behaviour::new("query-decoded", "the query of the URL is decoded", HTTP)
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

fn bare(method: &str) -> Vec<serde_json::Value> {
    vec![serde_json::json!({ "do": "http", "method": method })]
}

fn at_start(moment: Moment, method: &str) -> Vec<serde_json::Value> {
    if moment == Moment::Connected { bare(method) } else { Vec::new() }
}
