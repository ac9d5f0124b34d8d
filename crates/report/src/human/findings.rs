//! Rules that need attention: failures, broken rules, warnings, advice.
//!
//! The same findings of a rule in several revisions are shown once, and so are rules that broke for the same reason.

use indexmap::{IndexMap, IndexSet};

use super::{
    evidence,
    header::revisions,
    page::{CYAN, FAINT, Ink, MAGENTA, Page, RED, STRONG, Span, TEXT, YELLOW, span},
    recap::{by_reason, only_named},
    reproduce::{by_hand, rerun},
};
use crate::{
    link::link,
    remarks::{Remark, remarks},
    tally::rules_with_status,
    text::{flow, plain, wrap_command},
};
use conform_model::{
    outcome::{
        Finding, RuleResult, RunReport, Status,
        excerpt::{columns, middle, sentence},
    },
    revision::Revision,
};

/// Findings of a rule that are shown in detail without --verbose.
pub const SHOWN: usize = 1;
/// In place of that number.
const ALL: usize = usize::MAX;
/// Maximum number of subjects and messages in a summary.
const NAMED: usize = 3;
/// Maximum number of lines of one message.
const MESSAGE_LINES: usize = 6;
/// `source  `
pub const LABEL: usize = 8;
/// Warnings that are shown in detail without --verbose; the others are named.
const TOLD: usize = 10;

pub fn findings(page: &mut Page, report: &RunReport) {
    let failed = alike(report, Status::Fail, if page.is_detailed() { ALL } else { SHOWN });
    for (rule, revisions) in &failed {
        headline(page, "FAIL", RED, &rule.id, revisions);
        detailed(page, rule);
    }
    for (rule, revisions) in &alike(report, Status::Flaky, if page.is_detailed() { ALL } else { SHOWN }) {
        headline(page, "FLAKY", YELLOW, &rule.id, revisions);
        detailed(page, rule);
    }
    broken(page, report);
    for (rule, revisions) in alike(report, Status::Known, ALL) {
        headline(page, "KNOWN", YELLOW, &rule.id, &revisions);
        page.hang(2, &[], TEXT, &flow(rule.reason.as_deref().unwrap_or_default()));
        if page.is_verbose() {
            summarise(page, 2, rule, false);
        }
    }
    let is_of_sdk = |told: &Told| !page.is_detailed() && told.0.is_in_sdk();
    let (of_sdk, warned): (Vec<Told>, Vec<Told>) = alike(report, Status::Warn, ALL).into_iter().partition(is_of_sdk);
    // Failures are more important: while there are any that the author can correct, warnings are only named.
    let only_sdk = failed.iter().all(|(rule, _)| rule.is_in_sdk());
    let told = if only_sdk || page.is_detailed() { told(page, &warned) } else { 0 };
    let (told, named) = warned.split_at(told);
    let shares_rerun = !page.is_detailed() && told.iter().filter(|(rule, _)| is_long(page, rule)).count() > 1;
    for (rule, revisions) in told {
        headline(page, "WARN", YELLOW, &rule.id, revisions);
        if page.is_detailed() {
            detailed(page, rule);
        } else {
            summarise(page, 2, rule, shares_rerun);
        }
    }
    if shares_rerun {
        rerun_any(page, told);
    }
    only_named(page, named, "");
    only_named(page, &of_sdk, " in its SDK");
    page.gap();
    for (rule, revisions) in alike(report, Status::Advice, ALL) {
        // A failing generated call can be reproduced, so it is shown even for advice.
        if page.is_detailed() || rule.findings.iter().any(|finding| finding.yaml.is_some()) {
            headline(page, "ADVICE", CYAN, &rule.id, &revisions);
            if page.is_detailed() {
                detailed(page, rule);
            } else {
                summarise(page, 2, rule, false);
            }
            continue;
        }
        advise(page, rule, &revisions);
    }
}

/// The number of rules that are shown in detail: many warnings would hide the failures.
fn told(page: &Page, rules: &[Told]) -> usize {
    // A line for one remaining rule would take as much room as the rule.
    if page.is_detailed() || rules.len() <= TOLD + 1 { rules.len() } else { TOLD }
}

/// A rule, and the revisions in which it has the same findings; no revisions if only one was tested.
pub type Told<'a> = (&'a RuleResult, Vec<Revision>);

/// The rules with this status. Only the first findings of each are compared: what is not shown does not set revisions
/// apart.
pub fn alike(report: &RunReport, status: Status, compared: usize) -> Vec<Told<'_>> {
    let mut groups: IndexMap<_, Told> = IndexMap::new();
    for rule in rules_with_status(report, status) {
        let compared = rule.findings.iter().take(compared);
        let places: Vec<_> = compared.map(|finding| (&finding.subject, &finding.message)).collect();
        let group = groups.entry((&rule.id, &rule.reason, places)).or_insert((rule, Vec::new()));
        if report.revisions.len() > 1 {
            group.1.push(rule.revision);
        }
    }
    groups.values_mut().for_each(|(_, revisions)| revisions.sort());
    groups.into_values().collect()
}

