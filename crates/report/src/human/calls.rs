//! The table of generated calls.

use super::page::{FAINT, Page, TEXT, span};
use crate::text::plain;
use conform_model::outcome::{CallCounts, RunReport, excerpt::middle};

/// Maximum number of rows without --verbose.
const ROWS: usize = 20;
/// Maximum number of cases without a call that are named for each subject.
const CASES: usize = 12;
/// Heading of the names, not longer than the shortest column for them.
const NAMES: &str = "generated";
const HEADINGS: [&str; 6] = ["calls", "valid accepted", "invalid rejected", "hostile", "errors", "slowest"];

pub fn calls(page: &mut Page, report: &RunReport) {
    if report.calls.is_empty() {
        return;
    }
    let most = if page.is_verbose() { report.calls.len() } else { ROWS };
    let rows: Vec<[String; 6]> = report.calls.iter().take(most).map(cells).collect();
    let widths: Vec<usize> = (0..HEADINGS.len())
        .map(|column| {
            rows.iter().map(|row| row[column].len()).max().unwrap_or_default().max(HEADINGS[column].len()) + 2
        })
        .collect();
    let room = page.width().saturating_sub(widths.iter().sum()).max(12);
    let longest =
        report.calls.iter().take(most).map(|counts| plain(&name(counts)).chars().count()).max().unwrap_or_default();
    let first = longest.max(NAMES.len()).min(room);
    let line = |cells: &[String]| -> String {
        cells.iter().zip(&widths).map(|(cell, wide)| format!("{cell:>wide$}")).collect()
    };
    page.gap();
    page.line(0, &[span(FAINT, format!("{NAMES:first$}{}", line(&HEADINGS.map(str::to_owned))))]);
    for (counts, row) in report.calls.iter().zip(&rows) {
        let name = plain(&name(counts)).into_owned();
        page.line(0, &[span(TEXT, format!("{:first$}", middle(&name, first))), span(TEXT, line(row))]);
    }
    if report.calls.len() > most {
        page.line(0, &[span(FAINT, format!("and {} more (--verbose)", report.calls.len() - most))]);
    }
    if page.is_verbose() {
        for counts in report.calls.iter().filter(|counts| !counts.not_exercised.is_empty()) {
            let keywords = counts.not_exercised.join(", ");
            page.hang(
                0,
                &[span(FAINT, "note  ")],
                TEXT,
                &plain(&format!("{}: no call was at the bound of, or violated: {keywords}", counts.name)),
            );
        }
        for counts in report.calls.iter().filter(|counts| !counts.not_reached.is_empty()) {
            let cases = counts.not_reached.iter().take(CASES).cloned().collect::<Vec<_>>().join("; ");
            let more = counts.not_reached.len().saturating_sub(CASES);
            let more = if more > 0 { format!("; and {more} more (in the JSON report)") } else { String::new() };
            page.hang(
                0,
                &[span(FAINT, "note  ")],
                TEXT,
                &plain(&format!("{}: {} cases were covered, and not: {cases}{more}", counts.name, counts.cases)),
            );
        }
    }
}

/// The name; the kind is omitted for tools, which are the most frequent.
fn name(counts: &CallCounts) -> String {
    match counts.what.as_str() {
        "tool" | "list" => counts.name.clone(),
        what => format!("{what} {}", counts.name),
    }
}

fn cells(counts: &CallCounts) -> [String; 6] {
    let of = |part: usize, whole: usize| if whole == 0 { "·".to_owned() } else { format!("{part} of {whole}") };
    let some = |count: usize| if count == 0 { "·".to_owned() } else { count.to_string() };
    [
        counts.calls.to_string(),
        of(counts.accepted, counts.valid),
        of(counts.rejected, counts.invalid),
        some(counts.hostile),
        some(counts.errors),
        format!("{} ms", counts.slowest_ms),
    ]
}
