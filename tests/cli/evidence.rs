//! A report shows findings correctly: cause, number, messages and source.

use std::fs;

use mcp_conform::{outcome::Level, run::built_in};
use serde_json::Value;

use crate::{PROGRAM, ran, report, server::Reference, typed};

fn rule<'r>(report: &'r Value, id: &str) -> &'r Value {
    report["rules"].as_array().expect("rules").iter().find(|rule| rule["id"] == id).unwrap_or_else(|| panic!("{id}"))
}

/// A server whose declared list never works conforms by the letter, but the verdict says what was not tested.
#[test]
fn a_list_that_never_works_is_in_the_verdict() {
    let line = "run --reference --fault tools-list-unknown --revision 2025-11-25";
    let shown = typed(line).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("tools: the list fails · resources: "), "{shown}");
    assert!(shown.contains("o tool could be listed, so "), "{shown}");
    let (told, _) = report(line);
    assert_eq!((&told["served"][0]["offer"], &told["served"][0]["list"]), (&"tools".into(), &"fails".into()));
    assert!(told["served"][0]["untested"].as_u64().is_some_and(|untested| untested > 0), "{}", told["served"]);
}

/// Two rules with the same message about two responses: when one is fixed, the other still fails.
#[test]
fn the_same_words_are_not_the_same_cause() {
    let directory = tempfile::tempdir().unwrap();
    let suite = |name: &str, after: &str| {
        format!(
            "suite: own.{name}\nabout: Lists have what we need.\ngather:\n  - call: resources/list\n    save: list\nrules:\n  \
             - id: own-{name}\n    must: have what we need\n    source: HOUSE-12\n    expect:\n      \
             $list.result.ours: {{ present: true }}\n{after}"
        )
    };
    fs::write(directory.path().join("first.yaml"), suite("first", "")).unwrap();
    fs::write(directory.path().join("second.yaml"), suite("second", "    after: [own-first]\n")).unwrap();
    let line = format!("run --reference --suite {} --filter own.*", directory.path().display());
    let (told, code) = report(&line);
    assert_eq!(code, 1, "{told:#}");
    for id in ["own-first", "own-second"] {
        assert_eq!(rule(&told, id)["status"], "fail", "{told:#}");
    }
    assert_eq!(rule(&told, "own-first")["also"], Value::Null);

    // A source that is not a page of the specification is shown unchanged.
    for form in ["human", "markdown", "html"] {
        let shown = typed(&format!("{line} --report {form}")).stdout;
        assert!(shown.contains("HOUSE-12") && !shown.contains("/HOUSE-12"), "{form}: {shown}");
    }
}

/// Different messages are all shown, however many there are of one kind.
#[cfg(unix)]
#[test]
fn only_equal_findings_are_counted_instead_of_shown() {
    let server =
        format!("for n in 1 2 3; do echo \"starting 12:00:0$n\"; done; echo 'listening'; exec '{PROGRAM}' serve");
    let ran = ran(["run", "--filter", "base.framing", "--report", "json", "--", "sh", "-c", &server]);
    let told: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}{}", ran.stdout, ran.stderr));
    let results = told["rules"].as_array().unwrap().iter();
    let junk = results.flat_map(|rule| rule["findings"].as_array().into_iter().flatten());
    let shown = |text: &str| {
        let of_line = |finding: &&Value| {
            finding["messages"].as_array().is_some_and(|messages| {
                messages.last().is_some_and(|message| message["text"].as_str().unwrap_or_default().starts_with(text))
            })
        };
        junk.clone().find(of_line).unwrap_or_else(|| panic!("{text} is not shown: {told:#}"))["alike"].clone()
    };
    assert_eq!((shown("starting"), shown("listening")), (Value::from(2), Value::Null));
}

/// The subject of a finding over HTTP may be only in the head of a request or response.
#[test]
fn findings_over_http_show_methods_statuses_and_headers() {
    let server = Reference::with(&["--fault", "origin-ignored"]);
    let line = format!("run --http {} --revision 2025-11-25 --filter http.*origin* --filter *origin*", server.http);
    for form in ["human", "json", "markdown", "html"] {
        let shown = typed(&format!("{line} --report {form}")).stdout;
        for part in [format!("POST {}", server.http), "Origin: http".to_owned(), "HTTP 200".to_owned()] {
            assert!(shown.contains(&part), "{form} lacks {part}: {shown}");
        }
    }
}

#[test]
fn a_timeline_that_is_cut_off_says_so() {
    let whole = typed("run --reference --filter base.ping --report html").stdout;
    assert!(whole.contains("<summary>all "), "{whole}");
    let cut = typed("run --reference --report html").stdout;
    let summary = cut.lines().find(|line| line.contains("<summary>the first 1000 of ")).expect("it says so");
    assert!(cut.contains("more messages are not in this report"), "{summary}");
}

/// Options that change the client's requests are needed to reproduce a finding.
#[test]
fn rerun_has_the_options_that_matter() {
    let line =
        "run --reference --fault list-item-without-name --filter resources-list-item-name --client none --timeout 3";
    let (told, _) = report(line);
    let again = rule(&told, "resources-list-item-name")["findings"][0]["reproduce"].as_str().unwrap_or_default();
    assert!(again.contains(" --client none ") && again.contains(" --timeout 3 "), "{again}");
}

#[test]
fn explain_shows_a_violation_of_each_rule_that_can_fail() {
    let suites = built_in().expect("the built-in suites load");
    // `explain` runs tests, and only `generate` makes the calls that those rules judge.
    let run = suites.iter().filter(|suite| !suite.id.starts_with("generated."));
    let rules = run.flat_map(|suite| &suite.rules).filter(|rule| rule.level != Level::May);
    for rule in rules.step_by(100) {
        let explained = typed(&format!("explain {}", rule.id)).stdout;
        assert!(explained.contains("\nViolation by a server with this fault: "), "{explained}");
    }
}

/// The example of a correct response is one for which the rule passed.
#[test]
fn explain_shows_what_the_rule_holds_for() {
    for (rule, right) in [
        ("resources-security-validate-uris", "\"error\""),
        ("resources-read-decoded-once", "\"error\""),
        ("resources-read-name-header-decoded", "\"result\""),
        ("mrtr-retry-self-contained", "\"result\""),
        ("streamable-http-header-mismatch-status-and-code", "HTTP 400"),
        ("streamable-http-version-header-mismatch", "HTTP 400"),
    ] {
        let explained = typed(&format!("explain {rule}")).stdout;
        let (wrong, example) = explained.split_once("Correct messages:").unwrap_or_else(|| panic!("{explained}"));
        assert!(example.contains(right), "{rule}: {example}");
        for line in example.lines().filter_map(|line| line.trim().strip_prefix("server  {")) {
            assert!(!wrong.contains(line), "{rule} repeats what is wrong: {line}");
        }
    }
}
