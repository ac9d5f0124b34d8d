//! The addresses at which an HTTP server may listen, judged by its URL.

use std::net::UdpSocket;

use reqwest::Url;
use serde_json::{Value, json};

use crate::target::{Start, shown_url};

/// Another loopback address. A server that is reachable there listens on more than 127.0.0.1.
const BESIDE: &str = "127.0.0.2";

/// `url`, and `local`: whether it is on this machine. If so, also `beside`: the URL at another loopback address, if the
/// machine has one.
pub fn place(start: &Start) -> Value {
    let Some(mut url) = start.url().and_then(|url| Url::parse(url).ok()) else { return json!({}) };
    let bare = url.set_username("").and_then(|()| url.set_password(None));
    let mut place = json!({ "url": bare.ok().map(|()| shown_url(url.as_str())), "local": false });
    if matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]")) {
        place["local"] = json!(true);
        if UdpSocket::bind((BESIDE, 0)).is_ok() && url.set_host(Some(BESIDE)).is_ok() {
            place["beside"] = json!(shown_url(url.as_str()));
        }
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Transport;

    fn at(url: &str) -> Value {
        place(&Start::over(Transport::Http, url.into(), Vec::new()))
    }

    #[test]
    fn only_the_loopback_addresses_are_on_this_machine() {
        for local in ["http://localhost:3000/mcp", "http://127.0.0.1/mcp", "http://[::1]:80/"] {
            assert_eq!(at(local)["local"], json!(true), "{local}");
        }
        for elsewhere in ["https://example.com/mcp", "http://10.0.0.1/", "http://localhost.example.com/"] {
            assert_eq!(at(elsewhere)["local"], json!(false), "{elsewhere}");
        }
        assert_eq!(at("http://a:b@example.com/mcp")["url"], json!("http://example.com/mcp"));
    }
}
