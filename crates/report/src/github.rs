//! The report as workflow commands of GitHub Actions, which become annotations: one for each rule that needs attention.

use super::{
    human::{ended, meaning},
    link::link,
    tally::standing,
    text::{flow, plain},
};
use conform_model::outcome::{Finding, RuleResult, RunReport, Status};

pub(super) fn render(report: &RunReport) -> String {
    let commands = report.counting().filter_map(|rule| {
        let command = match standing(report, rule) {
            Status::Fail | Status::Broken => "error",
            Status::Flaky if report.is_flaky_failure(rule) => "error",
            Status::Warn | Status::Flaky => "warning",
            Status::Advice | Status::Known => "notice",
            _ => return None,
        };
        Some(format!("::{command} title={}::{}\n", property(&title(report, rule)), data(&text(rule))))
    });
    let mut all: String = commands.collect();
    for entry in &report.outdated_entries {
        let place = format!("file={},line={}", property(&entry.file), entry.line);
        all.push_str(&format!("::error {place},title=mcp-conform::{}\n", data(&plain(&entry.told()))));
    }
    // Reports of older versions have no entries.
    let outdated = if report.outdated_entries.is_empty() { report.outdated.as_slice() } else { &[] };
    for said in outdated.iter().chain(&ended(report)) {
        all.push_str(&format!("::error title=mcp-conform::{}\n", data(&plain(said))));
    }
    all.push_str(&plain(&meaning(report)));
    all.push('\n');
    all
}

fn title(report: &RunReport, rule: &RuleResult) -> String {
    let revision = if report.revisions.len() > 1 { format!(" ({})", rule.revision) } else { String::new() };
    format!("mcp-conform: {}{revision}", rule.id)
}

fn text(rule: &RuleResult) -> String {
    let mut lines = vec![rule.statement.clone()];
    lines.extend(rule.reason.clone());
    lines.extend(rule.findings.iter().map(Finding::line).take(3));
    let world = rule.findings.first().and_then(|finding| finding.world.as_ref()).filter(|world| !world.is_usual());
    lines.extend(world.map(|world| format!("world {}", world.described())));
    lines.extend(rule.part_of_sdk());
    lines.extend(rule.fixes().into_iter().map(|fix| fix.text));
    lines.extend(rule.given_level());
    lines.extend(link(&rule.source, rule.revision));
    lines.iter().map(|line| plain(&flow(line)).into_owned()).collect::<Vec<_>>().join("\n")
}

/// The text after `::`, in which a line break would end the command.
pub(super) fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

pub(super) fn property(text: &str) -> String {
    data(&plain(text)).replace(':', "%3A").replace(',', "%2C")
}
