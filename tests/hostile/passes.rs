//! A rule passes only with evidence: servers that send little, or more than is read, do not pass rules without
//! evidence.

use std::{env, fs, path::Path};

use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::run::{Met, start};

/// Rules that a server without tools, resources and prompts passes, each about something that it did send.
const BARE: &str = "tests/hostile/bare.txt";

pub fn all() -> Vec<Trial> {
    let mut trials = vec![
        Trial::test("passes::of_a_server_without_capabilities", bare),
        Trial::test("passes::none_for_fields_that_never_came", absent_fields),
        Trial::test("passes::none_for_a_list_without_end", || endless("grows")),
    ];
    for (how, why) in [
        ("deep", "nested deeper than 96 levels"),
        ("digits", "a number out of range"),
        ("many-values", "more than 250000 values, not read further"),
        ("long-line", "longer than 2000000 bytes, not read further"),
    ] {
        trials.push(Trial::test(format!("passes::none_by_a_response_not_read::{how}"), move || unread(how, why)));
    }
    trials
}

fn met(how: &str, more: &[&str]) -> Met {
    let me = env::current_exe().expect("a program knows where it is").display().to_string();
    start(&[more, &["--limit", "message_bytes=2000000", "--", &me, "behave", how]].concat()).meet()
}

fn rules(report: &Value) -> impl Iterator<Item = &Value> {
    report["rules"].as_array().expect("rules").iter()
}

fn status<'r>(report: &'r Value, id: &str) -> (&'r str, &'r str) {
    let rule = rules(report).find(|rule| rule["id"] == id).expect(id);
    (rule["status"].as_str().expect("a status"), rule["reason"].as_str().unwrap_or_default())
}

#[expect(clippy::needless_pass_by_value, reason = "the calls read better")]
fn same<T: PartialEq + std::fmt::Debug>(found: T, expected: T, said: &str) -> Result<(), Failed> {
    if found == expected { Ok(()) } else { Err(format!("{found:?}, expected {expected:?}\n{said}").into()) }
}

fn bare() -> Result<(), Failed> {
    let met = met("bare", &[]);
    let report = met.report.ok_or(met.said)?;
    let passed = rules(&report).filter(|rule| rule["status"] == "pass").filter_map(|rule| rule["id"].as_str());
    let passed: String = passed.map(|id| format!("{id}\n")).collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(BARE);
    if env::var_os("MCP_CONFORM_BLESS").is_some() {
        fs::write(&path, &passed)?;
    }
    let expected = fs::read_to_string(&path)?;
    let odd = |these: &str, those: &str| -> Vec<String> {
        these.lines().filter(|id| !those.lines().any(|other| other == *id)).map(str::to_owned).collect()
    };
    same((odd(&passed, &expected), odd(&expected, &passed)), (vec![], vec![]), BARE)
}

fn absent_fields() -> Result<(), Failed> {
    let met = met("good", &[]);
    let report = met.report.ok_or(met.said)?;
    for (id, reason) in [
        ("pagination-next-cursor-string", "received no `nextCursor`"),
        ("tools-input-schema-members", "received no `inputSchema.properties` or `inputSchema.required`"),
    ] {
        let (status, said) = status(&report, id);
        same((status, said.starts_with(reason)), ("not-exercised", true), said)?;
    }
    Ok(())
}

fn endless(how: &str) -> Result<(), Failed> {
    let met = met(how, &[]);
    let report = met.report.ok_or_else(|| met.said.clone())?;
    let (found, reason) = status(&report, "pagination-terminates");
    same((found, reason), ("not-exercised", "the page limit was reached before the end"), &met.said)?;
    let line = met.said.lines().take(5).find(|line| line.starts_with("limit  tools/list: pages after the first 100"));
    same(line.is_some(), true, &met.said)
}

fn unread(how: &str, why: &str) -> Result<(), Failed> {
    let directory = tempfile::tempdir()?;
    let transcript = directory.path().join("run.jsonl").display().to_string();
    let met = met(how, &["--transcript", &transcript]);
    same(met.code, Some(3), &met.said)?;
    let reason = format!("a response was not read because of a limit: {why}");
    let report = met.report.ok_or_else(|| met.said.clone())?;
    for id in ["schema-result-shape", "pagination-terminates", "tools-tool-has-name"] {
        same(status(&report, id), ("broken", &reason), &met.said)?;
    }
    // Rules that do not depend on that response are judged.
    same(status(&report, "resources-list-item-name").0, "pass", &met.said)?;
    let said = met.said.split_whitespace().collect::<Vec<_>>().join(" ");
    same(said.contains(&format!("exit 3 Some rules could not be judged: {reason}.")), true, &met.said)?;
    same(
        met.said.lines().take(5).any(|line| line.starts_with("limit  ") && line.contains(" not read: ")),
        true,
        &met.said,
    )?;

    let judged = std::process::Command::new(env!("CARGO_BIN_EXE_mcp-conform"))
        .args(["judge", &transcript, "--report", "json"])
        .output()?;
    let again: Value = serde_json::from_slice(&judged.stdout)?;
    same(judged.status.code(), Some(3), &met.said)?;
    same(&again["limits"], &report["limits"], &met.said)?;
    let statuses = |report: &Value| -> Vec<Value> { rules(report).map(|rule| rule["status"].clone()).collect() };
    same(statuses(&again), statuses(&report), &met.said)
}
