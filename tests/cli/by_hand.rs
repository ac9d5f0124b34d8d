//! The shell command of a finding shows the failure without this program.

use std::{path::Path, process::Command};

use crate::{PROGRAM, report, server::Reference};

/// The first command of a finding.
fn offered(line: &str) -> String {
    let (report, code) = report(line);
    assert_eq!(code, 1, "{line}");
    let mut findings =
        report["rules"].as_array().unwrap().iter().flat_map(|rule| rule["findings"].as_array().into_iter().flatten());
    findings.find_map(|finding| finding["by_hand"].as_str()).expect("a command").to_owned()
}

fn shown_by(script: &str) -> String {
    let directory = Path::new(PROGRAM).parent().unwrap().display().to_string();
    let path = format!("{directory}:{}", std::env::var("PATH").unwrap_or_default());
    let output = Command::new("sh").args(["-c", script]).env("PATH", path).output().expect("a shell");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn lines_for_the_server_of_any_revision() {
    for revision in ["2024-11-05", "2025-11-25", "2026-07-28"] {
        let run = format!(
            "run --reference --fault list-item-without-name --revision {revision} --filter resources-list-item-name"
        );
        let shown = shown_by(&offered(&run));
        let answer = shown.lines().find(|line| line.contains("\"resources\":[")).unwrap_or_else(|| panic!("{shown}"));
        assert!(!answer.contains("\"name\":\"readme.md\""), "{revision}: {answer}");
    }
}

/// The request that killed the server comes before the requests that it left unanswered.
#[test]
fn what_came_before_is_sent_too() {
    let script = offered("run --reference --fault cancel-crashes --filter cancellation-races-handled");
    let last = script.rsplit_once("\"id\":").and_then(|(_, rest)| rest.split([',', '}']).next()).expect("an id");
    let responds = |script: &str| shown_by(script).contains(&format!("\"id\":{last},"));
    assert!(!responds(&script), "{script}");
    assert!(responds(&script.replace(" --fault cancel-crashes", "")), "{script}");
}

#[test]
fn requests_for_curl_with_and_without_a_session() {
    if Command::new("curl").arg("--version").output().is_err() {
        eprintln!("skipped: there is no curl");
        return;
    }
    for revision in ["2025-06-18", "2026-07-28"] {
        let server = Reference::with(&["--fault", "list-item-without-name"]);
        let run = format!("run --http {} --revision {revision} --filter resources-list-item-name", server.http);
        let shown = shown_by(&offered(&run));
        assert!(shown.contains("HTTP/1.1 200"), "{revision}: {shown}");
        let answer = shown.lines().find(|line| line.contains("\"resources\":[")).unwrap_or_else(|| panic!("{shown}"));
        assert!(!answer.contains("\"name\":\"readme.md\""), "{revision}: {answer}");
    }
}

#[test]
fn what_was_entrusted_to_the_run_is_named_and_not_told() {
    let server = Reference::with(&["--fault", "list-item-without-name"]);
    let run = [
        "run",
        "--http",
        &server.http,
        "--header",
        "X-Api-Key: hunter2",
        "--verbose",
        "--filter",
        "resources-list-item-name",
    ];
    let shown = crate::ran(run).stdout;
    assert!(shown.contains("-H \"x-api-key: $X_API_KEY\""), "{shown}");
    assert!(!shown.contains("hunter2"), "{shown}");
}
