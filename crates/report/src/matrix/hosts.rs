//! What hosts take of the servers, if profiles were judged: a table of its own, since no verdict depends on it.

use std::{collections::BTreeMap, fmt::Write as _};

use super::Matrix;
use crate::{
    html::text,
    human::page::{FAINT, GREEN, Ink, Page, RED, STRONG, TEXT, YELLOW, span},
    markdown::prose,
};
use conform_model::outcome::Taken;

/// The servers by what a host takes of them.
pub type ByTaken = BTreeMap<Taken, usize>;

const TITLE: &str = "Servers by what hosts take of them";
const COLUMNS: [(Taken, &str, Ink); 4] = [
    (Taken::Everything, "everything", GREEN),
    (Taken::Changed, "all tools, changed", YELLOW),
    (Taken::SomeTools, "some tools", RED),
    (Taken::Nothing, "nothing", RED),
];

/// Each profile, with its counts in the order of the columns.
fn rows(matrix: &Matrix) -> impl Iterator<Item = (&str, [usize; 4])> {
    let counts = |by: &ByTaken| COLUMNS.map(|(taken, ..)| by.get(&taken).copied().unwrap_or(0));
    matrix.hosts.iter().map(move |(profile, by)| (profile.as_str(), counts(by)))
}

pub fn in_terminal(page: &mut Page, matrix: &Matrix) {
    let Some(longest) = matrix.hosts.keys().map(String::len).max() else { return };
    page.gap();
    page.line(0, &[span(STRONG, TITLE)]);
    let heads = COLUMNS.map(|(_, head, _)| span(FAINT, format!("  {head}")));
    page.line(2, &[&[span(TEXT, " ".repeat(longest))], heads.as_slice()].concat());
    for (profile, counts) in rows(matrix) {
        let cells = counts.iter().zip(COLUMNS).map(|(count, (_, head, ink))| match count {
            0 => span(FAINT, format!("{:>wide$}", "·", wide = head.len() + 2)),
            _ => span(ink, format!("{count:>wide$}", wide = head.len() + 2)),
        });
        let name = span(TEXT, format!("{profile:longest$}"));
        page.line(2, &std::iter::once(name).chain(cells).collect::<Vec<_>>());
    }
}

pub fn in_markdown(page: &mut String, matrix: &Matrix) -> std::fmt::Result {
    if matrix.hosts.is_empty() {
        return Ok(());
    }
    let heads = COLUMNS.map(|(_, head, _)| head).join(" | ");
    writeln!(page, "\n### {TITLE}\n\n| host | {heads} |\n| --- | ---: | ---: | ---: | ---: |")?;
    rows(matrix).try_for_each(|(profile, counts)| {
        writeln!(page, "| {} | {} |", prose(profile), counts.map(|count| count.to_string()).join(" | "))
    })
}

pub fn in_html(page: &mut String, matrix: &Matrix) -> std::fmt::Result {
    if matrix.hosts.is_empty() {
        return Ok(());
    }
    let heads = COLUMNS.map(|(_, head, _)| format!("<th>{head}</th>")).concat();
    writeln!(
        page,
        "<h2>{TITLE}</h2>\n<div class=\"scroll\"><table>\n<thead><tr><th>host</th>{heads}</tr></thead>\n<tbody>"
    )?;
    for (profile, counts) in rows(matrix) {
        let cells = counts.map(|count| format!("<td>{count}</td>")).concat();
        writeln!(page, "<tr><th scope=\"row\">{}</th>{cells}</tr>", text(profile))?;
    }
    page.push_str("</tbody>\n</table></div>\n");
    Ok(())
}
