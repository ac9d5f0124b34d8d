//! What named hosts make of the server: a section of its own, since the verdict does not depend on it.

use indexmap::{IndexMap, IndexSet};

use super::{
    findings::label,
    page::{FAINT, GREEN, Ink, Page, RED, STRONG, TEXT, YELLOW, span},
};
use crate::{
    remarks::{Remark, remarks},
    text::{flow, plain},
};
use conform_model::outcome::{
    AffectedTool, HostEvidence, Loss, OLD_DAYS, ProfileReport, RuleResult, RunReport, Status,
    excerpt::{columns, middle, sentence},
};

/// Rules of one status that are shown in detail without --findings; others are named.
const TOLD: usize = 12;
/// Lines of the table without --findings.
const ROWS: usize = 12;
/// Findings of a rule that are shown without --findings.
const SHOWN: usize = 2;
/// The width of a column of the table.
const CELL: usize = 3;
/// The stated name of what is about no single tool.
pub const WHOLE: &str = "(the server)";

pub fn profiles(page: &mut Page, report: &RunReport) {
    if report.profiles.is_empty() {
        return;
    }
    for (status, word, ink) in [(Status::Fail, "PROFILE FAIL", RED), (Status::Warn, "PROFILE WARN", YELLOW)] {
        let rules: Vec<_> = of_status(report, status).collect();
        // While there are failures, warnings are only named.
        let names_only =
            status == Status::Warn && !page.is_detailed() && of_status(report, Status::Fail).next().is_some();
        let told = if page.is_detailed() {
            rules.len()
        } else if names_only {
            0
        } else {
            TOLD.min(rules.len())
        };
        let (told, named) = rules.split_at(told);
        for (profile, rule) in told {
            in_detail(page, (word, ink), profile, rule);
        }
        if !named.is_empty() {
            page.gap();
            let names: Vec<&str> = named.iter().map(|(_, rule)| rule.id.as_str()).collect();
            let noun = if names.len() == 1 { "rule" } else { "rules" };
            let head = format!("{} {noun} (details: --findings)", names.len());
            page.line(0, &[span(ink.bold(), format!("{word}  ")), span(STRONG, head)]);
            page.hang(2, &[], FAINT, &names.join(", "));
        }
    }
    table(page, report);
    summaries(page, report);
}

fn of_status(report: &RunReport, status: Status) -> impl Iterator<Item = (&ProfileReport, &RuleResult)> {
    let rules = report.profiles.iter().flat_map(|profile| profile.rules.iter().map(move |rule| (profile, rule)));
    rules.filter(move |(_, rule)| rule.status == status)
}

fn in_detail(page: &mut Page, (word, ink): (&str, Ink), profile: &ProfileReport, rule: &RuleResult) {
    page.gap();
    page.line(0, &[span(ink.bold(), format!("{word}  ")), span(STRONG, rule.id.as_str())]);
    page.hang(2, &[], TEXT, &flow(&format!("{}: {}", profile.dated(), rule.statement)));
    let shown = if page.is_detailed() { rule.findings.len() } else { SHOWN };
    for finding in rule.findings.iter().take(shown) {
        let room = 3 * page.width();
        let message = sentence(&plain(&finding.message), room).into_owned();
        let subject = if finding.subject.is_empty() { String::new() } else { format!("{}: ", plain(&finding.subject)) };
        page.hang(2, &[span(FAINT, "- ")], TEXT, &(subject + &message));
    }
    let others = rule.findings.len().saturating_sub(shown) + rule.further;
    if others > 0 {
        page.line(
            2,
            &[span(FAINT, format!("and {others} more{}", if page.is_detailed() { "" } else { " (--findings)" }))],
        );
    }
    let Some(evidence) = &rule.evidence else { return };
    page.hang(2, &[label("seen")], FAINT, &seen(evidence, page.is_detailed()));
    for Remark { label: word, text, .. } in remarks(rule).filter(|remark| remark.label != "seen") {
        page.hang(2, &[label(word)], TEXT, &flow(&text));
    }
}

/// The evidence in one line, with all sources or the first one.
pub fn seen(evidence: &HostEvidence, whole: bool) -> String {
    let HostEvidence { sources, seen, certainty, host_version, .. } = evidence;
    let named = match sources.as_slice() {
        [first, rest @ ..] if !whole && !rest.is_empty() => format!("{first} and {} more", rest.len()),
        sources => sources.join(", "),
    };
    let version = host_version.as_ref().map(|version| format!(", version {version}")).unwrap_or_default();
    format!("{seen}, {named}{version}; certainty: {certainty}")
}

/// How the fix is written with the SDK of the server.
pub fn with_sdk(evidence: &HostEvidence) -> Option<String> {
    evidence.in_sdk.as_ref().map(|one| format!("{}: {}", one.sdk, one.code))
}

/// One line for each profile: what it loses, and the counts.
pub fn summaries(page: &mut Page, report: &RunReport) {
    if report.profiles.is_empty() {
        return;
    }
    page.gap();
    let numbered = report.profiles.len() > 1;
    for (index, profile) in report.profiles.iter().enumerate() {
        let number = if numbered { format!("{:>2} ", index + 1) } else { String::new() };
        let ink = match profile.lost() {
            _ if profile.fails() => RED,
            _ if profile.count(Status::Warn) > 0 => YELLOW,
            _ => GREEN,
        };
        let lead = [span(FAINT, number), span(STRONG, profile.dated()), span(TEXT, "  ")];
        page.hang(0, &lead, ink, &told(profile));
    }
}

