//! Rules on one or two lines each: those that are only named, and the recap.

use indexmap::IndexMap;

use super::{
    findings::{SHOWN, Told, alike, headline, named},
    header::revisions,
    page::{FAINT, Ink, MAGENTA, Page, RED, STRONG, Span, TEXT, YELLOW, span},
    totals::accepting,
};
use crate::text::{first_lines, flow, plain};
use conform_model::outcome::{Finding, RunReport, Status, excerpt::columns};

/// Rules that a list names at most.
const RECAP: usize = 20;
/// The statuses of rules that the last screen shows.
const SHOWN_LAST: [(Status, &str, Ink); 3] =
    [(Status::Fail, "FAIL  ", RED), (Status::Flaky, "FLAKY  ", YELLOW), (Status::Broken, "BROKEN  ", MAGENTA)];
/// Lines that the text of one of them takes at most.
const LINES: usize = 2;

/// The warnings that are not shown in detail. `whose` is what follows their number.
pub fn only_named(page: &mut Page, rules: &[Told], whose: &str) {
    if rules.is_empty() {
        return;
    }
    let mut by_id: IndexMap<&str, Vec<&Told>> = IndexMap::new();
    for told in rules {
        by_id.entry(&told.0.id).or_default().push(told);
    }
    let noun = if by_id.len() == 1 { "rule" } else { "rules" };
    headline(page, "WARN", YELLOW, &format!("{} {noun}{whose} (details: --findings)", by_id.len()), &[]);
    for (id, told) in by_id.iter().take(RECAP) {
        let (first, tested) = told[0];
        let message = first.findings.first().map(Finding::line).unwrap_or_default();
        let text = match told.len() {
            1 => message,
            _ => format!("in {}: {message}; for the others see --findings", revisions(tested)),
        };
        named_with(page, id, &text);
    }
    if by_id.len() > RECAP {
        page.line(2, &[span(FAINT, format!("and {} more", by_id.len() - RECAP))]);
    }
}

/// A rule and a text, which takes lines of its own if it does not fit.
fn named_with(page: &mut Page, id: &str, text: &str) {
    let text = plain(&flow(text)).into_owned();
    if 4 + columns(id) + columns(&text) <= page.width() {
        page.line(2, &[span(STRONG, id), span(TEXT, "  "), span(FAINT, text)]);
        return;
    }
    page.line(2, &[span(STRONG, id)]);
    for line in first_lines(&text, page.width() - 4, LINES) {
        page.line(4, &[span(FAINT, line)]);
    }
}

/// Only the names of rules that failed or broke.
pub fn names(page: &mut Page, report: &RunReport) {
    for (status, word, ink) in SHOWN_LAST {
        for (reason, rules) in by_reason(report, status) {
            match reason.filter(|_| rules.len() > 1) {
                Some(reason) => line_of(page, &span(ink.bold(), word), &format!("{} rules", rules.len()), reason),
                None => rules.iter().for_each(|(rule, revisions)| named(page, word, ink, &rule.id, revisions)),
            }
        }
    }
    outdated(page, report);
}

fn outdated(page: &mut Page, report: &RunReport) {
    for entry in &report.outdated {
        page.hang(0, &[span(RED.bold(), "OUTDATED  ")], TEXT, entry);
    }
}

/// The rules that failed or broke, one per line, so that the last screen shows all of them.
pub fn recap(page: &mut Page, report: &RunReport) {
    let is_short = SHOWN_LAST.map(|(status, ..)| alike(report, status, SHOWN).len()).iter().sum::<usize>() < 2;
    page.gap();
    if !is_short || page.is_verbose() {
        one_by_one(page, report);
    }
    outdated(page, report);
    accepting(page, report);
}

fn one_by_one(page: &mut Page, report: &RunReport) {
    for (status, word, ink) in SHOWN_LAST {
        let word = span(ink.bold(), word);
        for (reason, rules) in by_reason(report, status) {
            if let Some(reason) = reason.filter(|_| rules.len() > 1) {
                line_of(page, &word, &format!("{} rules", rules.len()), reason);
                continue;
            }
            // A rule may have failed in several ways, each in other revisions.
            let by_id: IndexMap<_, _> = rules.iter().rev().map(|(rule, _)| (&rule.id, rule.findings.first())).collect();
            for (id, first) in by_id.iter().rev().take(RECAP) {
                let first = first.map(Finding::line);
                line_of(page, &word, id, first.as_deref().or(reason).unwrap_or_default());
            }
            if by_id.len() > RECAP {
                page.line(0, &[span(FAINT, format!("and {} more", by_id.len() - RECAP))]);
            }
        }
    }
}

/// The rules with this status. Many can be broken for one reason.
pub fn by_reason(report: &RunReport, status: Status) -> IndexMap<Option<&str>, Vec<Told<'_>>> {
    let mut groups: IndexMap<_, Vec<_>> = IndexMap::new();
    for (rule, revisions) in alike(report, status, SHOWN) {
        // That of a flaky rule is the number of the retry, which is not why it failed.
        let reason = rule.reason.as_deref().filter(|_| status == Status::Broken);
        groups.entry(reason).or_default().push((rule, revisions));
    }
    groups
}

/// A name and a text, of which at most two lines follow that of the name. It is cut once, at its end.
fn line_of(page: &mut Page, word: &Span<'static>, name: &str, text: &str) {
    let indent = columns(&word.1);
    let (name, text) = (plain(name), flow(text));
    // The text begins on the line of the name.
    let whole = first_lines(&format!("{name} {}", plain(&text)), page.width() - indent - 1, 1 + LINES);
    let mut lines = whole.iter();
    let first = lines.next().map_or("", String::as_str);
    match first.strip_prefix(name.as_ref()) {
        Some(begin) => page.line(0, &[word.clone(), span(STRONG, name), span(TEXT, " "), span(FAINT, begin)]),
        None => page.line(0, &[word.clone(), span(STRONG, first)]),
    }
    for line in lines {
        page.line(indent, &[span(FAINT, line.as_str())]);
    }
}
