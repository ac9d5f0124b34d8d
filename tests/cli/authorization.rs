//! Servers that require a token: how it is configured, that it is never shown, and what is judged without one.

use std::fs;

use mcp_conform::reference;
use serde_json::Value;

use crate::{assert_shown, ran, report, server::Reference};

fn token(wanted: &str) -> &'static str {
    reference::server::tokens().into_iter().find(|(name, _)| *name == wanted).expect("a token").1
}

fn status<'a>(report: &'a Value, id: &str) -> &'a str {
    let rules = report["rules"].as_array().expect("rules");
    rules.iter().find(|rule| rule["id"] == id).and_then(|rule| rule["status"].as_str()).unwrap_or_default()
}

#[test]
fn without_a_token_the_refusals_are_judged() {
    let server = Reference::protected();
    let (told, code) = report(&format!("run --http {}", server.http));
    assert_eq!(code, 3, "{told:#}");
    for rule in ["authorization-401-when-required", "authorization-prm-implemented", "authorization-token-validated"] {
        assert_eq!(status(&told, rule), "pass", "{rule}");
    }
    assert_eq!(status(&told, "authorization-no-tokens-from-query"), "not-exercised");
    assert!(told["notes"][0].as_str().is_some_and(|note| note.contains("--bearer-token-command")), "{told:#}");

    let elsewhere = ran(["run", "--http", &server.http, "--filter", "resources.*"]);
    assert_eq!((elsewhere.code, elsewhere.stdout.as_str()), (3, ""));
    assert_shown(
        &elsewhere.stderr,
        &format!(
            "error: the server could not be tested
  tried: {}
  cause: HTTP 401 with no JSON-RPC message
   help: the server requires authorization: pass a token with --bearer-token-command COMMAND or --header 'Authorization: Bearer \
             ...', or with `auth` of the target in mcp-conform.toml",
            server.http
        ),
    );
    let refused =
        ran(["run", "--http", &server.http, "--header", "Authorization: Bearer nonsense", "--filter", "resources.*"]);
    assert!(refused.stderr.contains("the server rejected the credentials"), "{}", refused.stderr);
}

#[test]
fn tokens_come_from_commands_and_grants_and_stand_nowhere() {
    const SECRET: &str = "ref-secret-60b7e41c95";
    let server = Reference::protected();
    let directory = tempfile::tempdir().unwrap();
    let (transcript, config) = (directory.path().join("run.jsonl"), directory.path().join("mcp-conform.toml"));
    let (own, expired) = (token("own"), token("expired"));
    let text = format!(
        "[targets.granted]\nhttp = \"{http}\"\nauth = {{ client_id = \"reference-client\", client_secret = \"{SECRET}\" }}\n\
         [targets.printed]\nhttp = \"{http}\"\n[targets.printed.auth]\ncommand = [\"echo\", \"{own}\"]\n\
         others = {{ expired = \"{expired}\" }}\n",
        http = server.http
    );
    fs::write(&config, text).unwrap();
    for target in ["granted", "printed"] {
        let (told, code) = report(&format!(
            "run {target} --config {} --filter auth.* --filter lifecycle-* --transcript {}",
            config.display(),
            transcript.display()
        ));
        assert_eq!(code, 0, "{told:#}");
        assert_eq!(status(&told, "authorization-no-tokens-from-query"), "pass");
        let expected = if target == "printed" { "pass" } else { "not-exercised" };
        assert_eq!(status(&told, "authorization-expired-token-401"), expected);
        let shown = format!("{told}{}", fs::read_to_string(&transcript).unwrap());
        for secret in [SECRET, own, expired, "ref-tok-ownx"] {
            assert!(!shown.contains(secret), "{secret} is shown");
        }
        let (again, _) = report(&format!("judge {} --filter auth.*", transcript.display()));
        assert_eq!(status(&again, "authorization-no-tokens-from-query"), "pass");
    }
    let command = format!("echo {own}");
    let typed = ran(["run", "--http", &server.http, "--bearer-token-command", &command, "--filter", "auth.*"]);
    assert_eq!(typed.code, 0, "{}{}", typed.stdout, typed.stderr);
    assert!(!typed.stdout.contains(own));
}

#[test]
fn a_server_that_lets_everybody_in_is_not_judged_by_it() {
    let server = Reference::start();
    let (told, _) = report(&format!("run --http {} --header Authorization:Bearer --filter auth.*", server.http));
    assert_eq!(status(&told, "authorization-401-when-required"), "not-applicable");
    assert_eq!(status(&told, "authorization-optional"), "observed");
}
