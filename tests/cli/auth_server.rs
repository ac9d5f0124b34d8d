//! Authorization servers: what is tested with and without a client, and what is left behind.

use std::fs;

use crate::{ran, report, server::Reference};

fn issuer(server: &Reference) -> &str {
    server.http.strip_suffix("/mcp").expect("the endpoint")
}

#[test]
fn without_a_client_nothing_is_registered() {
    let server = Reference::protected();
    let folder = tempfile::tempdir().unwrap();
    let transcript = folder.path().join("run.jsonl");
    let (told, code) = report(&format!("auth-server {} --transcript {}", issuer(&server), transcript.display()));
    assert_eq!(code, 0, "{told:#}");
    assert_eq!(told["target"]["subject"], "authorization-server");
    let rules = told["rules"].as_array().expect("rules");
    let unexercised = |id: &str| rules.iter().find(|rule| rule["id"] == id).map(|rule| &rule["needs"]["option"]);
    assert_eq!(unexercised("as-dcr-created").expect("a rule"), "--register");
    assert!(
        unexercised("as-pkce-required").expect("a rule").as_str().is_some_and(|option| option.contains("--client-id"))
    );
    let text = fs::read_to_string(&transcript).unwrap();
    let posted = |path: &str| text.contains(&format!(r#""method":"POST","url":"{}{path}""#, issuer(&server)));
    assert!(posted("/token") && !posted("/register"), "{text}");
    let (judged, code) = report(&format!("judge {}", transcript.display()));
    assert_eq!((code, &judged["rules"]), (0, &told["rules"]));
}

#[test]
fn registered_clients_are_used_and_deleted() {
    let server = Reference::protected();
    let (told, code) = report(&format!("auth-server {} --register", issuer(&server)));
    assert_eq!((code, &told["notes"]), (0, &serde_json::json!([])), "{told:#}");
    let rules = told["rules"].as_array().expect("rules");
    for id in ["as-dcr-created", "as-dcr-usable", "as-redirect-exact", "as-pkce-required"] {
        assert!(rules.iter().any(|rule| rule["id"] == id && rule["status"] == "pass"), "{id}");
    }
}

#[test]
fn what_cannot_be_tested_is_an_error_with_a_fix() {
    let gone = ran(["auth-server", "http://127.0.0.1:1"]);
    assert_eq!(gone.code, 3);
    assert!(gone.stderr.contains("connection refused") && gone.stderr.contains("it is the issuer"), "{}", gone.stderr);
    let scheme = ran(["auth-server", "auth.example.com"]);
    assert_eq!(scheme.code, 2);
    assert!(scheme.stderr.contains("did you mean http://auth.example.com?"), "{}", scheme.stderr);
    let redirect = ran(["auth-server", "http://127.0.0.1:1", "--client-id", "a", "--redirect-uri", "callback"]);
    assert_eq!(redirect.code, 2);
    assert!(redirect.stderr.contains("`callback` is not a URL"), "{}", redirect.stderr);
}
