use serde_json::json;

use super::*;
use crate as report;
use conform_model::outcome::RunReport;

/// A report in which these rules of the suite `s` fail.
fn report(failing: &[&str], exit_code: u8) -> RunReport {
    let rule = |id: &&str| {
        json!({
            "id": id, "suite": "s", "revision": "2025-11-25", "level": "must", "status": "fail", "statement": "hold",
            "source": "server/tools#x", "checked": 1,
            "findings": [{ "subject": "</script><b>bold\u{1b}[2J", "message": "a | b\u{202e} `c`" }],
        })
    };
    let report = json!({
        "schema": 1, "tool": { "name": "mcp-conform", "version": "0" },
        "target": { "name": "./server", "transport": "stdio", "revisions": [] },
        "revisions": [], "started": 0, "ms": 1, "strict": false, "exit_code": exit_code,
        "totals": { "rules": 0, "by_status": {} }, "notes": ["<b>no\u{1b} answer"],
        "rules": failing.iter().map(rule).collect::<Vec<_>>(),
    });
    report::read(&report.to_string()).expect("a report")
}

fn folded<'a>(reports: impl IntoIterator<Item = &'a (String, RunReport)>) -> Matrix {
    let mut fold = Fold::default();
    for (name, report) in reports {
        fold.add(Row::of(name, Some(format!("{name}.json")), report), report);
    }
    fold.finish()
}

#[test]
fn the_worst_are_kept_whatever_the_order_and_however_many_there_are() {
    let kinds = [(&["a", "b"][..], 1), (&["a"], 1), (&[], 3), (&[], 0)];
    let reports: Vec<_> = (0..1600)
        .map(|number| (format!("server-{number:04}"), report(kinds[number % 4].0, kinds[number % 4].1)))
        .collect();
    let matrix = folded(&reports);
    assert_eq!(matrix.forms(), folded(reports.iter().rev()).forms());
    assert_eq!((matrix.servers, matrix.rows.len(), matrix.left_out, matrix.exit_code), (1600, 1000, 600, 1));
    assert_eq!((matrix.rows[0].name.as_str(), matrix.rows[400].name.as_str()), ("server-0000", "server-0001"));
    assert!(matrix.rows[800..].iter().all(|row| row.standing == Standing::Broken));
    let failures: Vec<_> = matrix.failures.iter().map(|common| (common.rule.as_str(), common.servers)).collect();
    assert_eq!(failures, [("a", 800), ("b", 400)]);
    assert_eq!(matrix.failures[0].named[..3], ["server-0000", "server-0001", "server-0004"]);
    assert_eq!(matrix.suites["s"].count(Status::Fail), 1200);
    assert_eq!(matrix.meaning(), "Of 1600 servers 800 fail, 400 could not be tested or died, 400 conform.");
}

#[test]
fn servers_are_counted_by_what_hosts_take() {
    let profile = |affected: serde_json::Value, by_status: serde_json::Value| {
        json!({
            "profile": "editor", "as_of": "2026-11-29", "host": "an editor", "tools": 2, "rules": [],
            "totals": { "rules": 3, "by_status": by_status }, "affected": affected,
        })
    };
    let affected = |lost: &str, tool: &str| json!([{ "tool": tool, "rule": "r", "lost": lost, "fails": true }]);
    let profiles = [
        profile(affected("server", ""), json!({ "fail": 1 })),
        profile(affected("tool", "a"), json!({ "fail": 1 })),
        profile(affected("argument", "a"), json!({ "fail": 1 })),
        profile(json!([]), json!({ "warn": 1 })),
        profile(json!([]), json!({ "pass": 3 })),
    ];
    let of = |(number, profile): (usize, serde_json::Value)| {
        let profiles = vec![serde_json::from_value(profile).expect("a profile")];
        (number.to_string(), RunReport { profiles, ..report(&[], 0) })
    };
    let matrix = folded(&profiles.into_iter().enumerate().map(of).collect::<Vec<_>>());
    let shown = summary(&matrix, &crate::Style::default());
    assert!(shown.lines().any(|line| line.split_whitespace().eq(["editor@2026-11-29", "1", "2", "1", "1"])), "{shown}");
    let [(_, html), (_, markdown), (_, json)] = matrix.forms();
    assert!(html.contains("editor@2026-11-29</th><td>1</td><td>2</td><td>1</td><td>1</td>"), "{html}");
    assert!(markdown.contains("2026-11-29 | 1 | 2 | 1 | 1 |"), "{markdown}");
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["hosts"]["editor@2026-11-29"]["some-tools"], 1);
    assert!(
        json["rows"]
            .as_array()
            .is_some_and(|rows| rows.iter().any(|row| row["taken"]["editor@2026-11-29"] == "nothing"))
    );
}

#[test]
fn a_rule_counts_once_on_each_server() {
    let mut twice = report(&["a", "a"], 1);
    twice.rules[1].revision = Revision::V2024_11_05;
    assert_eq!(folded(&[("x".to_owned(), twice)]).failures[0].servers, 1);
}

#[test]
fn what_is_worse_decides() {
    let exit = |codes: &[u8]| {
        let reports: Vec<_> = codes.iter().map(|code| ("x".to_owned(), report(&[], *code))).collect();
        folded(&reports).exit_code
    };
    assert_eq!([exit(&[0, 0]), exit(&[0, 4]), exit(&[4, 3]), exit(&[2, 0]), exit(&[3, 1])], [0, 4, 3, 3, 1]);
    let mut damaged = Fold::default();
    damaged.add_unreadable();
    assert_eq!(damaged.finish().exit_code, 3);
}

#[test]
fn text_of_a_server_and_names_stay_text() {
    let name = "<i>&\u{1b}[31m|`x".to_owned();
    let matrix = folded(&[(name.clone(), report(&["a"], 1)), (name, report(&[], 3))]);
    let [(_, html), (_, markdown), _] = matrix.forms();
    let style = crate::Style::default();
    let shown = [line(&matrix.rows[0], (1, 2), 10, &style), summary(&matrix, &style), html.clone(), markdown.clone()];
    for text in shown {
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
    }
    assert!(!html.contains("<b>bold") && !html.contains("<b>no") && !html.contains("<i>"), "{html}");
    assert!(html.contains("href=\"%3Ci%3E%26%1B%5B31m%7C%60x.json\""), "{html}");
    assert!(markdown.contains(r"`` <i>&\u001b[31m\|`x ``"), "{markdown}");
}
