//! The report as SARIF 2.1.0, for tools that collect the results of analyzers.
//!
//! A server is not a source file, so the logical location of a result is its subject. Tools that show results next to
//! code, such as GitHub, require a file: it is the configuration that names the server.

use jiff::Timestamp;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::{
    human::ended,
    link::link,
    tally::standing,
    text::{flow, plain},
};
use conform_model::outcome::{Finding, Level, RuleResult, RunReport, Status};

/// The file name if no configuration was read.
const CONFIG: &str = "mcp-conform.toml";
/// Characters that need no encoding in a relative URI reference.
const URI: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'/');
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

pub(super) fn render(report: &RunReport) -> String {
    let mut ids: Vec<&str> = Vec::new();
    let mut rules = Vec::new();
    let mut results = Vec::new();
    for rule in report.counting() {
        let level = match standing(report, rule) {
            Status::Fail | Status::Known | Status::Broken => "error",
            Status::Flaky if report.is_flaky_failure(rule) => "error",
            Status::Flaky | Status::Warn => "warning",
            Status::Advice => "note",
            _ => continue,
        };
        let index = ids.iter().position(|id| *id == rule.id).unwrap_or_else(|| {
            ids.push(&rule.id);
            rules.push(descriptor(rule));
            ids.len() - 1
        });
        if rule.findings.is_empty() {
            results.push(result(report, rule, index, level, None));
        }
        results.extend(rule.findings.iter().map(|finding| result(report, rule, index, level, Some(finding))));
    }
    let started = i64::try_from(report.started).ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
    let mut invocation = json!({ "executionSuccessful": report.exit_code < 2, "exitCode": report.exit_code });
    if let Some(started) = started {
        invocation["startTimeUtc"] = json!(started.to_string());
    }
    if let Some(why) = ended(report) {
        invocation["toolExecutionNotifications"] = json!([{ "level": "error", "message": { "text": plain(&why) } }]);
    }
    if !report.outdated.is_empty() {
        let told = report.outdated.iter().map(|entry| json!({ "level": "error", "message": { "text": plain(entry) } }));
        invocation["toolConfigurationNotifications"] = told.collect();
    }
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": plain(&report.tool.name),
                "version": plain(&report.tool.version),
                "rules": rules,
            } },
            "invocations": [invocation],
            "properties": { "target": plain(&report.target.name), "transport": plain(&report.target.transport) },
            "results": results,
        }],
    });
    format!("{log:#}\n")
}

fn descriptor(rule: &RuleResult) -> Value {
    let level = match rule.level {
        Level::Must | Level::Fail => "error",
        Level::Should | Level::Warn => "warning",
        Level::Advice | Level::May => "note",
    };
    let mut descriptor = json!({
        "id": plain(&rule.id),
        "shortDescription": { "text": plain(&flow(&rule.statement)) },
        "defaultConfiguration": { "level": level },
        "properties": { "suite": plain(&rule.suite) },
    });
    let fixes: Vec<String> = rule.fixes().iter().map(|fix| plain(&flow(&fix.text)).into_owned()).collect();
    if !fixes.is_empty() {
        descriptor["help"] = json!({ "text": fixes.join("\n") });
    }
    if let Some(link) = link(&rule.source, rule.revision) {
        descriptor["helpUri"] = json!(link);
    }
    descriptor
}

/// The file and the subject of a result.
fn location(report: &RunReport, subject: Option<&str>) -> Value {
    let config = report.target.config.as_deref().unwrap_or(CONFIG);
    let uri = utf8_percent_encode(config, URI).to_string();
    let mut location = json!({
        "physicalLocation": { "artifactLocation": { "uri": uri }, "region": { "startLine": 1 } },
    });
    if let Some(subject) = subject {
        location["logicalLocations"] = json!([{ "fullyQualifiedName": subject }]);
    }
    location
}

fn result(report: &RunReport, rule: &RuleResult, index: usize, level: &str, finding: Option<&Finding>) -> Value {
    let reason = || rule.reason.clone().unwrap_or_else(|| rule.statement.clone());
    let of_sdk =
        |finding: &Finding| finding.sdk.iter().map(|defect| format!(" ({})", defect.told())).collect::<String>();
    let message = finding.map_or_else(reason, |finding| finding.message.clone() + &of_sdk(finding));
    let subject = finding.map(|finding| plain(&finding.subject)).filter(|subject| !subject.is_empty());
    let mut result = json!({
        "ruleId": plain(&rule.id),
        "ruleIndex": index,
        "level": level,
        "message": { "text": plain(&message) },
        "locations": [location(report, subject.as_deref())],
        "properties": { "revision": rule.revision },
        "partialFingerprints": {
            "ruleAndSubject/v1": format!("{} {} {}", plain(&rule.id), rule.revision, subject.as_deref().unwrap_or_default()),
        },
    });
    if rule.status == Status::Known {
        let why = rule.reason.as_deref().unwrap_or_default();
        result["suppressions"] = json!([{ "kind": "external", "justification": plain(why) }]);
    }
    if rule.status == Status::Flaky {
        result["properties"]["flaky"] = json!(plain(rule.reason.as_deref().unwrap_or_default()));
    }
    if let Some(world) = finding.and_then(|finding| finding.world.as_ref()) {
        result["properties"]["world"] = json!(plain(&world.described()));
    }
    if let Some(again) = finding.and_then(|finding| finding.reproduce.as_ref()) {
        result["properties"]["reproduce"] = json!(plain(again));
    }
    result
}
