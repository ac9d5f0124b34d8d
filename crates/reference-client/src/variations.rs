//! Differences between conforming clients. No rule fails for any of them.

use std::time::Duration;

use serde_json::json;

use crate::{
    behaviour::{Behaviour, EVERYWHERE, HTTP, WEB, decisions::Moment, habits::Habits, lookup},
    oauth::ways::Ways,
};

pub fn find(name: &str) -> Result<&'static Behaviour, String> {
    lookup("variation", name, VARIATIONS.iter())
}

pub static VARIATIONS: &[Behaviour] = &[
    Behaviour {
        habits: Habits { refreshes_skills: true, ..Habits::USUAL },
        ..Behaviour::modern(
            "refreshes-skills",
            "the entry of a skill is requested again if a file does not fit it",
            EVERYWHERE,
        )
    },
    Behaviour {
        habits: Habits { parallel: true, ..Habits::USUAL },
        ..Behaviour::new("parallel", "everything is listed at once", EVERYWHERE)
    },
    Behaviour {
        habits: Habits { standalone_stream: false, reissues: false, ..Habits::USUAL },
        ..Behaviour::new("lazy", "nothing is done that is not demanded: no GET stream, no second attempts", EVERYWHERE)
    },
    Behaviour {
        habits: Habits { caches: true, ..Habits::USUAL },
        ..Behaviour::modern("caching", "results are kept for their `ttlMs`", EVERYWHERE)
    },
    // As the SDK for Python, 2.3.
    Behaviour {
        habits: Habits { caches: true, caches_first_pages: true, listens: false, ..Habits::USUAL },
        ..Behaviour::modern(
            "caching-first-pages",
            "the first page of a list and what is read are kept for their `ttlMs`, and nothing is subscribed to",
            EVERYWHERE,
        )
    },
    Behaviour {
        habits: Habits { own_extras: true, ..Habits::USUAL },
        ..Behaviour::new("own-extras", "requests have headers and `_meta` keys of the client's own", EVERYWHERE)
    },
    Behaviour {
        habits: Habits { reconnects: true, ..Habits::USUAL },
        ..Behaviour::new("reconnecting", "each action has a connection of its own", EVERYWHERE)
    },
    // As FastMCP 4.2, which looks whether the authorization server is there.
    Behaviour {
        oauth: Ways { preflights: 1, ..Ways::USUAL },
        ..Behaviour::new("requests-url-first", "the URL of a login is requested before it is opened", HTTP)
    },
    Behaviour {
        id: Some(|_, number, method| json!(format!("{method}#{number}"))),
        ..Behaviour::new("string-ids", "ids are strings", EVERYWHERE)
    },
    Behaviour {
        id: Some(|_, number, _| {
            // Sufficiently random: unique in the run, and in the right format.
            let part = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            json!(format!(
                "{:08x}-{:04x}-4{:03x}-a{:03x}-{number:012x}",
                part >> 32,
                part & 0xffff,
                part & 0xfff,
                number & 0xfff
            ))
        }),
        ..Behaviour::new("uuid-ids", "ids are UUIDs", EVERYWHERE)
    },
    Behaviour {
        id: Some(|_, number, _| json!(-i64::try_from(number).unwrap_or(i64::MAX))),
        ..Behaviour::new("negative-ids", "ids are negative numbers", EVERYWHERE)
    },
    Behaviour {
        id: Some(|_, number, _| json!(number - 1)),
        ..Behaviour::new("ids-from-zero", "ids are numbers from 0", EVERYWHERE)
    },
    Behaviour {
        habits: Habits { standalone_stream: false, ..Habits::USUAL },
        ..Behaviour::legacy("no-get-stream", "no stream is opened by GET", HTTP)
    },
    Behaviour {
        habits: Habits { resumes: false, ..Habits::USUAL },
        ..Behaviour {
            until: Some(conform_model::revision::Revision::V2025_06_18),
            ..Behaviour::new("no-resumption", "streams that broke are not resumed", HTTP)
        }
    },
    Behaviour {
        habits: Habits { probes: true, ..Habits::USUAL },
        ..Behaviour::legacy("probing", "the modern era is probed for before the handshake", EVERYWHERE)
    },
    Behaviour {
        habits: Habits { declares_all: true, ..Habits::USUAL },
        ..Behaviour::new("all-capabilities", "every capability is declared with its details", EVERYWHERE)
    },
    Behaviour {
        habits: Habits { declares_nothing: true, ..Habits::USUAL },
        ..Behaviour::new("no-capabilities", "no capability is declared", EVERYWHERE)
    },
    Behaviour {
        habits: Habits { wants_progress: true, ..Habits::USUAL },
        ..Behaviour::new("progress-everywhere", "every request has a progress token", EVERYWHERE)
    },
    Behaviour {
        habits: Habits { wants_progress: true, ..Habits::USUAL },
        token: Some(|_, number| json!(number)),
        ..Behaviour::new("numeric-tokens", "progress tokens are numbers", EVERYWHERE)
    },
    Behaviour {
        habits: Habits { pings: true, ..Habits::USUAL },
        unasked: Some(|memory, scene, moment| {
            let due = moment == Moment::Tick && scene.legacy() && memory.count("ticks") % 10 == 0;
            if due { vec![json!({ "do": "ping" })] } else { Vec::new() }
        }),
        ..Behaviour::legacy("pinging", "the server is pinged every two seconds", EVERYWHERE)
    },
    Behaviour {
        reply_delay: Some(|_, method| if method == "ping" { Duration::ZERO } else { Duration::from_millis(300) }),
        ..Behaviour::legacy("slow-answers", "the client responds to requests of the server after some time", EVERYWHERE)
    },
    Behaviour {
        post: Some(|_, _, posting| {
            if posting.method == "POST" {
                posting.set("accept", "text/event-stream;q=0.9, application/json");
                posting.set("content-type", "application/json; charset=utf-8");
            }
        }),
        ..Behaviour::new("headers-in-other-form", "Accept and Content-Type have parameters and another order", WEB)
    },
    Behaviour {
        spell: Some(|_, message, bytes| {
            let newline = bytes.last() == Some(&b'\n');
            let text = message.to_string();
            let escaped = text.chars().flat_map(|c| {
                let mut units = [0; 2];
                let escape = |unit: &u16| format!("\\u{unit:04x}");
                let text =
                    if c.is_ascii() { c.to_string() } else { c.encode_utf16(&mut units).iter().map(escape).collect() };
                text.into_bytes()
            });
            *bytes = escaped.collect();
            if newline {
                bytes.push(b'\n');
            }
        }),
        ..Behaviour::new("ascii-only", "everything that is not ASCII is escaped", EVERYWHERE)
    },
    Behaviour {
        spell: Some(|_, message, bytes| {
            let newline = bytes.last() == Some(&b'\n');
            let pretty = serde_json::to_string_pretty(message).unwrap_or_default();
            *bytes = if newline { format!(" {message} \n").into_bytes() } else { pretty.into_bytes() };
        }),
        ..Behaviour::new("json-with-spaces", "messages have whitespace between their tokens", EVERYWHERE)
    },
];
