//! `mcp-conform generate` with the reference server: without a fault there is no finding, and each fault is found and
//! shrunk.

use std::fs;

use serde_json::Value;

use crate::{Ran, at_once, ran, server::Reference};

/// The failed calls, in a file of this test.
fn generated(options: &[&str]) -> (Value, i32) {
    let directory = tempfile::tempdir().expect("a directory");
    let examples = directory.path().join("failing.jsonl").display().to_string();
    let all = [&["generate", "--report", "json", "--examples", &examples], options].concat();
    let Ran { code, stdout, stderr } = ran(all);
    let report = serde_json::from_str(&stdout).unwrap_or_else(|_| panic!("{options:?}: no report: {stdout}{stderr}"));
    (report, code)
}

/// The rules with findings.
fn found(report: &Value) -> Vec<&str> {
    let rules = report["rules"].as_array().expect("rules").iter();
    rules.filter(|rule| rule["findings"].is_array()).filter_map(|rule| rule["id"].as_str()).collect()
}

fn finding<'r>(report: &'r Value, rule: &str) -> &'r Value {
    let rules = report["rules"].as_array().expect("rules");
    &rules.iter().find(|result| result["id"] == rule).unwrap_or_else(|| panic!("no {rule}"))["findings"][0]
}

/// All tools except the slow one.
const QUICK: &[&str] = &[
    "--only",
    "echo",
    "--only",
    "add",
    "--only",
    "plot",
    "--only",
    "show_resources",
    "--only",
    "fail",
    "--only",
    "greet",
    "--only",
    "resources/list",
    "--only",
    "tools/list",
    "--only",
    "file:///src/{+path}",
];

#[test]
fn a_server_without_a_fault_has_no_finding() {
    for (seed, revision) in
        [("1", "2024-11-05"), ("2", "2025-06-18"), ("3", "2025-11-25"), ("4", "2026-07-28"), ("5", "auto")]
    {
        let (report, code) =
            generated(&[&["--reference", "--seed", seed, "--revision", revision, "--calls", "300"], QUICK].concat());
        assert_eq!((found(&report), code), (vec![], 0), "seed {seed}, {revision}: {report:#}");
        let checked = |rule: &str| {
            report["rules"]
                .as_array()
                .expect("rules")
                .iter()
                .any(|result| result["id"] == rule && result["status"] == "pass")
        };
        assert!(
            checked("generated-invalid-rejected") && checked("generated-answered") && checked("generated-result-shape")
        );
    }
}

/// The tools of the faults with notes.
const NOTES: &[&str] =
    &["--only", "create_note", "--only", "get_note", "--only", "update_note", "--only", "delete_note"];

/// The tools of the faults with cards.
const CARDS: &[&str] = &[
    "--only",
    "create_card",
    "--only",
    "get_card",
    "--only",
    "update_card",
    "--only",
    "delete_card",
    "--only",
    "list_cards",
    "--calls",
    "60",
];
/// A template, and the completion of its variable.
const SOURCES: &[&str] = &["--only", "file:///src/{+path}", "--only", "file:///src/{+path} path"];

const STEPS: &str = r#"{"tool":"slow","arguments":{"steps":300,"milliseconds":0},"kind":"valid","at":"/steps","inside":{"steps":299,"milliseconds":0}}"#;