pub fn headline(page: &mut Page, word: &str, ink: Ink, id: &str, tested: &[Revision]) {
    page.gap();
    named(page, &format!("{word}  "), ink, id, tested);
}

pub fn named(page: &mut Page, word: &str, ink: Ink, id: &str, tested: &[Revision]) {
    let mut spans = vec![span(ink.bold(), word), span(STRONG, id)];
    if !tested.is_empty() {
        spans.push(span(FAINT, format!("  in {}", revisions(tested))));
    }
    page.line(0, &spans);
}

/// All findings of a rule, or the first one, and with --verbose how to repeat each by hand.
fn detailed(page: &mut Page, rule: &RuleResult) {
    tell(page, 2, rule);
    if page.is_verbose() {
        by_hand(page, 2, &rule.findings);
    }
}

/// All details of a rule.
pub fn explain(page: &mut Page, indent: usize, rule: &RuleResult) {
    tell(page, indent, rule);
    by_hand(page, indent, &rule.findings);
}

fn tell(page: &mut Page, indent: usize, rule: &RuleResult) {
    statement(page, indent, rule);
    if let Some(reason) = &rule.reason {
        page.hang(indent, &[], TEXT, &flow(reason));
    }
    let limit = if page.is_detailed() { rule.findings.len() } else { SHOWN };
    let (shown, hidden) = rule.findings.split_at(limit.min(rule.findings.len()));
    for finding in shown {
        if page.is_detailed() {
            page.gap();
        }
        subject(page, indent, finding);
        world(page, indent + 2, finding);
        evidence::values(page, indent + 2, finding);
        evidence::messages(page, indent + 2, finding);
        if finding.alike > 0 && page.is_detailed() {
            let places = if finding.alike == 1 { "place" } else { "places" };
            page.line(indent, &[span(FAINT, format!("and the same in {} more {places}", finding.alike))]);
        }
    }
    let alike = if page.is_detailed() { 0 } else { shown.iter().map(|finding| finding.alike).sum() };
    more(page, indent, hidden.iter(), alike, rule.further);
    if page.is_detailed() {
        page.gap();
    }
    footer(page, indent, rule);
    rerun(page, indent, shown.iter());
}

/// A rule in a few lines. A long command to test it again may be shared with other rules.
fn summarise(page: &mut Page, indent: usize, rule: &RuleResult, shares_rerun: bool) {
    statement(page, indent, rule);
    let groups: Vec<_> = by_message(&rule.findings).into_iter().collect();
    let (shown, hidden) = groups.split_at(NAMED.min(groups.len()));
    for (message, findings) in shown {
        let places = places(findings.iter().copied());
        let text = match subjects(findings) {
            subjects if subjects.is_empty() => plain(message).into_owned(),
            subjects => format!("{subjects}: {}", plain(message)),
        };
        let times = if places > findings.len() { format!(" ({places} places)") } else { String::new() };
        let room = (MESSAGE_LINES * (page.width() - indent - 2)).saturating_sub(times.len());
        page.hang(indent, &[span(FAINT, "- ")], TEXT, &format!("{}{times}", sentence(&text, room)));
    }
    if let Some(first) = rule.findings.first() {
        world(page, indent + 2, first);
        evidence::messages(page, indent + 2, first);
    }
    more(page, indent, hidden.iter().flat_map(|(_, findings)| findings.iter().copied()), 0, rule.further);
    footer(page, indent, rule);
    if !shares_rerun || !is_long(page, rule) {
        rerun(page, indent, rule.findings.iter().take(1));
    }
}

/// Whether the command that tests this rule alone takes several lines, of which only the last one differs between rules.
fn is_long(page: &Page, rule: &RuleResult) -> bool {
    let command = rule.findings.first().and_then(|finding| finding.reproduce.as_deref());
    command.is_some_and(|command| {
        !command.contains(" --with ") && wrap_command(command, page.width().saturating_sub(2 + LABEL)).len() > 1
    })
}

/// Once for all these rules, the command that would take several lines for each.
fn rerun_any(page: &mut Page, rules: &[Told]) {
    let Some((rule, _)) = rules.iter().find(|(rule, _)| is_long(page, rule)) else { return };
    let Some(command) = rule.findings.first().and_then(|finding| finding.reproduce.as_deref()) else { return };
    page.gap();
    page.line(0, &[span(FAINT, "To test one rule again:")]);
    for line in wrap_command(&command.replacen(&rule.id, "RULE", 1), page.width().saturating_sub(2)) {
        page.line(2, &[span(CYAN, line)]);
    }
}

/// Findings grouped by message.
fn by_message(findings: &[Finding]) -> IndexMap<&str, Vec<&Finding>> {
    let mut groups: IndexMap<_, Vec<_>> = IndexMap::new();
    for finding in findings {
        groups.entry(finding.message.as_str()).or_default().push(finding);
    }
    groups
}

/// The subjects of some findings, by name if there are few.
fn subjects(findings: &[&Finding]) -> String {
    let named: IndexSet<_> = findings.iter().map(|finding| finding.subject.as_str()).collect();
    let named: Vec<_> = named.into_iter().filter(|subject| !subject.is_empty()).map(plain).collect();
    match named.len() {
        0..=NAMED => named.join(", "),
        number => format!("{} and {} more", named[..NAMED - 1].join(", "), number - NAMED + 1),
    }
}

