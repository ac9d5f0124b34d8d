//! Reports for the tests.

use crate::*;

/// A run in which every rule passes.
pub fn clean(rules: usize) -> RunReport {
    let mut report = sample();
    let one = report.rules.iter().find(|rule| rule.status == Status::Pass).unwrap().clone();
    report.exit_code = 0;
    report.notes.clear();
    report.rules = (0..rules)
        .map(|number| RuleResult {
            id: format!("rule-{number}"),
            suite: format!("suite-{}", number / 5),
            status: if number < 5 { Status::NotApplicable } else { Status::Pass },
            ..one.clone()
        })
        .collect();
    report
}

/// The sample run in three revisions.
pub fn in_three_revisions() -> RunReport {
    let mut report = sample();
    report.revisions = vec![Revision::V2025_03_26, Revision::V2025_06_18, Revision::V2025_11_25];
    let rules = &report.rules;
    let in_each = report
        .revisions
        .iter()
        .flat_map(|revision| rules.iter().map(|rule| RuleResult { revision: *revision, ..rule.clone() }));
    report.rules = in_each.collect();
    report
}

/// The sample run, from a server that tries to harm the readers of the report.
pub fn hostile() -> RunReport {
    const EVIL: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}\0\u{9b}31m\u{202e}gnp.exe 🦀 שלום ]]> <b>&amp;'\"\nFAIL  forged\r";
    let long = |middle: &str| Value::from(format!("{}<{middle}>{}", "x".repeat(10_000), "y".repeat(10_000)));
    let finding = Finding {
        subject: EVIL.to_owned(),
        renamed_each_run: false,
        message: EVIL.to_owned(),
        expected: Some(json!({ "text": long("EXPECTED"), EVIL: EVIL })),
        received: Some(json!({ "text": long("RECEIVED"), EVIL: null })),
        pointer: Some("/result/text".to_owned()),
        frames: vec![1, 2],
        messages: vec![
            ShownFrame { frame: 1, from: Sender::Client, text: EVIL.to_owned(), headers: Vec::new() },
            ShownFrame {
                frame: 2,
                from: Sender::Server,
                text: json!({ "result": { "text": long("RECEIVED") } }).to_string(),
                headers: vec![EVIL.to_owned()],
            },
        ],
        alike: 7,
        sdk: Some(Box::new(mcp_conform::outcome::SdkDefect {
            sdk: mcp_conform::outcome::Sdk { package: EVIL.to_owned(), version: Some(EVIL.to_owned()) },
            defect: EVIL.to_owned(),
            from: None,
            until: None,
            workaround: Some(EVIL.to_owned()),
            upstream: None,
        })),
        world: Some(World {
            name: EVIL.to_owned(),
            about: EVIL.to_owned(),
            scenario: EVIL.to_owned(),
            actions: json!([EVIL]),
        }),
        reproduce: Some(format!("mcp-conform run {EVIL}")),
        by_hand: Some(format!("echo {EVIL}")),
        yaml: None,
    };
    let mut report = sample();
    report.target = TargetReport {
        subject: mcp_conform::outcome::Subject::Server,
        name: EVIL.to_owned(),
        transport: EVIL.to_owned(),
        server: Some(json!({ "name": EVIL, "version": [EVIL] })),
        ..report.target
    };
    report.notes.push(EVIL.to_owned());
    EVIL.clone_into(&mut report.timeline[0].what);
    report.timeline[0].body = Some(EVIL.to_owned());
    let rule = |status, level| RuleResult {
        subject: mcp_conform::outcome::Subject::Server,
        id: "\u{1b}[31mforged-rule".to_owned(),
        suite: EVIL.to_owned(),
        revision: Revision::NEWEST_LEGACY,
        level,
        status,
        statement: EVIL.to_owned(),
        source: EVIL.to_owned(),
        level_reason: Some(EVIL.to_owned()),
        evidence: None,
        derived: Some(EVIL.to_owned()),
        hint: Some(EVIL.to_owned()),
        checked: 2,
        findings: vec![finding.clone(); 5],
        further: 1,
        held: Vec::new(),
        reason: Some(EVIL.to_owned()),
        needs: None,
        observed: vec![Observation { what: EVIL.to_owned(), value: json!({ EVIL: EVIL }) }],
        also: vec![EVIL.to_owned()],
    };
    report.rules.extend([rule(Status::Fail, Level::Must), rule(Status::Broken, Level::Must)]);
    report
}
