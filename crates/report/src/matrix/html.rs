//! The matrix as one HTML file. It loads nothing from the network, and works without scripts, which only add the filter
//! and the order.
//!
//! Text of a server is escaped everywhere, as in the report of one server, whose style this page shares.

use std::{collections::HashMap, fmt::Write};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::{Common, Matrix, Row, Standing, hosts, verb};
use crate::{
    html::{FILTER, STYLE, begin, class, prose, text},
    human::{revisions, totals::duration},
    tally::Tally,
};
use conform_model::outcome::Status;

const OWN_STYLE: &str = include_str!("matrix.css");
const SCRIPT: &str = include_str!("matrix.js");
/// Characters that need no encoding in a link to a file.
const SAFE: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'/');
/// Servers that are named with a rule that is folded.
const BRIEFLY: usize = 5;
/// Rules that are not folded, if they fail on more than one server.
const RULES: usize = 20;

pub fn render(matrix: &Matrix) -> String {
    let mut page = String::new();
    // Writing to a string does not fail.
    let _ = write(&mut page, matrix);
    page
}

fn write(page: &mut String, matrix: &Matrix) -> std::fmt::Result {
    begin(page, &format!("{} servers · {}", matrix.servers, matrix.tool.name), &[STYLE, OWN_STYLE].concat())?;
    header(page, matrix)?;
    shared(page, matrix)?;
    hosts::in_html(page, matrix)?;
    table(page, matrix)?;
    if matrix.rows.iter().any(has_more) {
        page.push_str(
            "<h2>Failures by server</h2>\n<p class=\"faint\"><code>mcp-conform report render NAME.json --report \
             html=NAME.html</code> makes a page of the report of one server.</p>\n",
        );
    }
    for (number, row) in matrix.rows.iter().enumerate().filter(|(_, row)| has_more(row)) {
        in_full(page, number, row)?;
    }
    write!(page, "<script>\n{FILTER}{SCRIPT}</script>\n</body>\n</html>\n")
}

fn header(page: &mut String, matrix: &Matrix) -> std::fmt::Result {
    let bad = if matrix.exit_code == 0 { "" } else { " bad" };
    writeln!(page, "<header class=\"verdict{bad}\">\n<h1>{}</h1>", text(&matrix.meaning()))?;
    writeln!(page, "<p class=\"faint\">{} {}</p>\n</header>", text(&matrix.tool.name), text(&matrix.tool.version))?;
    if matrix.unreadable > 0 {
        writeln!(page, "<p>{} files are not reports of this version.</p>", matrix.unreadable)?;
    }
    Ok(())
}

/// Failures that servers have in common.
fn shared(page: &mut String, matrix: &Matrix) -> std::fmt::Result {
    if matrix.failures.is_empty() {
        return Ok(());
    }
    let places: HashMap<&str, usize> =
        matrix.rows.iter().enumerate().map(|(number, row)| (row.name.as_str(), number)).collect();
    page.push_str("<h2>Most frequent failures</h2>\n");
    let is_common = |rule: &&Common| rule.servers > 1;
    let (mut most, alone): (Vec<_>, Vec<_>) = matrix.failures.iter().partition(is_common);
    let rest = [most.split_off(most.len().min(RULES)), alone].concat();
    most.into_iter().try_for_each(|rule| common(page, matrix, rule, &places))?;
    if !rest.is_empty() {
        writeln!(page, "<details><summary>{} more rules</summary>", rest.len())?;
        rest.into_iter().try_for_each(|rule| common(page, matrix, rule, &places))?;
        page.push_str("</details>\n");
    }
    Ok(())
}

fn common(page: &mut String, matrix: &Matrix, rule: &Common, places: &HashMap<&str, usize>) -> std::fmt::Result {
    writeln!(
        page,
        "<details class=\"rule {}\"><summary><span class=\"tag\">{}</span>on <b>{}</b> of {} <code>{}</code><br>{}\
         <br class=\"brief\"><span class=\"brief\">{}</span></summary>\n<div>",
        class(rule.status),
        verb(rule.status),
        rule.servers,
        matrix.servers,
        text(&rule.rule),
        prose(&rule.statement),
        briefly(rule)
    )?;
    let mut named: Vec<_> = rule
        .named
        .iter()
        .map(|name| match places.get(name.as_str()) {
            Some(number) => format!("<a href=\"#server-{number}\">{}</a>", text(name)),
            None => text(name),
        })
        .collect();
    if rule.servers > named.len() {
        named.push(format!("{} more", rule.servers - named.len()));
    }
    writeln!(page, "<p>{}</p>", named.join(", "))?;
    writeln!(
        page,
        "<p><span class=\"faint\">suite</span> {} <span class=\"faint\">source</span> {}</p>\n</div></details>",
        text(&rule.suite),
        text(&rule.source)
    )
}

/// The first servers that a rule does not pass on, for a rule that is folded.
fn briefly(rule: &Common) -> String {
    let first = &rule.named[..rule.named.len().min(BRIEFLY)];
    let names = first.iter().map(|name| text(name)).collect::<Vec<_>>().join(", ");
    match rule.servers - first.len() {
        0 => names,
        more => format!("{names} and {more} more"),
    }
}

