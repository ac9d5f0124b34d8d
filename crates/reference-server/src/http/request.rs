//! Checks of an HTTP request before its message is read.

use http_body_util::{BodyExt, Limited};
use hyper::{
    HeaderMap, StatusCode,
    body::{Bytes, Incoming},
    header::{ACCEPT, CONTENT_TYPE, ORIGIN},
};

const LONGEST_BODY: usize = 16 << 20;

/// The value of a header that is text.
pub fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// Web pages of other origins must not reach a local server; clients other than browsers send no `Origin`.
pub fn is_foreign(headers: &HeaderMap) -> bool {
    let Some(origin) = headers.get(ORIGIN) else { return false };
    let authority = origin.to_str().ok().and_then(|origin| origin.split_once("://")).map(|(_, authority)| authority);
    let host = authority.map(|authority| match authority.strip_prefix('[') {
        Some(address) => address.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    });
    !matches!(host, Some("localhost" | "127.0.0.1" | "::1"))
}

pub fn takes_events(headers: &HeaderMap) -> bool {
    accepts(headers, "text/event-stream")
}

/// The status for a POST whose headers prevent a response.
pub fn refused(headers: &HeaderMap) -> Option<StatusCode> {
    let is_json = text(headers, CONTENT_TYPE.as_str()).is_some_and(|kind| essence(kind) == "application/json");
    if !is_json {
        return Some(StatusCode::UNSUPPORTED_MEDIA_TYPE);
    }
    (!accepts(headers, "application/json") || !takes_events(headers)).then_some(StatusCode::NOT_ACCEPTABLE)
}

fn accepts(headers: &HeaderMap, kind: &str) -> bool {
    let group = kind.split('/').next().unwrap_or_default();
    let fits = |range: &str| {
        let range = essence(range);
        range == kind || range == "*/*" || range.strip_suffix("/*") == Some(group)
    };
    let mut ranges = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok()).peekable();
    ranges.peek().is_none() || ranges.any(|value| value.split(',').any(fits))
}

fn essence(kind: &str) -> String {
    kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// `None` if the body is too long or incomplete.
pub async fn whole_body(body: Incoming) -> Option<Bytes> {
    Some(Limited::new(body, LONGEST_BODY).collect().await.ok()?.to_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &'static str, value: &'static str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().expect("a header value"));
        headers
    }

    #[test]
    fn only_pages_of_this_machine_are_let_in() {
        assert!(!is_foreign(&HeaderMap::new()));
        for own in ["http://localhost", "http://localhost:3000", "https://127.0.0.1:1", "http://[::1]:8080"] {
            assert!(!is_foreign(&with("origin", own)), "{own}");
        }
        for foreign in ["http://evil.example", "http://localhost.evil.example", "null", "http://127.0.0.1.evil.example"]
        {
            assert!(is_foreign(&with("origin", foreign)), "{foreign}");
        }
    }

    #[test]
    fn accept_understands_lists_and_ranges() {
        for both in ["application/json, text/event-stream", "*/*", "text/*;q=0.5, application/json;q=1"] {
            assert!(takes_events(&with("accept", both)), "{both}");
        }
        assert!(!takes_events(&with("accept", "application/json")));
        assert!(takes_events(&HeaderMap::new()));
    }
}
