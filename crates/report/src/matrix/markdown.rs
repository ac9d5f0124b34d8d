//! The matrix for job summaries and comments, whose size is limited: the worst servers, and their common failures.

use std::fmt::Write as _;

use super::{Common, Matrix, Row, Standing, hosts, verb};
use crate::markdown::{code, prose};
use conform_model::outcome::Status;

/// Maximum number of servers, and of rules; `matrix.html` and `matrix.json` have more.
const SERVERS: usize = 100;
const RULES: usize = 30;
const NAMED: usize = 5;
/// The statuses that say where a server fails.
const FAILING: [Status; 3] = [Status::Fail, Status::Flaky, Status::Broken];

pub fn render(matrix: &Matrix) -> String {
    let mut page = String::new();
    // Writing to a string does not fail.
    let _ = write(&mut page, matrix);
    page
}

fn write(page: &mut String, matrix: &Matrix) -> std::fmt::Result {
    let mark = if matrix.exit_code == 0 { "✅" } else { "❌" };
    writeln!(page, "## {mark} {}\n", prose(&matrix.meaning()))?;
    let tool = &matrix.tool;
    writeln!(page, "{} {}\n", prose(&tool.name), prose(&tool.version))?;
    if matrix.unreadable > 0 {
        writeln!(page, "{} files are not reports of this version.\n", matrix.unreadable)?;
    }
    if !matrix.failures.is_empty() {
        writeln!(page, "### Most frequent failures\n\n| servers | | rule | on |\n| ---: | --- | --- | --- |")?;
        matrix.failures.iter().take(RULES).try_for_each(|shared| common(page, shared))?;
        more(page, matrix.failures.len(), RULES, "rules")?;
    }
    hosts::in_markdown(page, matrix)?;
    writeln!(page, "\n### Servers\n\n| | server | failed | broken | warned | passed | where |")?;
    writeln!(page, "| --- | --- | ---: | ---: | ---: | ---: | --- |")?;
    matrix.rows.iter().take(SERVERS).try_for_each(|server| row(page, server))?;
    more(page, matrix.servers, SERVERS, "servers")
}

fn common(page: &mut String, common: &Common) -> std::fmt::Result {
    let mut named: Vec<_> = common.named.iter().take(NAMED).map(|name| cell(&code(name))).collect();
    if common.servers > named.len() {
        named.push(format!("{} more", common.servers - named.len()));
    }
    writeln!(
        page,
        "| {} | {} | <code>{}</code><br>{} | {} |",
        common.servers,
        verb(common.status),
        prose(&common.rule),
        prose(&common.statement),
        named.join(", ")
    )
}

fn row(page: &mut String, row: &Row) -> std::fmt::Result {
    let mark = match row.standing {
        Standing::Failing => "❌",
        Standing::Broken => "💥",
        Standing::Empty => "❔",
        Standing::Conforming => "✅",
    };
    let count = |status| row.rules.count(status);
    let places = row
        .suites
        .iter()
        .map(|(suite, tally)| (suite, FAILING.map(|status| tally.count(status)).iter().sum::<usize>()));
    let places: Vec<_> =
        places.filter(|(_, count)| *count > 0).map(|(suite, count)| format!("{} {count}", prose(suite))).collect();
    writeln!(
        page,
        "| {mark} | {} | {} | {} | {} | {} | {} |",
        cell(&code(&row.name)),
        count(Status::Fail),
        count(Status::Broken),
        count(Status::Warn),
        count(Status::Pass),
        row.note.as_deref().map_or_else(|| places.join(", "), |note| cell(&code(note)))
    )
}

fn more(page: &mut String, all: usize, shown: usize, noun: &str) -> std::fmt::Result {
    if all > shown { writeln!(page, "\nand {} more {noun}", all - shown) } else { Ok(()) }
}

/// A code span in a table: `|` would end the cell even there.
fn cell(span: &str) -> String {
    span.replace('|', "\\|")
}
