//! What the rules about a registered client of an authorization server need to know.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Url;
use serde_json::{Value, json};

use crate::error::Error;

/// The fact `oauth_client`: its `id` and `redirect_uri`, both also `encoded_` for a form, where a redirect leads `to`,
/// `other_port` of a loopback address, and `variants` of the URI, each with `uri`, `to` and `what` differs.
pub fn oauth_client(id: &str, redirect_uri: &str) -> Result<Value, Error> {
    let url = Url::parse(redirect_uri).map_err(|why| Error::usage(format!("`{redirect_uri}` is not a URL: {why}")))?;
    let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
    let is_ip = matches!(url.host_str(), Some("127.0.0.1" | "[::1]"));
    let other_port = is_ip.then(|| changed(&url, |url| _ = url.set_port(Some(url.port().unwrap_or(80) ^ 1)))).flatten();
    Ok(json!({
        "id": id,
        "redirect_uri": redirect_uri,
        "to": to(redirect_uri),
        "encoded_id": encoded(id),
        "encoded_redirect_uri": encoded(redirect_uri),
        "other_port": other_port,
        "variants": variants(&url, redirect_uri),
    }))
}

fn to(uri: &str) -> &str {
    uri.split(['?', '#']).next().unwrap_or_default()
}

fn changed(url: &Url, change: impl FnOnce(&mut Url)) -> Option<String> {
    let mut other = url.clone();
    change(&mut other);
    (other != *url).then(|| other.into())
}

/// URIs that a careless comparison takes for the registered one. Each leads elsewhere.
fn variants(url: &Url, registered: &str) -> Vec<Value> {
    let path = url.path().trim_end_matches('/').to_owned();
    let host = url.host_str().unwrap_or_default().to_owned();
    let last = path.rsplit('/').next().unwrap_or_default().to_owned();
    let set_path = |path: String| changed(url, |url| url.set_path(&path));
    let set_host = |host: &str| changed(url, |url| _ = url.set_host(Some(host)));
    let dots = to(registered).strip_suffix(&last).map(|before| format!("{before}mcp-conform/../{last}"));
    let letter = last.chars().next().filter(char::is_ascii_alphabetic);
    let escaped = letter.and_then(|first| {
        let rest = to(registered).strip_suffix(&last)?;
        Some(format!("{rest}%{:02X}{}", u32::from(first), &last[1..]))
    });
    let all = [
        ("another host", set_host("mcp-conform.invalid")),
        (
            "the host as a subdomain of another",
            set_host(&format!("{}.mcp-conform.invalid", host.trim_matches(['[', ']']).replace(':', "-"))),
        ),
        (
            "the host as a user name",
            changed(url, |url| {
                _ = url.set_username(&host);
                _ = url.set_host(Some("mcp-conform.invalid"));
            }),
        ),
        ("localhost in place of 127.0.0.1", if host == "127.0.0.1" { set_host("localhost") } else { None }),
        ("127.0.0.1 in place of localhost", if host == "localhost" { set_host("127.0.0.1") } else { None }),
        ("another path", set_path("/mcp-conform".to_owned())),
        ("a path below", set_path(format!("{path}/mcp-conform"))),
        ("a longer last segment", set_path(format!("{path}-mcp-conform"))),
        ("a slash at the end", if url.path().ends_with('/') { None } else { set_path(format!("{path}/")) }),
        ("the path in capitals", set_path(path.to_uppercase())),
        ("dot segments", dots),
        ("a letter that is percent-encoded", escaped),
    ];
    let known = all.into_iter().filter_map(|(what, uri)| Some((what, uri?)));
    known.map(|(what, uri)| json!({ "what": what, "to": to(&uri), "uri": uri })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_variant_is_the_registered_uri() {
        for registered in [
            "http://127.0.0.1:4999/callback",
            "https://app.example.com/a/cb",
            "http://localhost/",
            "https://a.example.com",
        ] {
            let client = oauth_client("a b", registered).expect("a URL");
            let variants = client["variants"].as_array().expect("a list");
            assert!(variants.len() > 5, "{registered}");
            for variant in variants {
                assert_ne!(variant["to"], client["to"], "{variant}");
            }
        }
        let client = oauth_client("a b", "http://127.0.0.1:4999/callback").expect("a URL");
        let uris: Vec<&str> =
            client["variants"].as_array().expect("a list").iter().filter_map(|one| one["uri"].as_str()).collect();
        assert!(uris.contains(&"http://127.0.0.1:4999/mcp-conform/../callback"), "{uris:?}");
        assert!(uris.contains(&"http://127.0.0.1:4999/%63allback"), "{uris:?}");
        assert!(uris.contains(&"http://127.0.0.1@mcp-conform.invalid:4999/callback"), "{uris:?}");
        assert_eq!(
            (&client["other_port"], &client["encoded_id"]),
            (&json!("http://127.0.0.1:4998/callback"), &json!("a%20b"))
        );
        assert!(oauth_client("a", "callback").is_err());
    }
}