fn places<'a>(findings: impl Iterator<Item = &'a Finding>) -> usize {
    findings.map(|finding| 1 + finding.alike).sum()
}

fn advise(page: &mut Page, rule: &RuleResult, tested: &[Revision]) {
    named(page, "ADVICE  ", CYAN, &rule.id, tested);
    statement(page, 2, rule);
    let text = match rule.findings.as_slice() {
        [] => return,
        [first, ..] => first.line(),
    };
    let places = places(rule.findings.iter()) + rule.further;
    let more = if places > 1 { format!(", and {} more", places - 1) } else { String::new() };
    let room = (MESSAGE_LINES * (page.width() - 2)).saturating_sub(more.len());
    page.hang(2, &[span(FAINT, "- ")], TEXT, &format!("{}{more}", sentence(&plain(&text), room)));
}

/// Rules that could not be judged, by reason.
fn broken(page: &mut Page, report: &RunReport) {
    for (reason, rules) in by_reason(report, Status::Broken) {
        if let [(rule, revisions)] = rules.as_slice() {
            headline(page, "BROKEN", MAGENTA, &rule.id, revisions);
            explain(page, 2, rule);
            continue;
        }
        let mut revisions: Vec<Revision> = rules.iter().flat_map(|(_, revisions)| revisions.iter().copied()).collect();
        revisions.sort_unstable();
        revisions.dedup();
        headline(page, "BROKEN", MAGENTA, &format!("{} rules could not be judged", rules.len()), &revisions);
        page.hang(2, &[], TEXT, &flow(reason.unwrap_or("unknown reason")));
        let limit = if page.is_verbose() { rules.len() } else { TOLD };
        let mut names: Vec<_> = rules.iter().take(limit).map(|(rule, _)| plain(&rule.id)).collect();
        names.extend((rules.len() > limit).then(|| format!("and {} more (--verbose)", rules.len() - limit).into()));
        page.hang(2, &[], FAINT, &names.join(", "));
    }
}

fn statement(page: &mut Page, indent: usize, rule: &RuleResult) {
    page.hang(indent, &[], TEXT, &flow(&rule.statement));
}

fn subject(page: &mut Page, indent: usize, finding: &Finding) {
    let room = page.width() - indent;
    let message = sentence(&plain(&finding.message), MESSAGE_LINES * room).into_owned();
    let subject = plain(&finding.subject).into_owned();
    if !page.is_verbose() && !subject.is_empty() && columns(&subject) + 2 + columns(&message) <= room {
        page.line(indent, &[span(CYAN, subject), span(TEXT, ": "), span(TEXT, message)]);
        return;
    }
    if !subject.is_empty() {
        page.line(indent, &[span(CYAN, middle(&subject, room).into_owned())]);
    }
    page.hang(indent, &[], TEXT, &message);
}

/// The server that a client or gateway was started with, unless it was as usual.
fn world(page: &mut Page, indent: usize, finding: &Finding) {
    if let Some(world) = finding.world.as_ref().filter(|world| !world.is_usual()) {
        page.hang(indent, &[label("world")], TEXT, &flow(&world.described()));
    }
}

/// The number of findings that are not shown, here or in the whole report.
fn more<'a>(page: &mut Page, indent: usize, hidden: impl Iterator<Item = &'a Finding>, alike: usize, further: usize) {
    let others = hidden.count();
    let noun = if others == 1 { "other finding" } else { "other findings" };
    let hint = if page.is_excerpt() { "" } else { " (--findings)" };
    let parts = [
        (alike, format!("and the same in {alike} more {}", if alike == 1 { "place" } else { "places" })),
        (others, format!("and {others} {noun}{hint}")),
        (further, format!("and {further} more, only counted")),
    ];
    let parts: Vec<_> = parts.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text).collect();
    if !parts.is_empty() {
        page.hang(indent, &[], FAINT, &parts.join(", "));
    }
}

/// How to fix the rule and where it comes from. Sources can be copied, so they are never wrapped.
fn footer(page: &mut Page, indent: usize, rule: &RuleResult) {
    for Remark { label: word, text, is_code } in remarks(rule) {
        let (first, rest) = if is_code { text.split_once('\n').unwrap_or((&text, "")) } else { (text.as_str(), "") };
        page.hang(indent, &[label(word)], TEXT, &flow(first));
        for line in rest.lines() {
            let code = line.trim_start();
            page.hang(indent + LABEL + line.len() - code.len(), &[], TEXT, code);
        }
    }
    if !rule.source.is_empty() {
        match link(&rule.source, rule.revision) {
            Some(url) => page.link(indent, label("source"), &format!("{} ({})", rule.source, rule.revision), &url),
            None => page.hang(indent, &[label("source")], FAINT, &rule.source),
        }
    }
}

pub fn label(word: &str) -> Span<'static> {
    span(FAINT, format!("{word:<LABEL$}"))
}
