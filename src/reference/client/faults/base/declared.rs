//! Faults in what the client declares about itself.

use serde_json::{Value, json};

use super::edits::{capabilities, client_info, is, remove};
use crate::reference::client::faults::behaviour::{Behaviour, EVERYWHERE};

pub static FAULTS: &[Behaviour] = &[
    Behaviour {
        say: Some(|_, _, messages| {
            if is(&messages[0], "initialize") {
                remove(&mut messages[0]["params"], "capabilities");
            }
        }),
        ..legacy("capabilities-left-out", "initialize has no capabilities")
    },
    Behaviour {
        say: Some(|_, _, messages| {
            if is(&messages[0], "initialize") {
                messages[0]["params"]["capabilities"] = json!(["roots"]);
            }
        }),
        ..legacy("capabilities-as-array", "capabilities are an array")
    },
    Behaviour {
        say: Some(|_, _, messages| {
            if is(&messages[0], "initialize") {
                remove(&mut messages[0]["params"]["clientInfo"], "version");
            }
        }),
        ..legacy("client-info-without-version", "clientInfo of initialize has no version")
    },
    Behaviour {
        say: Some(|_, _, messages| {
            if let Some(own) = capabilities(&mut messages[0]) {
                own["experimental"] = Value::Null;
            }
        }),
        ..Behaviour::new("capabilities-null", "a capability that is not declared is null", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            if let Some(own) = capabilities(&mut messages[0]) {
                own["sampling"] = json!(true);
            }
        }),
        ..Behaviour::new("sampling-declared-as-true", "sampling is declared as true", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            if let Some(own) = capabilities(&mut messages[0]) {
                own["roots"] = json!({ "listChanged": "true" });
            }
        }),
        ..Behaviour::new("roots-flag-as-text", "listChanged is a text", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            if let Some(own) = capabilities(&mut messages[0]) {
                own["experimental"] = json!({ "com.example/x": true });
            }
        }),
        ..Behaviour::new("experimental-flag-as-boolean", "experimental capabilities are booleans", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            if let Some(info) = client_info(&mut messages[0]) {
                info["title"] = Value::Null;
            }
        }),
        ..Behaviour::new("client-info-title-null", "title of the client is null", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            if let Some(info) = client_info(&mut messages[0]) {
                info["icons"] = json!({ "src": "x" });
            }
        }),
        ..Behaviour::new("client-icons-as-object", "icons of the client are an object", EVERYWHERE)
    },
    Behaviour {
        say: Some(|_, _, messages| {
            if let Some(info) = client_info(&mut messages[0]) {
                info["websiteUrl"] = json!("example.com");
            }
        }),
        ..Behaviour::new("client-website-without-scheme", "websiteUrl of the client is not a URI", EVERYWHERE)
    },
];

const fn legacy(name: &'static str, about: &'static str) -> Behaviour {
    Behaviour::legacy(name, about, EVERYWHERE)
}
