//! An unresponsive server costs a few timeouts in each suite, however many requests the suites contain.

use std::{collections::HashMap, fs};

use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::run::{Met, start};

/// Requests of a kind that one suite sends to a server that responds to none of them.
const ENOUGH: usize = 2;

pub fn all() -> Vec<Trial> {
    vec![Trial::test("given_up::subscriptions", subscriptions), Trial::test("given_up::a_server_that_hangs", hangs)]
}

/// Counts by suite and by a selected part of the requests.
type Counts = HashMap<(String, String), usize>;

/// Runs against a server, and counts the unanswered requests by suite and by a selected part of them.
fn unanswered(arguments: &[&str], of: impl Fn(&Value) -> Option<String>) -> Result<(Met, Counts), Failed> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("transcript").display().to_string();
    let met = start(&[&["--timeout", "1", "--transcript", &path], arguments].concat()).meet();
    let mut open = HashMap::new();
    for line in fs::read_to_string(&path)?.lines() {
        let line: Value = serde_json::from_str(line)?;
        let frame = &line["frame"];
        let message = &frame["message"];
        let id = (frame["link"].as_u64(), message["id"].to_string());
        if frame["from"] == "server" {
            open.remove(&id);
        } else if let (Some(by), Some(chosen), false) = (frame["by"].as_str(), of(message), message["id"].is_null()) {
            open.insert(id, (by.to_owned(), chosen));
        }
    }
    let mut counts = Counts::new();
    for key in open.into_values() {
        *counts.entry(key).or_default() += 1;
    }
    Ok((met, counts))
}

fn expect(met: &Met, counts: &Counts, says: &str) -> Result<(), Failed> {
    let said = met.said.split_whitespace().collect::<Vec<_>>().join(" ");
    let most = counts.values().max().copied().unwrap_or_default();
    if most == ENOUGH && said.contains(says) {
        return Ok(());
    }
    Err(format!("{counts:?}, and {says:?} is to be in\n{}", met.said).into())
}

fn status(met: &Met, id: &str) -> Option<(String, String)> {
    let rules = met.report.as_ref()?["rules"].as_array()?;
    let rule = rules.iter().find(|rule| rule["id"] == id)?;
    Some((rule["status"].as_str()?.to_owned(), rule["reason"].as_str().unwrap_or_default().to_owned()))
}

/// The rule about the acknowledgement still fails, if its suite runs early enough.
fn subscriptions() -> Result<(), Failed> {
    let fault = ["--reference", "--fault", "listen-never-acknowledged", "--revision", "2026-07-28"];
    let listens = |message: &Value| {
        let asks = message["method"] == "subscriptions/listen" && message["params"]["notifications"].is_object();
        asks.then(String::new)
    };
    let (met, counts) = unanswered(&fault, listens)?;
    expect(&met, &counts, "had no response, so others of this kind were skipped in")?;
    match status(&met, "subscriptions-acknowledged-first") {
        Some((status, _)) if status == "fail" => Ok(()),
        other => Err(format!("{other:?}").into()),
    }
}

/// In one suite a server is restarted once after it hung.
fn hangs() -> Result<(), Failed> {
    let fault =
        ["--reference", "--fault", "hangs-after-bad-json", "--revision", "2026-07-28", "--filter", "base.bad-input"];
    let probes = |message: &Value| (message["id"] != "discover").then(|| message["method"].to_string());
    let (met, mut counts) = unanswered(&fault, probes)?;
    counts.retain(|(by, _), _| by == "probe");
    expect(&met, &counts, "the server stopped responding")
}