fn table(page: &mut String, matrix: &Matrix) -> std::fmt::Result {
    let suites: Vec<_> = matrix.notable().collect();
    let options: String =
        Standing::ALL.iter().map(|standing| format!("<option>{}</option>", word(*standing))).collect();
    writeln!(
        page,
        "<h2>Servers and suites</h2>\n<form><input type=\"search\" name=\"text\" placeholder=\"filter ( / )\" aria-label=\"filter\">\n\
         <select name=\"standing\" aria-label=\"verdict\"><option value=\"\">any verdict</option>{options}</select>\n\
         <output id=\"shown\" class=\"faint\"></output></form>\n\
         <p class=\"faint\">Columns of suites show failed or passed rules. Suites in which all rules \
         pass on every server are not shown.</p>"
    )?;
    page.push_str("<div class=\"scroll\"><table class=\"matrix\">\n<thead><tr><th>server</th><th>verdict</th>");
    for name in ["failed", "broken", "warned", "passed", "ms"].iter().chain(&suites) {
        write!(page, "<th class=\"upright\"><span>{}</span></th>", text(name))?;
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    for (number, row) in matrix.rows.iter().enumerate() {
        cells(page, number, row, &suites)?;
    }
    page.push_str("</tbody>\n</table></div>\n");
    if matrix.left_out > 0 {
        writeln!(
            page,
            "<p>{} more servers are counted above; their reports are in the directory.</p>",
            matrix.left_out
        )?;
    }
    Ok(())
}

fn cells(page: &mut String, number: usize, row: &Row, suites: &[&str]) -> std::fmt::Result {
    let name = text(&row.name);
    let name = if has_more(row) { format!("<a href=\"#server-{number}\">{name}</a>") } else { name };
    write!(
        page,
        "<tr class=\"{}\" data-server=\"{number}\"><th scope=\"row\">{name}</th><td><span class=\"tag\">{}</span></td>",
        class(row.standing.status()),
        word(row.standing)
    )?;
    for status in [Status::Fail, Status::Broken, Status::Warn, Status::Pass] {
        match row.rules.count(status) {
            0 => page.push_str("<td></td>"),
            count => write!(page, "<td class=\"{}\">{count}</td>", class(status))?,
        }
    }
    write!(page, "<td class=\"faint\">{}</td>", row.ms)?;
    for suite in suites {
        cell(page, row.suites.get(*suite).copied().unwrap_or_default())?;
    }
    page.push_str("</tr>\n");
    Ok(())
}

/// The worst result of a suite.
fn cell(page: &mut String, tally: Tally) -> std::fmt::Result {
    let shown = [Status::Fail, Status::Flaky, Status::Known, Status::Broken, Status::Warn, Status::Pass];
    match shown.into_iter().find(|status| tally.count(*status) > 0) {
        Some(status) => write!(page, "<td class=\"{}\">{}</td>", class(status), tally.count(status)),
        None => write!(page, "<td></td>"),
    }
}

/// Whether a server has more details than its counts.
fn has_more(row: &Row) -> bool {
    !row.findings.is_empty() || row.note.is_some()
}

fn in_full(page: &mut String, number: usize, row: &Row) -> std::fmt::Result {
    writeln!(
        page,
        "<details class=\"rule {}\" data-server=\"{number}\"><summary><span class=\"tag\">{}</span><b>{}</b> <span class=\"faint\">{}</span></summary>\n\
         <div id=\"server-{number}\">",
        class(row.standing.status()),
        word(row.standing),
        text(&row.name),
        prose(row.note.as_ref().unwrap_or(&row.server)),
    )?;
    writeln!(
        page,
        "<p><code>{}</code></p>\n<p class=\"faint\">{} · {} · {}{}</p>",
        text(&row.target),
        text(&row.transport),
        revisions(&row.revisions),
        duration(row.ms),
        row.file
            .as_ref()
            .map(|file| format!(" · <a href=\"{}\">{}</a>", utf8_percent_encode(file, SAFE), text(file_name(file))))
            .unwrap_or_default()
    )?;
    for told in &row.findings {
        writeln!(
            page,
            "<div class=\"finding {}\"><p><span class=\"tag\">{}</span> <code>{}</code></p><p><code>{}</code></p><p>{}</p>",
            class(told.status),
            told.status.word(),
            text(&told.rule),
            text(&told.subject),
            prose(&told.message)
        )?;
        if let Some(command) = &told.reproduce {
            writeln!(page, "<pre>{}</pre>", text(command))?;
        }
        page.push_str("</div>\n");
    }
    if row.more > 0 {
        writeln!(page, "<p class=\"faint\">and {} more rules, in the report</p>", row.more)?;
    }
    page.push_str("</div></details>\n");
    Ok(())
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

const fn word(standing: Standing) -> &'static str {
    match standing {
        Standing::Failing => "fails",
        Standing::Broken => "broken",
        Standing::Empty => "empty",
        Standing::Conforming => "conforms",
    }
}
