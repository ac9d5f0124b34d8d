//! Findings about clients and gateways with a fault, as users see them.

#![cfg(unix)]

use std::{collections::HashSet, fs, time::Duration};

use assert_cmd::Command;
use serde_json::Value;

const PROGRAM: &str = env!("CARGO_BIN_EXE_proof");

struct Ran {
    code: i32,
    stdout: String,
    stderr: String,
}

fn ran<A: AsRef<std::ffi::OsStr>>(args: impl IntoIterator<Item = A>) -> Ran {
    let output =
        Command::new(PROGRAM).args(args).timeout(Duration::from_secs(120)).output().expect("the program starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Ran {
        code: output.status.code().expect("it ended by itself"),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

/// Prints a variable, and becomes this program.
const TALKATIVE: &str = r#"echo "the token is $API_TOKEN" >&2; program=$0; exec "$program" "$@""#;

#[test]
fn reports_show_no_value_of_an_environment_option() {
    let act = ["--filter", "client-request-id-type", "--", "sh", "-c", TALKATIVE, PROGRAM, "act"];
    let act = [&["client"], &act[..], &["{url}", "--fault", "ids-are-objects"]].concat();
    let relay = ["--filter", "gateway-cursor-kept", "--", "sh", "-c", TALKATIVE, PROGRAM, "relay"];
    let relay = [&["gateway"], &relay[..], &["{upstream}", "--fault", "cursor-rewritten"]].concat();
    for typed in [act, relay] {
        let directory = tempfile::tempdir().expect("a directory");
        let file = |name: &str| directory.path().join(name).display().to_string();
        let (command, rest) = typed.split_first().expect("a command");
        let mut line = vec![(*command).to_owned(), "--transcript".to_owned(), file("transcript")];
        for format in ["human", "json", "html", "junit", "markdown", "github", "sarif", "tap"] {
            line.extend(["--report".to_owned(), format!("{format}={}", file(format))]);
        }
        let env = ["API_TOKEN=not-to-be-shown-1", "MODE=not-to-be-shown-2"];
        line.extend(env.iter().flat_map(|pair| ["--env".to_owned(), (*pair).to_owned()]));
        line.extend(rest.iter().map(|word| (*word).to_owned()));
        let done = ran(&line);
        assert_eq!(done.code, 1, "{command}: {}", done.stderr);
        for file in fs::read_dir(&directory).expect("reports") {
            let file = file.expect("a report").path();
            let report = fs::read_to_string(&file).expect("a text");
            assert!(!report.contains("not-to-be-shown"), "{command}: {}", file.display());
            let is_rerun = file.ends_with("human");
            assert!(
                !is_rerun || report.contains(r#"--env "API_TOKEN=${API_TOKEN:?}" --env "MODE=${MODE:?}""#),
                "{report}"
            );
        }
    }
}

#[test]
fn a_finding_names_the_world_of_the_client_and_the_rerun_command_starts_it() {
    // The first rule judges everything, and fails only where a suite of another rule starts the client.
    let rules = ["--filter", "client-initialize-first", "--filter", "client-stdio-restart-legacy-handshake"];
    let begin = ["client", "--transport", "stdio", "--revision", "2025-11-25"];
    let client = ["--", PROGRAM, "act", "{stub}", "--fault", "restart-without-handshake"];
    let directory = tempfile::tempdir().expect("a directory");
    let file = |name: &str| directory.path().join(name).display().to_string();
    let wanted = [format!("--report=json={}", file("json")), format!("--report=github={}", file("github"))];
    let wanted = ["--report=human", &wanted[0], &wanted[1]];
    let done = ran([&begin[..], &rules, &wanted, &client].concat());
    let report: Value = serde_json::from_str(&fs::read_to_string(file("json")).expect("a report")).expect("JSON");
    let mut found = report["rules"].as_array().expect("rules").iter().filter(|rule| rule["id"] == rules[1]);
    let finding = &found.next().expect("the rule")["findings"][0];
    assert_eq!(finding["world"]["name"], "exits-on-call", "{report:#}");
    assert_eq!(finding["world"]["actions"][0]["do"], "connect", "{finding:#}");
    let annotations = fs::read_to_string(file("github")).expect("annotations");
    for shown in [&done.stdout, &annotations] {
        assert!(shown.contains("exits-on-call: "), "{shown}");
    }
    let again = shlex::split(finding["reproduce"].as_str().expect("a command")).expect("words");
    assert!(again.iter().any(|word| word == "clients.stdio.restart"), "{again:?}");
    let again = ran(&again[1..]);
    assert_eq!(again.code, 1, "{}", again.stdout);
}

/// The messages of a finding with several clients: who sent or received each, and its text.
#[test]
fn a_finding_about_two_clients_shows_both_requests_and_who_received_the_response() {
    let options = ["gateway", "--front", "http", "--revision", "2025-11-25", "--filter", "gateway-own-response"];
    let relay = [PROGRAM, "relay", "{upstream}", "--front", "http", "--port", "{port}", "--fault", "responses-in-turn"];
    let ran = ran(options.into_iter().chain(["--report", "json", "--"]).chain(relay));
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).expect("a report");
    let findings =
        report["rules"].as_array().into_iter().flatten().filter_map(|rule| rule["findings"].as_array()).flatten();
    let found = findings.map(|finding| {
        let messages = finding["messages"].as_array().into_iter().flatten();
        let text = |message: &serde_json::Value, name: &str| message[name].as_str().unwrap_or_default().to_owned();
        let bodies = messages.filter(|message| text(message, "text").starts_with(['{', '…']));
        bodies.map(|message| (text(message, "from"), text(message, "text"))).collect::<Vec<_>>()
    });
    let found: Vec<_> = found.collect();
    let to_first = found.first().expect("a finding");
    let expected =
        [("client 1", "\"slow\""), ("client 2", "\"two\""), ("upstream", "\"two\""), ("to client 1", "\"two\"")];
    assert_eq!(to_first.len(), expected.len(), "{found:?}");
    for ((from, text), (expected, part)) in to_first.iter().zip(expected) {
        assert!(from == expected && text.contains(part), "{found:?}");
    }
}

#[test]
fn every_fault_that_a_rule_names_can_be_committed() {
    let lines = |args: &[&str]| -> Vec<String> { ran(args).stdout.lines().map(str::to_owned).collect() };
    let json = |line: &String| serde_json::from_str::<Value>(line).expect("JSON");
    let of_server = lines(&["list", "faults", "--json"]);
    let of_server = of_server.iter().map(json).map(|fault| fault["fault"].to_string());
    let of_others = lines(&["faults"]);
    let of_others = of_others.iter().filter_map(|line| line.split_once("  ")?.1.split(':').next());
    let known: HashSet<String> = of_server.chain(of_others.map(|name| Value::from(name).to_string())).collect();
    assert!(known.len() > 1_000);
    for rule in lines(&["list", "rules", "--json"]).iter().map(json) {
        for fault in rule["faults"].as_array().into_iter().flatten() {
            assert!(known.contains(&fault.to_string()), "{} names {fault}", rule["rule"]);
        }
    }
}
