//! The report as Markdown for a job summary or a comment: the verdict, the counts, and folded details of rules that
//! need attention.
//!
//! Text of a server is only in code spans, where neither Markdown nor HTML is interpreted.

use std::fmt::Write as _;

use super::{
    human::{agreed, explanation, meaning, told},
    served,
    tally::{Tally, rules_with_status},
    text::{flow, plain},
};
use conform_model::outcome::{RuleResult, RunReport, Status};

/// Maximum number of rules of one kind; the size of a summary is limited.
const TOLD: usize = 100;

pub(super) fn render(report: &RunReport) -> String {
    let mut page = String::new();
    // Writing to a string does not fail.
    let _ = write(&mut page, report);
    page
}

fn write(page: &mut String, report: &RunReport) -> std::fmt::Result {
    let mark = if report.exit_code == 0 { "✅" } else { "❌" };
    writeln!(page, "## {mark} {}\n", prose(&meaning(report)))?;
    if let Some(cause) = report.cause() {
        writeln!(page, "{}\n", prose(cause))?;
    }
    let mut revisions: Vec<_> = agreed(report).iter().map(|revision| revision.as_str()).collect();
    if revisions.is_empty() {
        revisions.push("no revision agreed");
    }
    writeln!(
        page,
        "{} {} · {} · {} · {}\n",
        prose(&report.tool.name),
        prose(&report.tool.version),
        code(&report.target.name),
        code(&report.target.transport),
        revisions.join(", "),
    )?;
    let worked: Vec<String> = served::parts(report).into_iter().map(|(part, _)| prose(&part)).collect();
    if !worked.is_empty() {
        writeln!(page, "{}\n", worked.join(" · "))?;
    }
    let tally = Tally::of(report);
    let counts = [
        (Status::Fail, "failed"),
        (Status::Flaky, "flaky"),
        (Status::Known, "known to fail"),
        (Status::Broken, "broken"),
        (Status::Warn, "warnings"),
        (Status::Advice, "advice"),
        (Status::Pass, "passed"),
        (Status::NotExercised, "not exercised"),
        (Status::NotApplicable, "not applicable"),
    ];
    let is_shown = |status: Status| status != Status::Flaky || tally.count(status) > 0;
    let counts: Vec<_> = counts.into_iter().filter(|(status, _)| is_shown(*status)).collect();
    let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    page.push_str(&row(counts.iter().map(|(_, word)| (*word).to_owned()).collect()));
    page.push_str(&row(counts.iter().map(|_| "---:".to_owned()).collect()));
    page.push_str(&row(counts.iter().map(|(status, _)| tally.count(*status).to_string()).collect()));
    for (status, heading, mark) in [
        (Status::Fail, "Failed", "❌"),
        (Status::Flaky, "Flaky", "🎲"),
        (Status::Broken, "Broken", "💥"),
        (Status::Known, "Known to fail", "🔕"),
        (Status::Warn, "Warnings", "⚠️"),
        (Status::Advice, "Advice", "💡"),
    ] {
        let rules = rules_with_status(report, status);
        // What fails the job is shown at once, the rest is folded to one line.
        match status {
            _ if rules.is_empty() => continue,
            Status::Fail | Status::Flaky | Status::Broken => writeln!(page, "\n### {heading}\n")?,
            _ => writeln!(page, "\n<details><summary>{mark} {heading}: {}</summary>\n", rules.len())?,
        }
        for rule in rules.iter().take(TOLD) {
            folded(page, mark, report, rule)?;
        }
        if rules.len() > TOLD {
            writeln!(page, "and {} more\n", rules.len() - TOLD)?;
        }
        if !matches!(status, Status::Fail | Status::Flaky | Status::Broken) {
            writeln!(page, "\n</details>")?;
        }
    }
    profiles(page, report)?;
    let notes: Vec<&String> = report.limits.iter().chain(&report.notes).collect();
    if !notes.is_empty() {
        writeln!(page, "\n<details><summary>Notes: {}</summary>\n", notes.len())?;
        for note in notes {
            writeln!(page, "- {}", prose(note))?;
        }
        writeln!(page, "\n</details>")?;
    }
    Ok(())
}

/// What named hosts make of the server: a table, and folded details.
fn profiles(page: &mut String, report: &RunReport) -> std::fmt::Result {
    if report.profiles.is_empty() {
        return Ok(());
    }
    writeln!(page, "\n### Profiles of hosts\n\n| profile | result |\n| --- | --- |")?;
    for profile in &report.profiles {
        writeln!(page, "| {} | {} |", prose(&profile.dated()), prose(&told(profile)))?;
    }
    page.push('\n');
    for (status, mark) in [(Status::Fail, "❌"), (Status::Warn, "⚠️")] {
        let rules = report.profiles.iter().flat_map(|profile| &profile.rules).filter(|rule| rule.status == status);
        for rule in rules.take(TOLD) {
            folded(page, mark, report, rule)?;
        }
    }
    Ok(())
}

fn folded(page: &mut String, mark: &str, report: &RunReport, rule: &RuleResult) -> std::fmt::Result {
    let revision = if report.revisions.len() > 1 { format!(" ({})", rule.revision) } else { String::new() };
    let (id, statement) = (prose(&rule.id), prose(&rule.statement));
    writeln!(page, "<details><summary>{mark} <code>{id}</code>{revision}: {statement}</summary>\n")?;
    let told = explanation(rule);
    let fence = "`".repeat(longest_run(&told).max(2) + 1);
    writeln!(page, "{fence}text\n{}\n{fence}\n\n</details>", told.trim_end())
}

/// Escapes text for a paragraph.
pub(super) fn prose(text: &str) -> String {
    let special =
        |c: char| c.is_ascii_punctuation() && !matches!(c, '.' | ',' | ':' | ';' | '-' | '/' | '(' | ')' | '\'' | '?');
    let mut shown = String::new();
    for c in plain(&flow(text)).chars() {
        match c {
            '&' => shown.push_str("&amp;"),
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            // An HTML entity, because a backslash means nothing inside of HTML.
            c if special(c) => _ = write!(shown, "&#{};", u32::from(c)),
            c => shown.push(c),
        }
    }
    shown
}

/// A code span, with more backticks around it than the text contains.
pub(super) fn code(text: &str) -> String {
    let text = plain(&flow(text)).into_owned();
    let ticks = "`".repeat(longest_run(&text) + 1);
    format!("{ticks} {text} {ticks}")
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}