/// Each fault with its rule, what the smallest call has in its arguments, and further options.
const FAULTS: [(&str, &str, &str, &[&str]); 49] = [
    ("call-hangs-on-brackets", "generated-answered", r#"{"text":"[["}"#, &["--only", "echo", "--timeout", "0.3"]),
    ("call-exits-on-nul", "generated-survived", r#"{"text":"\u0000"}"#, &["--only", "echo"]),
    (
        "call-deafens",
        "generated-responds-after",
        r#"{"text":"${"}"#,
        &["--only", "echo", "--revision", "2025-11-25", "--timeout", "0.3"],
    ),
    ("call-text-of-number", "generated-result-shape", r#"{"text":"#, &["--only", "echo"]),
    ("call-validates-by-other-schema", "generated-valid-accepted", r#"{"text":"aaaaaa"}"#, &["--only", "echo"]),
    ("call-result-rejected", "generated-result-accepted", r#"{"text":""}"#, &["--only", "echo"]),
    ("call-text-as-pattern", "generated-text-literal", r#""text":"[["#, &["--only", "echo"]),
    // The tool is slow, so it is called only with these arguments.
    ("call-off-by-one", "generated-bound-accepted", r#""steps":300"#, &["--replay", STEPS]),
    ("call-enum-ignored", "generated-invalid-rejected", r#"{"mark":""}"#, &["--only", "plot"]),
    ("call-sum-text-when-negative", "generated-output-schema", "", &["--only", "add"]),
    ("call-internal-error", "generated-not-internal", r#"{"a":0,"b":0}"#, &["--only", "add"]),
    ("call-traceback", "generated-no-stack-trace", r#"{"text":"__proto__"}"#, &["--only", "echo"]),
    ("call-tells-environment", "generated-no-environment", r#"{"text":"%s"}"#, &["--only", "echo"]),
    ("call-throws-on-empty", "generated-handled", r#"{"text":""}"#, &["--only", "echo"]),
    ("call-read-only-adds", "generated-read-only", "", &["--only", "echo"]),
    ("call-idempotent-adds", "generated-idempotent", "", &["--only", "echo"]),
    ("call-notes-same-id", "generated-created-differ", "", NOTES),
    ("call-notes-race", "generated-created-together", "", NOTES),
    ("call-mixes-results", "generated-concurrent", "", &["--only", "echo", "--calls", "10"]),
    ("call-ignores-concurrent", "generated-concurrent", "", &["--only", "echo", "--calls", "10", "--timeout", "3"]),
    (
        "call-cancelled-exits",
        "generated-cancelled",
        "",
        &["--only", "echo", "--calls", "10", "--revision", "2025-11-25"],
    ),
    (
        "call-completions-many",
        "generated-completion-at-most-100",
        r#"{"value":"[["}"#,
        &["--only", "greet name", "--revision", "2025-11-25"],
    ),
    ("call-completion-pattern", "generated-completion-answered", r#"{"value":"[["}"#, &["--only", "greet name"]),
    ("call-notes-update-lost", "generated-update-read", "", NOTES),
    ("call-notes-stale", "generated-deleted-gone", "", NOTES),
    ("call-notes-dropped", "generated-created-kept", "", NOTES),
    ("call-cursor-internal", "generated-cursor-rejected", r#"{"cursor":"%s"}"#, &["--only", "resources/list"]),
    ("call-tells-path", "generated-no-path", r#"{"text":"/etc/passwd"}"#, &["--only", "echo"]),
    ("call-says-undefined", "generated-no-unfilled", r#""arguments":{"#, &["--only", "plot"]),
    ("call-template-bytes", "generated-template-decoded", "", &["--only", "people://{name}"]),
    ("call-leaks-memory", "generated-memory", "", &["--calls", "1500", "--only", "echo"]),
    ("call-leaks-files", "generated-files", "", &["--calls", "1500", "--only", "echo"]),
    ("call-null-for-text", "generated-validated-alike", "", &["--only", "echo", "--only", "add"]),
    ("call-last-option-lost", "generated-valid-like-invalid", r#"{"mark":"cross"}"#, &["--only", "plot"]),
    ("call-error-unmarked", "generated-error-marked", r#"{"text":""}"#, &["--only", "echo"]),
    ("call-prompt-formats", "generated-text-handled", r#"{"name":"%"}"#, &["--only", "greet"]),
    ("call-prompt-without-name", "generated-prompt-required", r#""arguments":{}"#, &["--only", "greet"]),
    ("call-prompt-drops-braces", "generated-prompt-kept", "", &["--only", "greet"]),
    ("call-completion-has-more", "generated-completion-counts", "", &["--only", "greet name"]),
    ("call-template-stale", "generated-template-stale", "", &["--only", "people://{name}"]),
    ("call-template-empty", "generated-template-contents", "", &["--only", "people://{name}"]),
    ("call-template-offered", "generated-template-offered", "", SOURCES),
    ("call-cards-trimmed", "generated-created-read", "", CARDS),
    ("call-cards-read-changes", "generated-read-steady", "", CARDS),
    ("call-cards-list-short", "generated-listed", "", CARDS),
    ("call-cards-empty-ignored", "generated-update-changes", "", CARDS),
    ("call-cards-deletes-two", "generated-deleted-only", "", CARDS),
    ("call-cards-invalid-stored", "generated-failed-clean", "", CARDS),
    ("call-cards-pool", "generated-many", "", CARDS),
];

/// The faults that may break a second rule: some do so only after more calls than a busy machine has time for.
const ALSO: [(&str, &str); 10] = [
    ("call-completion-pattern", "generated-text-literal"),
    ("call-notes-same-id", "generated-created-together"),
    ("call-notes-same-id", "generated-created-read"),
    ("call-notes-same-id", "generated-deleted-only"),
    ("call-notes-same-id", "generated-many"),
    ("call-notes-race", "generated-created-read"),
    ("call-notes-dropped", "generated-created-read"),
    ("call-notes-update-lost", "generated-update-changes"),
    ("call-notes-stale", "generated-deleted-only"),
    ("call-tells-environment", "generated-no-path"),
];

#[test]
fn each_fault_is_found_alone_and_its_call_is_as_small_as_can_be() {
    at_once(&FAULTS, |(fault, rule, smallest, options)| {
        let (report, _) = generated(&[&["--reference", "--fault", fault, "--seed", "1"], *options].concat());
        assert!(found(&report).contains(rule), "{fault}: {:?}\n{:#}", found(&report), report["notes"]);
        let found_rules = found(&report);
        let mut others = found_rules.iter().filter(|other| *other != rule);
        let is_known = |other: &&str| ALSO.contains(&(fault, other));
        assert!(others.all(is_known), "{fault}: {found_rules:?}\n{:#}", report["notes"]);
        if smallest.is_empty() {
            return;
        }
        let again = finding(&report, rule)["reproduce"].as_str().expect("a command");
        // The command reproduces it alone.
        let words = shlex::split(again).expect("words of a shell");
        assert!(words.last().is_some_and(|call| call.contains(smallest)), "{fault}: {again}");
        let (replayed, _) = generated(&words[2..].iter().map(String::as_str).collect::<Vec<_>>());
        assert!(found(&replayed).contains(rule), "{again}: {:?}", found(&replayed));
    });
}

#[test]
fn a_transcript_is_judged_like_the_run_that_wrote_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let [transcript, suite, baseline] =
        ["run.jsonl", "own.yaml", "known.toml"].map(|name| directory.path().join(name).display().to_string());
    let own = "suite: own.generated\nabout: Own.\n\nrules:\n  - id: own-short\n    must: A text MUST be short\n    source: schema\n    \
               every: { call: \"$calls[?@.end == 'result' && @.what == 'tool']\" }\n    expect:\n      $call.result.content: { length: 0 }\n";
    fs::write(&suite, own).expect("a suite");
    for options in [
        &["--fault", "call-throws-on-empty", "--only", "echo"][..],
        &["--fault", "call-off-by-one", "--replay", STEPS],
        &["--fault", "call-tells-environment", "--only", "echo", "--strict", "--filter", "generated-no-*"],
        &["--fault", "call-template-bytes", "--only", "people://{name}", "--revision", "2025-06-18"],
        &[&["--fault", "call-notes-same-id"], NOTES].concat(),
        &["--calls", "700", "--fault", "call-leaks-files", "--only", "echo", "--write-baseline", &baseline],
        &["--fault", "call-validates-by-other-schema", "--only", "echo", "--only", "resources/list"],
    ] {
        let more = ["--reference", "--seed", "1", "--calls", "100", "--transcript", &transcript];
        let more = if options.contains(&"--calls") { [&more[..3], &more[5..]].concat() } else { more.to_vec() };
        let (report, code) = generated(&[more.as_slice(), options].concat());
        assert!(!found(&report).is_empty(), "{options:?}: {report:#}");
        let again = ran(["judge", "--report", "json", &transcript]);
        let judged: Value = serde_json::from_str(&again.stdout).expect("a report");
        assert_eq!((&judged, again.code), (&report, code), "{options:?}");
        // A rule that the run did not know fails for the calls as they were made.
        let again = ran(["judge", "--report", "json", "--suite", &suite, "--filter", "own-short", &transcript]);
        let judged: Value = serde_json::from_str(&again.stdout).expect("a report");
        let has_tools = !options.contains(&"people://{name}");
        assert_eq!(found(&judged), if has_tools { vec!["own-short"] } else { vec![] }, "{options:?}: {judged:#}");
    }
}

#[test]
fn sessions_are_told_apart_over_http() {
    let server = Reference::with(&["--fault", "call-remembers-last"]);
    let (report, _) = generated(&["--http", &server.http, "--seed", "1", "--only", "echo"]);
    assert!(found(&report).contains(&"generated-sessions"), "{:?}", found(&report));
}

#[test]
fn calls_that_failed_are_made_first_the_next_time() {
    let directory = tempfile::tempdir().expect("a directory");
    let examples = directory.path().join("kept/failing.jsonl");
    let path = examples.display().to_string();
    let options = [
        "generate",
        "--reference",
        "--fault",
        "call-throws-on-empty",
        "--only",
        "echo",
        "--report",
        "json",
        "--examples",
        &path,
    ];
    ran(options.iter().copied().chain(["--seed", "1"]));
    let kept = fs::read_to_string(&examples).expect("the calls that failed");
    assert!(kept.contains(r#"{"tool":"echo","arguments":{"text":""},"kind""#), "{kept}");
    let again = ran(options.iter().copied().chain(["--seed", "2", "--calls", "1"]));
    assert!(
        again.stdout.contains("generated-handled") && again.stdout.contains("reading 'length'"),
        "{}",
        again.stdout
    );
    // If nothing fails any more, the file is empty.
    ran(["generate", "--reference", "--only", "echo", "--examples", &path]);
}

#[test]
fn tools_that_may_change_something_are_called_only_if_allowed() {
    let tools = |options: &[&str]| -> Vec<String> {
        let (report, _) = generated(&[&["--reference", "--seed", "1", "--calls", "60"], options].concat());
        let counts = report["calls"].as_array().expect("counts").iter().filter(|counts| counts["what"] == "tool");
        counts.filter_map(|counts| counts["name"].as_str().map(str::to_owned)).collect()
    };
    let usual = tools(&[]);
    assert!(usual.contains(&"echo".to_owned()) && !usual.contains(&"touch".to_owned()), "{usual:?}");
    assert!(tools(&["--call-tools"]).contains(&"touch".to_owned()));
    assert_eq!(tools(&["--only", "touch"]), ["touch"]);
}

#[test]
fn what_is_wrong_is_told_before_anything_is_sent() {
    for (options, said) in [
        (&["--replay", "echo"][..], "--replay does not take this: it is not JSON"),
        (&["--replay", r#"{"tool":"echo"}"#], "`arguments` has to be an object"),
        (&["--calls", "0"], "--calls needs at least 1"),
        (&["--revision", "all"], "`generate` tests one revision"),
        (&["--filter", "no-such-rule"], "matches no suite, rule or level"),
    ] {
        let Ran { code, stderr, .. } = ran([&["generate", "--reference"], options].concat());
        assert!(code == 2 && stderr.contains(said), "{options:?}: {code} {stderr}");
    }
    let Ran { code, stderr, .. } = ran(["generate", "--stdio", "/no/such/program"]);
    assert!(code == 3 && stderr.contains("/no/such/program"), "{code} {stderr}");
}

#[cfg(unix)]
#[test]
fn the_last_line_names_the_file_with_the_calls_that_failed() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("calls.jsonl").display().to_string();
    let script =
        r#"exec "$0" generate --reference --fault call-enum-ignored --only plot --calls 30 --examples "$1" 2>&1"#;
    let done = assert_cmd::Command::new("sh").args(["-c", script, crate::PROGRAM, &file]).output().expect("a shell");
    let shown = String::from_utf8_lossy(&done.stdout);
    let last = format!("wrote {file}: calls that failed, which the next run repeats");
    assert_eq!(shown.lines().last(), Some(last.as_str()), "{shown}");
}
