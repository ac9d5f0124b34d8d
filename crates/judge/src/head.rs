//! Detects unusual HTTP requests: suites send requests that no client would send, and a server may reject those before
//! it reads the message.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::Value;

use conform_model::{
    evidence::{HttpHead, Link},
    revision::Revision,
};

/// Whether the head gives the server a reason to respond to `message` differently. Over HTTP+SSE, messages go to
/// `endpoint`, which each stream defines.
pub fn is_odd(head: &HttpHead, message: &Value, link: &Link, endpoint: Option<&str>) -> bool {
    // Only web pages send an origin. One that the user configured is redacted.
    let foreign = head.value("origin").is_some_and(|origin| origin == "null" || origin.contains("://"));
    foreign
        || (link.transport.capabilities().endpoint && head.url.as_deref() != endpoint)
        || (link.transport.capabilities().stream_per_request
            && link
                .revision
                .filter(|known| known.is_modern())
                .is_some_and(|revision| head.value("mcp-session-id").is_some() || disagrees(head, message, revision)))
}

/// Whether headers contradict the message that they repeat.
fn disagrees(head: &HttpHead, message: &Value, revision: Revision) -> bool {
    let method = message["method"].as_str();
    let name = match method {
        Some("tools/call" | "prompts/get") => Some(&message["params"]["name"]),
        Some("resources/read") => Some(&message["params"]["uri"]),
        _ => None,
    };
    head.value("mcp-protocol-version") != Some(revision.as_str())
        || head.value("mcp-method") != method
        || name.is_some_and(|name| head.value("mcp-name").map(decoded).as_deref() != name.as_str())
}

/// A header value, decoded as 2026-07-28 defines.
pub fn decoded(value: &str) -> String {
    let encoded = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    let bytes = encoded.and_then(|encoded| BASE64_STANDARD.decode(encoded).ok());
    bytes.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_else(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use conform_model::evidence::Transport;

    fn odd(transport: Transport, headers: &[(&str, &str)], message: &Value) -> bool {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let head = HttpHead { url: Some("http://here/post?a".into()), headers, ..HttpHead::default() };
        let link = Link { revision: Some(Revision::V2026_07_28), ..Link::new(1, transport) };
        is_odd(&head, message, &link, Some("http://here/post?a"))
    }

    const USUAL: [(&str, &str); 3] =
        [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "resources/read"), ("mcp-name", "=?base64?w6k=?=")];

    #[test]
    fn headers_that_repeat_the_message_are_as_usual() {
        let read = json!({ "method": "resources/read", "params": { "uri": "é" } });
        assert!(!odd(Transport::Http, &USUAL, &read));
        for index in 0..USUAL.len() {
            let (mut missing, mut other) = (USUAL.to_vec(), USUAL.to_vec());
            missing.remove(index);
            other[index].1 = "other";
            assert!(odd(Transport::Http, &missing, &read) && odd(Transport::Http, &other, &read), "{index}");
        }
        let discover = json!({ "method": "server/discover" });
        assert!(!odd(Transport::Http, &[USUAL[0], ("mcp-method", "server/discover")], &discover));
    }

    #[test]
    fn what_only_others_send_is_odd() {
        let read = json!({ "method": "resources/read", "params": { "uri": "é" } });
        let with = |name, value| [USUAL.as_slice(), &[(name, value)]].concat();
        assert!(odd(Transport::Http, &with("mcp-session-id", "made up"), &read));
        assert!(odd(Transport::Http, &with("origin", "http://elsewhere.example"), &read));
        assert!(odd(Transport::Sse, &[("origin", "null")], &read));
        assert!(!odd(Transport::Http, &with("origin", "(given by the user)"), &read));
    }

    #[test]
    fn what_is_posted_for_another_stream_is_odd() {
        let link = Link { revision: Some(Revision::V2024_11_05), ..Link::new(1, Transport::Sse) };
        let head = HttpHead { url: Some("http://here/post?b".into()), ..HttpHead::default() };
        assert!(is_odd(&head, &json!({}), &link, Some("http://here/post?a")));
        assert!(!is_odd(&head, &json!({}), &link, Some("http://here/post?b")));
    }
}
