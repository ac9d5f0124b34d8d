//! The counts by suite, the rules that were not judged with reasons, and optionally a line for each rule.

use std::collections::HashSet;

use indexmap::{IndexMap, IndexSet};

use super::{
    page::{CYAN, FAINT, GREEN, Ink, MAGENTA, Page, RED, STRONG, TEXT, YELLOW, span},
    totals::duration,
};
use crate::{
    tally::{Tally, has_nothing, standing},
    text::{flow, plain},
};
use conform_model::outcome::{
    Needs, Observation, RuleResult, RunReport, SlowSuite, Status, Subject,
    excerpt::{columns, middle},
};

/// One column per status; a heading may take two lines.
const COLUMNS: [(Status, [&str; 2], Ink); 9] = [
    (Status::Pass, ["", "passed"], GREEN),
    (Status::Fail, ["", "failed"], RED),
    (Status::Flaky, ["", "flaky"], YELLOW),
    (Status::Known, ["known", "to fail"], YELLOW),
    (Status::Broken, ["", "broken"], MAGENTA),
    (Status::Warn, ["", "warned"], YELLOW),
    (Status::Advice, ["", "advice"], CYAN),
    (Status::NotExercised, ["not", "exercised"], TEXT),
    (Status::NotApplicable, ["not", "applicable"], FAINT),
];

/// Minimum width of a name; if there is less room, the last counts move below the table.
const NAME: usize = 12;

/// Counts by suite and the slowest suites with --verbose, and counts by revision if there are several.
pub fn suites(page: &mut Page, report: &RunReport) {
    if page.is_verbose() {
        slowest(page, report);
        page.gap();
        table(page, "suite", &counted(report, |rule| &rule.suite).into_iter().collect::<Vec<_>>());
    }
    if report.target.subject == Subject::Both {
        page.gap();
        let by_side = counted(report, |rule| rule.subject.noun());
        table(page, "side", &by_side.into_iter().collect::<Vec<_>>());
    }
    if report.revisions.len() > 1 {
        page.gap();
        let by_revision = counted(report, |rule| rule.revision.as_str());
        table(page, "revision", &by_revision.into_iter().collect::<Vec<_>>());
    }
}

/// Maximum number of slow suites that are named.
const SLOWEST: usize = 5;

fn slowest(page: &mut Page, report: &RunReport) {
    let of = |slow: &SlowSuite| format!("{} {} ({})", slow.suite, duration(slow.ms), slow.revision);
    let named: Vec<String> = report.slowest.iter().take(SLOWEST).map(of).collect();
    if !named.is_empty() {
        page.gap();
        page.hang(0, &[span(FAINT, "slow  ")], TEXT, &named.join(", "));
    }
}

fn counted<'a>(report: &'a RunReport, key: impl Fn(&'a RuleResult) -> &'a str) -> IndexMap<&'a str, Tally> {
    let mut rules: IndexMap<_, Vec<_>> = IndexMap::new();
    for rule in &report.rules {
        rules.entry(key(rule)).or_default().push(rule);
    }
    rules.into_iter().map(|(key, rules)| (key, Tally::of_rules(report, rules))).collect()
}

pub fn table(page: &mut Page, title: &str, rows: &[(&str, Tally)]) {
    let mut shown: Vec<_> = COLUMNS
        .iter()
        .filter(|(status, ..)| rows.iter().any(|(_, tally)| tally.count(*status) > 0))
        .map(|(status, heading, ink)| (*status, heading, ink, heading[1].len() + 2))
        .collect();
    let taken = |shown: &[(_, _, _, usize)]| shown.iter().map(|(.., wide)| wide).sum::<usize>();
    while taken(&shown) + NAME > page.width() {
        shown.pop();
    }
    let longest = rows.iter().map(|(name, _)| plain(name).chars().count()).max().unwrap_or(0);
    let first = longest.max(title.len()).min(page.width() - taken(&shown));

    for (at, title) in ["", title].into_iter().enumerate() {
        let mut spans = vec![span(FAINT, format!("{title:first$}"))];
        spans.extend(shown.iter().map(|(_, heading, _, wide)| span(FAINT, format!("{:>wide$}", heading[at]))));
        if shown.iter().any(|(_, heading, ..)| at > 0 || !heading[at].is_empty()) {
            page.line(0, &spans);
        }
    }
    for (name, tally) in rows {
        let mut spans = vec![span(TEXT, format!("{:first$}", middle(&plain(name), first)))];
        spans.extend(shown.iter().map(|(status, _, ink, wide)| match tally.count(*status) {
            0 => span(FAINT, format!("{:>wide$}", "·")),
            count => span(**ink, format!("{count:>wide$}")),
        }));
        page.line(0, &spans);
    }
}

/// Rules that were not judged, by reason. Those with nothing to test need no action, so they are left to --verbose.
pub fn unjudged(page: &mut Page, report: &RunReport) {
    let is_unexercised = |rule: &&RuleResult| rule.status == Status::NotExercised;
    let (idle, open): (Vec<_>, Vec<_>) = report.rules.iter().filter(is_unexercised).partition(|rule| has_nothing(rule));
    let names = if page.is_verbose() { "" } else { " (--verbose names them)" };
    reasons(page, &open, &format!("Not exercised: this run could not test these rules{names}"));
    let subject = report.target.subject.noun();
    if page.is_verbose() {
        reasons(
            page,
            &idle,
            &format!("Nothing to test: this {subject} offered or sent nothing that these rules are about"),
        );
    }
    let nothing_else = report.rules.iter().all(|rule| standing(report, rule) == Status::NotApplicable);
    if page.is_verbose() || nothing_else {
        let inapplicable: Vec<_> = report.rules.iter().filter(|rule| rule.status == Status::NotApplicable).collect();
        reasons(page, &inapplicable, &format!("Not applicable to this {subject}"));
    }
}

