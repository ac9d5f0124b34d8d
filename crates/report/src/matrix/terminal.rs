//! The matrix in a terminal: a line for each finished server, and at the end the worst servers and their common
//! failures.

use super::{Matrix, Row, Standing, hosts, verb};
use crate::{
    Style,
    human::{
        page::{CYAN, FAINT, GREEN, Ink, MAGENTA, Page, RED, SEPARATOR, STRONG, TEXT, YELLOW, span},
        table::table,
        totals::duration,
    },
    text::plain,
};
use conform_model::outcome::{
    Status,
    excerpt::{columns, middle},
};

/// Maximum number of servers in the table, and of rules below it; the files have more.
const SERVERS: usize = 20;
const RULES: usize = 10;
/// Width of the word for a standing.
const WORD: usize = 8;

/// A finished server, and the progress of all.
pub fn line(row: &Row, (done, of): (usize, usize), longest_name: usize, style: &Style) -> String {
    let (word, ink) = word(row.standing);
    let mut page = Page::new(*style);
    let names = longest_name.min(page.width() / 3);
    let place = format!("{done:>width$}/{of}", width = of.to_string().len());
    let name = middle(&plain(&row.name), names).into_owned();
    let padding = " ".repeat(names.saturating_sub(columns(&name)));
    let time = duration(row.ms);
    let room = page.width().saturating_sub(place.len() + 2 + WORD + names + 2 + 2 + time.len());
    let told = match &row.note {
        Some(note) => middle(&plain(note), room).into_owned(),
        None => counts(row, room),
    };
    page.line(
        0,
        &[
            span(FAINT, format!("{place}  ")),
            span(ink, format!("{word:<WORD$}")),
            span(TEXT, format!("{name}{padding}  ")),
            span(TEXT, told),
            span(FAINT, format!("  {time}")),
        ],
    );
    page.finish().trim_end().to_owned()
}

/// As many counts as fit.
fn counts(row: &Row, room: usize) -> String {
    let mut told = String::new();
    for (status, word) in [
        (Status::Fail, "failed"),
        (Status::Flaky, "flaky"),
        (Status::Broken, "broken"),
        (Status::Warn, "warned"),
        (Status::Pass, "passed"),
    ] {
        let part = match row.rules.count(status) {
            0 => continue,
            count if told.is_empty() => format!("{count} {word}"),
            count => format!("{SEPARATOR}{count} {word}"),
        };
        if columns(&told) + columns(&part) > room {
            break;
        }
        told += &part;
    }
    told
}

/// The complete summary.
pub fn summary(matrix: &Matrix, style: &Style) -> String {
    let mut page = Page::new(*style);
    let notable: Vec<_> = matrix.rows.iter().filter(|row| row.standing != Standing::Conforming).collect();
    if !notable.is_empty() {
        let rows: Vec<_> = notable.iter().take(SERVERS).map(|row| (row.name.as_str(), row.rules)).collect();
        table(&mut page, "server", &rows);
    }
    let conforming = matrix.by_standing.get(&Standing::Conforming).copied().unwrap_or(0);
    let more = (matrix.servers - conforming).saturating_sub(SERVERS);
    if more > 0 {
        page.line(0, &[span(FAINT, format!("and {more} more that do not conform"))]);
    }
    common(&mut page, matrix);
    hosts::in_terminal(&mut page, matrix);
    page.gap();
    if matrix.unreadable > 0 {
        page.hang(
            0,
            &[span(FAINT, "note  ")],
            TEXT,
            &format!("{} files are not reports of this version", matrix.unreadable),
        );
    }
    let ink = if matrix.exit_code == 0 { GREEN } else { RED };
    let exit = span(ink.bold(), format!("exit {}", matrix.exit_code));
    page.hang(0, &[exit, span(TEXT, "  ")], STRONG, &matrix.meaning());
    page.finish().trim_end().to_owned()
}

/// Failures that most servers have in common.
fn common(page: &mut Page, matrix: &Matrix) {
    let shared: Vec<_> = matrix.failures.iter().filter(|common| common.servers > 1).take(RULES).collect();
    if shared.is_empty() {
        return;
    }
    page.gap();
    page.line(0, &[span(STRONG, "Most frequent failures")]);
    for common in shared {
        let ink = if common.status == Status::Fail { RED } else { YELLOW };
        let lead = [span(ink, format!("{:>5}  ", common.servers)), span(TEXT, common.rule.as_str())];
        page.line(0, &lead);
        page.hang(7, &[], FAINT, &format!("{} · {}", verb(common.status), common.statement));
    }
}

const fn word(standing: Standing) -> (&'static str, Ink) {
    match standing {
        Standing::Failing => ("FAIL", RED.bold()),
        Standing::Broken => ("BROKEN", MAGENTA.bold()),
        Standing::Empty => ("EMPTY", CYAN),
        Standing::Conforming => ("ok", GREEN),
    }
}
