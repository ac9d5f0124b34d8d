//! Clients in the configuration, and a client that the user starts.

use std::{
    fs,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::{PROGRAM, ran};

/// A directory with this configuration. `{program}` is this program.
fn configured(text: &str) -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join("mcp-conform.toml"), text.replace("{program}", PROGRAM)).expect("a file");
    directory
}

/// The report of a client of that configuration, its exit code, and stderr.
fn tested(config: &str, arguments: &[&str]) -> (Option<Value>, i32, String) {
    let directory = configured(config);
    let file = directory.path().join("mcp-conform.toml").display().to_string();
    let done = ran([&["client", "--config", &file, "--report", "json"], arguments].concat());
    (serde_json::from_str(&done.stdout).ok(), done.code, done.stderr)
}

fn status<'a>(report: &'a Value, rule: &str) -> &'a str {
    let mut rules = report["rules"].as_array().expect("rules").iter();
    rules.find(|one| one["id"] == rule).expect("the rule")["status"].as_str().expect("a status")
}

/// `tree` lists all resources; it is a command line client.
const TREE: &str = r#"
[clients.tree]
command = ["{program}", "tree", "--http", "{url}"]
parallel = 2

[clients.tree.actions]
list-resources = []
"#;

#[test]
fn a_client_with_a_command_line_runs_once_for_each_action_that_has_a_template() {
    let rules = ["--filter", "pagination-client-no-page-size", "--filter", "pagination-client-both-flows"];
    let (report, code, stderr) = tested(TREE, &[&["tree"], &rules[..]].concat());
    let report = report.expect(&stderr);
    assert_eq!((code, status(&report, rules[1])), (0, "pass"), "{report:#}");
    // It does not report its actions, so rules about its use of a list are not exercised.
    assert_eq!(status(&report, rules[3]), "not-exercised");
    assert_eq!(report["target"]["name"], "tree");
}

#[test]
fn mistakes_about_clients_are_shown_with_place_and_help() {
    for (config, arguments, message) in [
        (TREE, &["treee"][..], "has no client `treee`"),
        (TREE, &["treee"], "did you mean `tree`?"),
        (TREE, &["tree", "--filter", "client-http-session-delete", "--revision", "2019-01-01"], "2019-01-01"),
        ("[clients.a]\ncommand = []", &["a"], "a client needs `command`"),
        ("[clients.a]\ncommand = [\"x\"]\ntransport = \"htpp\"", &["a"], "did you mean `http`?"),
        ("[clients.a]\ncommand = [\"x\"]\nparallel = 0", &["a"], ":3:12"),
        ("[clients.a]\ncommand = [\"x\"]\nactions = { reed = [] }", &["a"], "did you mean `read`?"),
        ("[clients.a]\ncommand = [\"x\"]\nenv = { A = \"${NOT_SET_AT_ALL}\" }", &["a"], "`NOT_SET_AT_ALL` is not set"),
        (
            "[clients.a]\ncommand = [\"x\"]\nactions = { ping = [] }",
            &["a", "--filter", "pagination-client-no-page-size"],
            "no template",
        ),
        ("", &["--world", "usuel"], "did you mean `usual`?"),
    ] {
        let (_, code, stderr) = tested(config, arguments);
        assert_eq!(code, 2, "{config} {arguments:?}: {stderr}");
        assert!(stderr.contains(message), "{config} {arguments:?}: {stderr}");
    }
}

#[test]
fn what_a_client_gets_from_the_environment_is_not_recorded() {
    let directory = configured(
        r#"
[clients.noted]
command = ["sh", "-c", 'exec "$0" tree --http "$1" --header "X-Note: $NOTE"', "{program}", "{url}"]
env = { NOTE = "${NOTE_OF_THE_TEST}" }
"#,
    );
    let record = directory.path().join("record.jsonl");
    let done = Command::new(PROGRAM)
        .current_dir(&directory)
        .env("NOTE_OF_THE_TEST", "wonderful-weather-today")
        .args(["client", "noted", "--filter", "pagination-client-no-page-size", "--transcript"])
        .arg(&record)
        .output();
    let done = done.expect("it runs");
    let recorded = fs::read_to_string(&record).expect("a record");
    assert!(recorded.contains("(given by the user)"), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(!recorded.contains("wonderful-weather"), "{recorded}");
}

#[test]
fn a_client_that_somebody_else_starts_is_judged_when_it_has_left() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("report.json");
    let mut waiting = Command::new(PROGRAM)
        .args(["client", "--transport", "stdio", "--filter", "clients.base.*"])
        .args(["--report", &format!("json={}", file.display())])
        .env("NO_COLOR", "1")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut shown = BufReader::new(waiting.stderr.take().expect("stderr")).lines().map_while(Result::ok);
    let config = shown.find(|line| line.contains("mcpServers")).expect("a configuration to paste");
    let config: Value = serde_json::from_str(&config).expect("JSON");
    let server = config["mcpServers"]["mcp-conform"]["command"].as_str().expect("a command").to_owned();
    let tree = Command::new(PROGRAM).args(["tree", "--stdio", &server]).output().expect("a client");
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let lines: Vec<String> = shown.collect();
    assert!(lines.iter().any(|line| line.contains("→ resources/list")), "{lines:#?}");
    assert_eq!(waiting.wait().expect("it ends").code(), Some(0), "{lines:#?}");
    let report: Value = serde_json::from_str(&fs::read_to_string(&file).expect("a report")).expect("JSON");
    assert_eq!(status(&report, "client-request-id-unique-while-open"), "pass", "{report:#}");
}

#[cfg(unix)]
#[test]
fn nothing_is_noted_about_servers_that_a_client_ends_as_usual() {
    let typed = ["client", "--transport", "stdio", "--filter", "client-request-id-type", "--report", "json"];
    let done = ran([&typed[..], &["--", PROGRAM, "act", "{stub}"]].concat());
    let report: Value = serde_json::from_str(&done.stdout).expect(&done.stderr);
    assert_eq!((done.code, status(&report, "client-request-id-type")), (0, "pass"), "{report:#}");
    assert_eq!(report["notes"], serde_json::json!([]), "{report:#}");
}