/// Maximum number of reasons without --verbose: first those that the configuration can remove.
const REASONS: usize = 4;
/// From so many rules on, a reason says what they are about, and names so many subjects.
const MANY: usize = 20;
const NAMED: usize = 5;

fn reasons(page: &mut Page, rules: &[&RuleResult], title: &str) {
    // A rule counts once for a reason that it has in several revisions.
    let mut by_reason: IndexMap<String, IndexMap<&str, &str>> = IndexMap::new();
    // All missing facts are one task for the user.
    let mut keys = IndexSet::new();
    let mut lacking = HashSet::new();
    for rule in rules {
        if let Some(Needs::Configuration(key)) = &rule.needs {
            keys.insert(key.as_str());
            lacking.insert(rule.id.as_str());
        } else {
            let reason = rule.reason.as_deref().map_or_else(|| "unknown reason".to_owned(), flow);
            by_reason.entry(reason).or_default().insert(&rule.id, subject(&rule.suite));
        }
    }
    if by_reason.is_empty() && keys.is_empty() {
        return;
    }
    by_reason.sort_by(|_, a, _, b| b.len().cmp(&a.len()));
    let mut counted: Vec<(String, usize)> = Vec::new();
    if !keys.is_empty() {
        let keys = keys.into_iter().collect::<Vec<_>>().join(", ");
        counted.push((format!("would be tested with {keys} in mcp-conform.toml"), lacking.len()));
    }
    counted.extend(by_reason.into_iter().map(|(reason, rules)| (reason + &about(&rules), rules.len())));
    let more = counted.split_off(if page.is_verbose() { counted.len() } else { counted.len().min(REASONS) });
    page.gap();
    page.hang(0, &[], STRONG, title);
    for (reason, count) in counted {
        page.hang(0, &[span(TEXT, format!("{count:>5}  "))], TEXT, &reason);
    }
    if !more.is_empty() {
        let count: usize = more.iter().map(|(_, count)| count).sum();
        page.line(0, &[span(TEXT, format!("{count:>5}  ")), span(FAINT, "for other reasons (--verbose)")]);
    }
}

/// What the rules of a suite are about: the first part of its name, such as `resources`.
fn subject(suite: &str) -> &str {
    suite.split('.').next().unwrap_or(suite)
}

/// What most of many rules with one reason are about.
fn about(rules: &IndexMap<&str, &str>) -> String {
    let mut subjects: IndexMap<&str, usize> = IndexMap::new();
    for subject in rules.values() {
        *subjects.entry(subject).or_default() += 1;
    }
    if rules.len() < MANY || subjects.len() < 2 {
        return String::new();
    }
    subjects.sort_by(|_, a, _, b| b.cmp(a));
    let named: Vec<String> = subjects.iter().take(NAMED).map(|(name, count)| format!("{name} {count}")).collect();
    let rest: usize = subjects.values().skip(NAMED).sum();
    let rest = if rest > 0 { format!(", others {rest}") } else { String::new() };
    format!(": {}{rest}", named.join(", "))
}

/// Columns of the words for statuses.
const MARGIN: usize = 16;

/// A line for each rule, by suite.
pub fn rules(page: &mut Page, report: &RunReport) {
    let mut suite = None;
    for rule in &report.rules {
        let place = (rule.suite.as_str(), rule.revision);
        if suite.replace(place) != Some(place) {
            page.gap();
            page.line(0, &[span(STRONG, rule.suite.as_str()), span(FAINT, format!("  {}", rule.revision))]);
        }
        let standing = standing(report, rule);
        let (word, ink) = (standing.word(), ink(standing));
        let lead = [span(ink, format!("  {word:<MARGIN$}")), span(TEXT, rule.id.as_str()), span(TEXT, "  ")];
        let detail = detail(rule);
        if 2 + MARGIN + columns(&plain(&rule.id)) + 2 + columns(&plain(&detail)) <= page.width() {
            page.hang(0, &lead, FAINT, &detail);
        } else {
            page.line(0, &lead);
            page.hang(2 + MARGIN, &[], FAINT, &detail);
        }
    }
}

fn detail(rule: &RuleResult) -> String {
    match (rule.status, &rule.reason) {
        (
            Status::NotExercised | Status::NotApplicable | Status::Broken | Status::Known | Status::Flaky,
            Some(reason),
        ) => flow(reason),
        (Status::Observed, _) => {
            let told = |seen: &Observation| format!("{} is {}", seen.what, seen.value);
            rule.observed.iter().map(told).collect::<Vec<_>>().join(", ")
        }
        _ if rule.checked == 1 => "checked once".to_owned(),
        _ => format!("checked {} times", rule.checked),
    }
}

const fn ink(status: Status) -> Ink {
    match status {
        Status::Fail => RED.bold(),
        Status::Flaky | Status::Known | Status::Warn => YELLOW,
        Status::Broken => MAGENTA.bold(),
        Status::Advice => CYAN,
        Status::Pass => GREEN,
        Status::Observed => TEXT,
        Status::NotExercised | Status::NotApplicable => FAINT,
    }
}