/// What the host makes of the server, the counts, and the age of an old snapshot.
pub fn told(profile: &ProfileReport) -> String {
    let counts = [
        (Status::Fail, "failed"),
        (Status::Known, "known"),
        (Status::Broken, "broken"),
        (Status::Warn, "warned"),
        (Status::Advice, "advice"),
        (Status::Pass, "passed"),
        (Status::NotExercised, "not exercised"),
    ];
    let counts = counts.into_iter().filter(|(status, _)| profile.count(*status) > 0);
    let counts = counts.map(|(status, word)| format!("{} {word}", profile.count(status)));
    let old = (profile.age_days > OLD_DAYS).then(|| format!("{} days old", profile.age_days));
    std::iter::once(profile.told()).chain(counts).chain(old).collect::<Vec<_>>().join(" · ")
}

/// All profiles in one sentence, for the last lines.
pub fn summed(report: &RunReport) -> String {
    let failed: Vec<&str> =
        report.profiles.iter().filter(|profile| profile.fails()).map(|profile| profile.profile.as_str()).collect();
    match (report.profiles.len(), failed.len()) {
        (1, 0) => "1 passed".to_owned(),
        (all, 0) => format!("all {all} passed"),
        (all, some) => format!("{some} of {all} failed: {}", failed.join(", ")),
    }
}

/// What each host does to a tool: by tool, then by profile, the worst of its rules.
pub struct Rows<'r> {
    pub rows: Vec<Row<'r>>,
}

pub struct Row<'r> {
    pub tool: &'r str,
    /// For each profile of the report.
    pub worst: Vec<Option<&'r AffectedTool>>,
    /// The parts of the tool that fixes of failures change, the one that most hosts need first.
    pub fixes: Vec<&'r str>,
}

impl Row<'_> {
    pub fn failing(&self) -> usize {
        self.worst.iter().flatten().filter(|one| one.fails).count()
    }
}

impl<'r> Rows<'r> {
    /// The tools that most hosts fail for come first.
    pub fn of(report: &'r RunReport) -> Self {
        let mut rows: IndexMap<&str, Vec<Option<&AffectedTool>>> = IndexMap::new();
        let mut fixes: IndexMap<&str, IndexMap<&str, IndexSet<usize>>> = IndexMap::new();
        for (index, profile) in report.profiles.iter().enumerate() {
            for one in &profile.affected {
                let row = rows.entry(one.tool.as_str()).or_insert_with(|| vec![None; report.profiles.len()]);
                let worse = row[index].is_none_or(|known| (!one.fails, one.lost) < (!known.fails, known.lost));
                if worse {
                    row[index] = Some(one);
                }
                let rule = profile.rules.iter().find(|rule| rule.id == one.rule);
                let fix = rule.and_then(|rule| rule.evidence.as_ref()?.fix.as_deref());
                if let Some(fix) = fix.filter(|_| one.fails) {
                    fixes.entry(one.tool.as_str()).or_default().entry(fix).or_default().insert(index);
                }
            }
        }
        let row = |(tool, worst)| {
            let mut of_tool: Vec<_> = fixes.get(tool).into_iter().flatten().collect();
            of_tool.sort_by_key(|(_, hosts)| std::cmp::Reverse(hosts.len()));
            Row { tool, worst, fixes: of_tool.into_iter().map(|(fix, _)| *fix).collect() }
        };
        let mut rows: Vec<Row> = rows.into_iter().map(row).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.failing()));
        Self { rows }
    }
}

/// One letter for what is lost; lower case for a warning.
pub fn letter(one: &AffectedTool) -> char {
    let letter = match one.lost {
        Loss::Server => 'S',
        Loss::Tool => 'T',
        Loss::Argument => 'A',
        Loss::Text => 'X',
        Loss::Constraint => 'C',
    };
    if one.fails { letter } else { letter.to_ascii_lowercase() }
}

pub const LEGEND: &str =
    "S all tools of the server, T the tool, A an argument, X text, C a constraint is lost; lower case warns";

fn table(page: &mut Page, report: &RunReport) {
    let Rows { rows } = Rows::of(report);
    if rows.is_empty() || report.profiles.len() < 2 {
        return;
    }
    page.gap();
    page.line(0, &[span(STRONG, "Tools by host")]);
    page.hang(2, &[], FAINT, LEGEND);
    let limit = if page.is_detailed() { rows.len() } else { ROWS };
    let cells = CELL * report.profiles.len();
    let name = |row: &Row| if row.tool.is_empty() { WHOLE.to_owned() } else { plain(row.tool).into_owned() };
    let longest = rows.iter().take(limit).map(|row| columns(&name(row))).max().unwrap_or(0).max(4);
    // What to change needs some room, too.
    let first = longest.min(page.width().saturating_sub(cells + 14).max(12));
    let mut head = vec![span(FAINT, format!("{:first$}", "tool"))];
    head.extend((1..=report.profiles.len()).map(|number| span(FAINT, format!("{number:>CELL$}"))));
    head.push(span(FAINT, "  change"));
    page.line(2, &head);
    let room = page.width().saturating_sub(first + cells + 4);
    for row in rows.iter().take(limit) {
        let shown = middle(&name(row), first).into_owned();
        let padding = first - columns(&shown).min(first);
        let mut spans = vec![span(TEXT, format!("{shown}{:padding$}", ""))];
        spans.extend(row.worst.iter().map(|cell| match cell {
            None => span(FAINT, format!("{:>CELL$}", "·")),
            Some(one) => span(if one.fails { RED } else { YELLOW }, format!("{:>CELL$}", letter(one))),
        }));
        let fixes = row.fixes.join(", ");
        spans.push(span(TEXT, format!("  {}", middle(&fixes, room.max(8)))));
        page.line(2, &spans);
    }
    if rows.len() > limit {
        page.line(2, &[span(FAINT, format!("and {} more (--findings)", rows.len() - limit))]);
    }
}
