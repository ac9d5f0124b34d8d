//! Faults in lists, reads, subscriptions, caches and walks.

use serde_json::{Value, json};

use crate::act::faults::behaviour::{Behaviour, EVERYWHERE};

pub static RESOURCES: &[Behaviour] = &[
    Behaviour {
        page: Some(|_, _, pages, next| {
            if pages.latest.as_str() == Some("") {
                *next = None;
            }
        }),
        ..Behaviour::modern("cursor-empty-is-end", "an empty cursor ends a list", EVERYWHERE)
    },
    Behaviour {
        params: Some(|_, _, method, params| {
            if method == "resources/list" && params.get("cursor").is_none() {
                params["cursor"] = Value::Null;
            }
        }),
        ..Behaviour::new(
            "cursor-null-on-first-page",
            "the first page of resources is requested with a null cursor",
            EVERYWHERE,
        )
    },
    Behaviour {
        walk: Some(|_, node, descend| *descend = node.resource["capabilities"]["list"] == true && node.lists < 500),
        ..Behaviour::new("walk-without-visited-set", "a walk lists each directory as often as it is found", EVERYWHERE)
    },
    Behaviour {
        params: Some(|_, _, method, params| {
            if method == "resources/read" {
                params["uri"] = json!(params["uri"].as_str().unwrap_or_default().to_lowercase());
            }
        }),
        ..Behaviour::new("read-uri-lower-cased", "URIs are put into lower case before they are read", EVERYWHERE)
    },
];
