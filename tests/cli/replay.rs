//! The same evidence leads to the same verdicts: from a transcript, over another transport, and when judged again.

use std::collections::{BTreeMap, BTreeSet};

use mcp_conform::reference;
use serde_json::{Value, json};

use crate::{PROGRAM, at_once, ran, report, server::Reference, typed};

/// The status of each rule that applies, with the messages of its findings.
pub fn verdicts(report: &Value) -> BTreeMap<String, (String, Vec<String>)> {
    let rules = report["rules"].as_array().expect("rules").iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    rules
        .filter(|rule| rule["status"] != "not-applicable")
        .map(|rule| {
            let findings = rule["findings"].as_array().into_iter().flatten();
            let mut said: Vec<_> = findings.map(|finding| text(&finding["message"])).collect();
            said.sort();
            said.dedup();
            (text(&rule["id"]), (text(&rule["status"]), said))
        })
        .collect()
}

#[test]
fn a_transcript_is_judged_like_the_run_that_wrote_it() {
    let directory = tempfile::tempdir().unwrap();
    let transcript = directory.path().join("run.jsonl").display().to_string();
    let legacy = format!("{PROGRAM} serve --revision 2024-11-05");
    let line = |line: &'static str| line.split(' ').collect::<Vec<_>>();
    for target in [
        line("--reference --fault list-item-without-name"),
        line("--reference --revision all"),
        line("--reference --fault bad-json-ignored --revision 2025-03-26 --timeout 2"),
        line("--reference --fault list-item-without-name --strict --filter resources.list"),
        line("--reference --partition hash:1/9"),
        line("--reference --limit run=1"),
        line("--stdio /no/such/server"),
        line("--http http://127.0.0.1:1/mcp"),
        vec!["--stdio", &legacy, "--revision", "2025-06-18"],
    ] {
        let run = ran([&["run", "--report", "json", "--transcript", &transcript], target.as_slice()].concat());
        let again = ran(["judge", "--report", "json", &transcript]);
        assert_eq!((again.code, &again.stdout), (run.code, &run.stdout), "{target:?}: {}", again.stderr);
        assert!(run.stdout.contains("\"exit_code\""), "{target:?}: {}", run.stderr);
    }
}

#[test]
fn an_older_transcript_is_rejected() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("old.jsonl").display().to_string();
    let first = json!({ "transcript": { "schema": 1, "version": "0.0.9", "target": { "name": "x" } } });
    std::fs::write(&path, first.to_string()).unwrap();
    let ran = typed(&format!("judge {path}"));
    let told = "it was written by mcp-conform 0.0.9 in an older format (1, now 2)";
    assert!(ran.code == 2 && ran.stderr.contains(told), "{}", ran.stderr);
}

#[test]
fn a_transcript_can_be_judged_in_part() {
    let directory = tempfile::tempdir().unwrap();
    let transcript = directory.path().join("run.jsonl").display().to_string();
    report(&format!("run --reference --transcript {transcript}"));
    let (part, code) = report(&format!("judge {transcript} --filter resources-list-item-name"));
    assert_eq!((code, part["rules"].as_array().map(Vec::len)), (0, Some(1)), "{part:#}");
    assert_eq!(part["rules"][0]["status"], "pass");
}

/// As after a full disk, or an interrupted copy.
#[test]
fn a_transcript_is_judged_up_to_where_it_is_cut_off() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.jsonl");
    let shown = path.display().to_string();
    report(&format!("run --reference --revision all --filter base.ping --transcript {shown}"));
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() - 30]).unwrap();
    let (part, code) = report(&format!("judge {shown} --filter base.ping"));
    assert_eq!((code, part["revisions"].as_array().map(Vec::len)), (0, Some(4)));
    let revisions = part["rules"].as_array().expect("rules").iter().map(|rule| rule["revision"].to_string());
    assert_eq!(revisions.collect::<BTreeSet<_>>().len(), 4, "{part:#}");
    let note = part["notes"].as_array().and_then(|notes| notes.last()?.as_str()).unwrap_or_default();
    assert!(note.contains("is truncated in line ") && note.ends_with("; the lines before were judged"), "{note}");

    std::fs::write(&path, &whole[..whole.len() / 10]).unwrap();
    let nothing = typed(&format!("judge {shown}"));
    assert_eq!(nothing.code, 2);
    assert!(nothing.stderr.contains("ends before the evidence of the suites"), "{}", nothing.stderr);
}

#[test]
fn what_is_no_transcript_is_refused() {
    let ran = typed("judge Cargo.toml");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.starts_with("error: `Cargo.toml` is not a transcript: line 1: "), "{}", ran.stderr);
}

#[test]
fn a_second_run_comes_to_the_same() {
    for target in ["--reference", "--reference --fault cursor-ignored"] {
        let (once, twice) = (report(&format!("run {target}")).0, report(&format!("run {target}")).0);
        assert_eq!(verdicts(&once), verdicts(&twice), "{target}");
    }
}

/// Rules about responses that need no message over HTTP, where a status or the end of a stream is enough.
const NO_ANSWER_OVER_HTTP: [&str; 5] = [
    "cancellation-no-response",
    "cancellation-stops-processing",
    "jsonrpc-batch-empty-array-rejected",
    "resources-listen-result-shape",
    "subscriptions-close-result-tagged",
];

#[test]
fn every_transport_comes_to_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let config = directory.path().join("mcp-conform.toml");
    // The facts that `--reference` has built in.
    let mut facts = reference::server::facts();
    let mut apart =
        |name: &str| facts.as_object_mut().and_then(|facts| facts.remove(name)).unwrap_or_else(|| json!({}));
    let (tools, prompts) = (apart("tools"), apart("prompts"));
    let known = json!({ "facts": facts, "tools": tools, "prompts": prompts });
    std::fs::write(&config, toml::to_string(&known).unwrap()).unwrap();
    at_once(&["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"], |&revision| {
        let mut differences = Vec::new();
        let over = |target: &str| verdicts(&report(&format!("run {target} --revision {revision}")).0);
        let stdio = over("--reference");
        let mut others = vec![];
        // Each run changes the state of its server.
        let (for_http, for_sse) = (Reference::start(), Reference::start());
        // Revision 2024-11-05 has only HTTP+SSE, and 2026-07-28 does not have it any more.
        if revision != "2024-11-05" {
            others.push(format!("--http {}", for_http.http));
        }
        if revision != "2026-07-28" {
            others.push(format!("--sse {}", for_sse.sse));
        }
        for target in others {
            let other = over(&format!("{target} --config {}", config.display()));
            let shared: Vec<_> = stdio.keys().filter(|id| other.contains_key(*id)).collect();
            assert!(shared.len() > 50, "{target} in {revision}: only {} rules in common", shared.len());
            for id in
                shared.into_iter().filter(|id| stdio[*id] != other[*id] && !NO_ANSWER_OVER_HTTP.contains(&id.as_str()))
            {
                let (there, here) = (&stdio[id], &other[id]);
                differences.push(format!("{revision} {id}: {there:?} over stdio, {here:?} with {target}"));
            }
        }
        assert!(differences.is_empty(), "{}", differences.join("\n"));
    });
}
