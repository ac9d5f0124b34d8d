//! URLs that receive tokens use https. Local hosts are exempt, since servers under development use them.

use std::net::IpAddr;

use iri_string::types::UriAbsoluteStr;

use crate::checks::{Check, Fault, Given, Report, texts};

pub const CHECK: Check = Check { name: "secure-urls", given: &["urls"], run };

fn run(given: &Given) -> Report {
    let mut urls = texts(given.value("urls"));
    // A URL on a local host counts as judged only if it uses https.
    urls.retain(|url| is_open(url) || has_scheme(url, "https"));
    let faults = urls.iter().filter(|url| is_open(url)).map(|url| Fault {
        given: "urls",
        message: format!("tokens are sent unencrypted to {url}"),
        received: Some((*url).into()),
        ..Fault::default()
    });
    Report { checked: urls.len(), faults: faults.collect(), broken: None }
}

fn has_scheme(url: &str, scheme: &str) -> bool {
    UriAbsoluteStr::new(url.split('#').next().unwrap_or_default())
        .is_ok_and(|url| url.scheme_str().eq_ignore_ascii_case(scheme))
}

fn is_open(url: &str) -> bool {
    let parsed = UriAbsoluteStr::new(url.split('#').next().unwrap_or_default());
    let Ok(parsed) = parsed else { return false };
    let host = parsed.authority_components().map(|authority| authority.host()).unwrap_or_default();
    has_scheme(url, "http") && is_public(&host.to_ascii_lowercase())
}

fn is_public(host: &str) -> bool {
    match host.trim_matches(['[', ']']).parse() {
        Ok(IpAddr::V4(address)) => !(address.is_loopback() || address.is_private() || address.is_link_local()),
        Ok(IpAddr::V6(address)) => !(address.is_loopback() || address.is_unique_local()),
        Err(_) => {
            let local = [".local", ".localhost", ".internal", ".lan", ".test"];
            host.contains('.') && !local.iter().any(|end| host.ends_with(end))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_open;

    #[test]
    fn what_is_near_may_be_open() {
        for near in [
            "http://localhost:3000/a",
            "http://127.0.0.1/",
            "http://[::1]:8/",
            "http://keycloak:8080/r",
            "http://10.1.2.3",
        ] {
            assert!(!is_open(near), "{near}");
        }
        assert!(!is_open("https://login.example.com") && !is_open("no url"));
        assert!(is_open("http://login.example.com/token") && is_open("HTTP://93.184.216.34/"));
    }

    #[test]
    fn what_is_near_proves_nothing() {
        let checked = |urls: serde_json::Value| {
            crate::checks::tried(&super::CHECK, conform_model::revision::Revision::NEWEST, [("urls", urls)]).checked
        };
        assert_eq!(checked(serde_json::json!(["http://localhost:3000/a", "no url"])), 0);
        assert_eq!(checked(serde_json::json!(["http://localhost:3000/a", "https://login.example.com"])), 1);
        assert_eq!(checked(serde_json::json!(["http://login.example.com"])), 1);
    }
}
