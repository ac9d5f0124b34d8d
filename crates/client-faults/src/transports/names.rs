//! Faults in Mcp-Method and Mcp-Name, and in the encoding of header values.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

use crate::transports::mirrors::{METHOD, NAME, change, keep_first, looks_encoded, mirrors, raw, recode, text};
use conform_reference_client::{
    behaviour::{Behaviour, HTTP},
    transport::headers::encode,
};

pub static FAULTS: &[Behaviour] = &[
    Behaviour {
        post: Some(|memory, _, posting| keep_first(memory, posting, METHOD)),
        ..Behaviour::modern("mcp-method-of-first-request", "Mcp-Method is that of the first request", HTTP)
    },
    Behaviour {
        post: Some(|memory, _, posting| keep_first(memory, posting, NAME)),
        ..Behaviour::modern("mcp-name-of-first-request", "Mcp-Name is that of the first request", HTTP)
    },
    Behaviour {
        post: Some(|_, _, posting| {
            if posting.rpc() == "resources/read" {
                // Like a client that parses a URI and builds it again.
                change(posting, NAME, |uri| uri.replace("%2F", "/").replace("%20", " ").replace("://", ":"));
            }
        }),
        ..Behaviour::modern("mcp-name-uri-decoded", "Mcp-Name is a decoded URI", HTTP)
    },
    Behaviour {
        post: Some(|_, _, posting| {
            if posting.rpc() == "prompts/get" || posting.rpc() == "tools/call" {
                change(posting, NAME, |name| {
                    let mut letters = name.chars();
                    letters
                        .next()
                        .map(|first| format!("{}{}", first.to_uppercase(), letters.as_str()))
                        .unwrap_or_default()
                });
            }
        }),
        ..Behaviour::modern("mcp-name-is-title", "Mcp-Name is the title of a prompt or tool", HTTP)
    },
    Behaviour {
        post: Some(|_, _, posting| raw(posting, NAME)),
        ..Behaviour::modern("mcp-name-raw", "Mcp-Name has the raw bytes of the name", HTTP)
    },
    Behaviour {
        post: Some(|_, _, posting| {
            recode(posting, NAME, |text| {
                let escape = |byte: u8| match byte {
                    b'!'..=b'$' | b'&'..=b'~' => char::from(byte).to_string(),
                    byte => format!("%{byte:02X}"),
                };
                text.bytes().map(escape).collect()
            });
        }),
        ..Behaviour::modern("mcp-name-percent-encoded", "Mcp-Name is percent-encoded", HTTP)
    },
    Behaviour {
        post: Some(|_, _, posting| {
            recode(posting, NAME, |text| format!("=?base64?{}?=", URL_SAFE_NO_PAD.encode(text)));
        }),
        ..Behaviour::modern("mcp-name-url-safe", "Mcp-Name is in URL-safe Base64 without padding", HTTP)
    },
    Behaviour {
        post: Some(|_, _, posting| change(posting, NAME, |name| name.trim().to_owned())),
        ..Behaviour::modern("mcp-name-trimmed", "Mcp-Name is trimmed", HTTP)
    },
    Behaviour {
        post: Some(|_, _, posting| {
            for header in mirrors(posting) {
                recode(posting, &header, |text| if looks_encoded(text) { text.to_owned() } else { encode(text) });
            }
        }),
        ..Behaviour::modern("sentinel-sent-plain", "a value that looks encoded is sent as it is", HTTP)
    },
    Behaviour {
        post: Some(|_, _, posting| {
            for header in mirrors(posting) {
                recode(posting, &header, |text| encode(text).replace("=?base64?", "=?BASE64?"));
            }
        }),
        ..Behaviour::modern("sentinel-in-capitals", "encoded values begin with `=?BASE64?`", HTTP)
    },
    Behaviour {
        post: Some(|_, _, posting| {
            for header in mirrors(posting) {
                recode(posting, &header, |text| encode(text).replace("=?base64?", "=?b64?"));
            }
        }),
        ..Behaviour::modern("sentinel-b64", "encoded values begin with `=?b64?`", HTTP)
    },
    Behaviour {
        post: Some(|_, _, posting| {
            for header in mirrors(posting) {
                let text = text(posting, &header);
                if let Some((value, line)) = text.as_deref().and_then(|text| text.split_once("\r\n")) {
                    posting.set(&header, value);
                    if let Some((name, value)) = line.split_once(':') {
                        posting.set(&name.to_ascii_lowercase(), value.trim());
                    }
                }
            }
        }),
        ..Behaviour::modern("header-injection", "a line break in a value begins another header", HTTP)
    },
];
