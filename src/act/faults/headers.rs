//! Faults in the headers that repeat a message of 2026-07-28.

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE},
};
use serde_json::Value;

use crate::act::{
    faults::{
        behaviour::{Behaviour, HTTP},
        decisions::{Posting, Scene},
        memory::Memory,
        simple::post,
    },
    message::HEADER_MISMATCH,
};
use crate::revision::Revision;

const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";
const REGION: &str = "mcp-param-region";
const EXACT: &str = "mcp-param-exact";

/// A name that needs to be encoded is written in another way.
macro_rules! spelled {
    ($spell:expr) => {
        |_, _, posting| {
            let spell: fn(&str) -> String = $spell;
            if encoded(posting, NAME)
                && let Some(name) = posting.message["params"]["name"].as_str().filter(|name| !name.starts_with("=?"))
            {
                let spelled = spell(name);
                posting.set(NAME, spelled);
            }
        }
    };
}

pub static HEADERS: &[Behaviour] = &[
    header("mcp-method-missing-on-lists", "a list has no Mcp-Method", |_, _, posting| {
        if posting.rpc() == "prompts/list" {
            posting.remove(METHOD);
        }
    }),
    header("mcp-method-upper-cased", "a method is put into upper case", |_, _, posting| {
        if posting.rpc() == "prompts/list" {
            posting.set(METHOD, "PROMPTS/LIST");
        }
    }),
    header("mcp-method-of-first-request", "Mcp-Method has the first method of all", |_, _, posting| {
        if posting.rpc() == "prompts/list" {
            posting.set(METHOD, "server/discover");
        }
    }),
    header("mcp-name-of-first-request", "Mcp-Name has an earlier name", |memory, _, posting| {
        if posting.rpc() == "tools/call" {
            let earlier = memory.kept("name");
            memory.keep("name", posting.message["params"]["name"].clone());
            if let Some(earlier) = earlier.as_str() {
                posting.set(NAME, earlier);
            }
        }
    }),
    header("mcp-name-missing-on-read", "a read has no Mcp-Name", |_, _, posting| {
        if posting.rpc() == "resources/read" {
            posting.remove(NAME);
        }
    }),
    header("mcp-name-uri-decoded", "the URI in Mcp-Name is decoded", |_, _, posting| {
        if posting.rpc() == "resources/read" {
            let uri = posting.message["params"]["uri"].as_str().unwrap_or_default().replace("%2F", "/");
            posting.set(NAME, uri);
        }
    }),
    header("mcp-name-is-title", "Mcp-Name of a prompt is its title", |_, _, posting| {
        if posting.rpc() == "prompts/get" {
            posting.set(NAME, "Greet");
        }
    }),
    header("param-headers-missing", "arguments are not sent as headers", |_, _, posting| {
        posting.headers.retain(|(name, _)| !name.starts_with("mcp-param-"));
    }),
    header("param-headers-of-nested-missing", "nested arguments are not sent as headers", |_, _, posting| {
        posting.remove("mcp-param-city");
    }),
    header("param-boolean-capital", "booleans in headers have capitals", |_, _, posting| {
        if posting.get(EXACT) == Some(b"true".as_slice()) {
            posting.set(EXACT, "True");
        }
    }),
    header("param-named-after-property", "headers are named after the properties", |_, _, posting| {
        if posting.get("mcp-param-city").is_some() {
            posting.remove("mcp-param-city");
            posting.set("mcp-param-place", "Oslo");
        }
    }),
    header("param-null-as-text", "an argument that is not there is sent as null", |_, _, posting| {
        if located(posting) && posting.get(EXACT).is_none() {
            posting.set(EXACT, "null");
        }
    }),
    header("param-empty-for-absent", "an argument that is not there is an empty header", |_, _, posting| {
        if located(posting) && posting.get(EXACT).is_none() {
            posting.set(EXACT, "");
        }
    }),
    header("param-raw-bytes", "arguments in headers are not encoded", |_, _, posting| {
        if encoded(posting, REGION) {
            posting.set(REGION, "Köln");
        }
    }),
    header("param-trimmed", "spaces around arguments are removed in headers", |_, _, posting| {
        if let (true, Some(text)) =
            (encoded(posting, REGION), posting.message["params"]["arguments"]["region"].as_str())
        {
            let trimmed = format!("=?base64?{}?=", STANDARD.encode(text.trim()));
            posting.set(REGION, trimmed);
        }
    }),
    header("param-integer-with-fraction", "integers in headers have a fraction", |_, _, posting| {
        if posting.get("mcp-param-limit") == Some(b"-7".as_slice()) {
            posting.set("mcp-param-limit", "-7.0");
        }
    }),
    header("mcp-name-raw", "names in headers are not encoded", spelled!(str::to_owned)),
    header(
        "mcp-name-percent-encoded",
        "names in headers are escaped",
        spelled!(|name| name
            .replace('ü', "%C3%BC")
            .replace('ß', "%C3%9F")
            .replace('☃', "%E2%98%83")
            .replace(' ', "%20")),
    ),
    header(
        "mcp-name-url-safe",
        "names in headers are in Base64 for URLs",
        spelled!(|name| format!("=?base64?{}?=", URL_SAFE.encode(format!("{name}?>")))),
    ),
    header(
        "mcp-name-trimmed",
        "spaces around names are removed in headers",
        spelled!(|name| format!("=?base64?{}?=", STANDARD.encode(name.trim()))),
    ),
    header(
        "sentinel-in-capitals",
        "the marker of encoded values has capitals",
        spelled!(|name| format!("=?BASE64?{}?=", STANDARD.encode(name))),
    ),
    header(
        "sentinel-b64",
        "the marker of encoded values is another",
        spelled!(|name| format!("=?b64?{}?=", STANDARD.encode(name))),
    ),
    header("sentinel-sent-plain", "values that look encoded are not encoded", |_, _, posting| {
        if posting.message["params"]["name"] == "=?base64?literal?=" {
            posting.set(NAME, "=?base64?literal?=");
        }
    }),
    header("header-injection", "a line break in an argument begins another header", |_, _, posting| {
        if posting.message["params"]["arguments"]["region"].as_str().is_some_and(|region| region.contains("\r\n")) {
            posting.set("x-injected", "1");
        }
    }),
    Behaviour {
        permit: Some(|_, _, method, _, permitted| *permitted |= method == "tools/call"),
        ..Behaviour::modern("invalid-header-tools-kept", "tools with invalid headers are kept", HTTP)
    },
    Behaviour {
        permit: Some(|_, _, _, params, permitted| *permitted |= params["name"] == "bad-twice"),
        ..Behaviour::modern("repeated-header-tools-kept", "tools that have a header twice are kept", HTTP)
    },
    Behaviour {
        permit: Some(|_, _, _, params, permitted| {
            *permitted &= params["name"] != "locate" || params["arguments"].get("place").is_none()
        }),
        ..Behaviour::modern("header-tools-dropped", "tools with headers are left out", HTTP)
    },
    Behaviour {
        permit: Some(|_, _, _, params, permitted| *permitted &= params["name"] != "odd-names"),
        ..Behaviour::modern("odd-header-names-dropped", "tools with unusual headers are left out", HTTP)
    },
    Behaviour {
        retry: Some(|_, _, _, outcome, retry| {
            retry.again &= outcome.as_ref().err().and_then(|failure| failure.code()) != Some(HEADER_MISMATCH);
        }),
        ..Behaviour::modern("mismatch-reported", "rejected headers are reported at once", HTTP)
    },
    header("first-schema-kept", "headers follow the first schema of a tool", |_, _, posting| {
        if posting.message["params"]["arguments"]["a"] == "again" {
            posting.remove("mcp-param-second");
            posting.set("mcp-param-first", "again");
        }
    }),
    header("schemas-merged", "headers follow all schemas of a tool", |_, _, posting| {
        if posting.message["params"]["arguments"]["a"] == "again" {
            posting.set("mcp-param-first", "again");
        }
    }),
];

const fn header(name: &'static str, about: &'static str, hook: fn(&mut Memory, &Scene, &mut Posting)) -> Behaviour {
    Behaviour { since: Some(Revision::V2026_07_28), ..post(name, about, hook) }
}

fn located(posting: &Posting) -> bool {
    posting.message["params"]["name"] == "locate" && posting.message["params"]["arguments"]["exact"] == Value::Null
}

fn encoded(posting: &Posting, name: &str) -> bool {
    posting.get(name).is_some_and(|value| value.starts_with(b"=?base64?"))
}
