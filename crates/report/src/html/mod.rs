//! The report as one HTML file. It loads nothing from the network, and works without scripts, which only add the
//! filter.
//!
//! Text of a server is escaped everywhere. A Content-Security-Policy forbids everything that the page does not need, so
//! that nothing in it can be loaded or run.

mod messages;
mod picture;
mod profiles;
mod rules;

use std::fmt::Write;

use super::{
    human::{agreed, meaning, revisions},
    served,
    tally::{STATUSES, Tally, standing},
    text::{flow, plain},
};
use conform_model::outcome::{CallCounts, RunReport, Status};

pub(super) const STYLE: &str = include_str!("style.css");
pub(super) const FILTER: &str = include_str!("filter.js");
const SCRIPT: &str = include_str!("script.js");

pub(super) fn render(report: &RunReport) -> String {
    let mut page = String::new();
    // Writing to a string does not fail.
    let _ = write(&mut page, report);
    page
}

fn write(page: &mut String, report: &RunReport) -> std::fmt::Result {
    begin(page, &format!("{} · {}", report.target.name, report.tool.name), STYLE)?;
    header(page, report)?;
    rules::form(page, report)?;
    rules::attention(page, report)?;
    profiles::section(page, report)?;
    calls(page, report)?;
    notes(page, report)?;
    if let Some(graph) = &report.graph {
        picture::section(page, graph, report)?;
    }
    rules::all(page, report)?;
    messages::section(page, &report.timeline, report.timeline_left_out)?;
    write!(page, "<script>\n{FILTER}{SCRIPT}</script>\n</body>\n</html>\n")
}

/// Everything before the body.
pub(super) fn begin(page: &mut String, title: &str, style: &str) -> std::fmt::Result {
    write!(
        page,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n\
         <title>{}</title>\n<style>\n{style}</style>\n</head>\n<body>\n",
        text(title)
    )
}

fn header(page: &mut String, report: &RunReport) -> std::fmt::Result {
    let bad = if report.exit_code == 0 { "" } else { " bad" };
    let server = report.target.server.as_ref();
    let stated = |name: &str| server.and_then(|server| server.get(name)).and_then(|value| value.as_str());
    let server: Vec<_> = ["name", "version"].into_iter().filter_map(stated).collect();
    let sdks = report.target.sdks.iter().map(|sdk| format!(" · {}", sdk.named())).collect::<String>();
    writeln!(page, "<header class=\"verdict{bad}\">\n<h1>{}</h1>", text(&meaning(report)))?;
    writeln!(page, "<p><code>{}</code></p>", text(&report.target.name))?;
    writeln!(
        page,
        "<p class=\"faint\">{} · {} · {} · {} {} · {}.{:03} s{}</p>",
        text(&(server.join(" ") + &sdks)),
        Some(revisions(agreed(report)))
            .filter(|agreed| !agreed.is_empty())
            .unwrap_or_else(|| "no revision agreed".to_owned()),
        text(&report.target.transport),
        text(&report.tool.name),
        text(&report.tool.version),
        report.ms / 1000,
        report.ms % 1000,
        date(report.started),
    )?;
    let worked: Vec<String> = served::parts(report).into_iter().map(|(part, _)| text(&part)).collect();
    if !worked.is_empty() {
        writeln!(page, "<p class=\"faint\">{}</p>", worked.join(" · "))?;
    }
    writeln!(page, "</header>")?;
    let tally = Tally::of(report);
    page.push_str("<ul class=\"counts\">\n");
    for status in STATUSES {
        if tally.count(status) > 0 {
            writeln!(
                page,
                "<li class=\"{}\"><a {}><b>{}</b> <span class=\"tag\">{}</span></a></li>",
                class(status),
                rules::reached(status),
                tally.count(status),
                status.word()
            )?;
        }
    }
    page.push_str("</ul>\n");
    Ok(())
}

/// When the run began, if that is known.
fn date(started: u64) -> String {
    let seconds = i64::try_from(started).ok().filter(|seconds| *seconds > 0);
    match seconds.and_then(|seconds| jiff::Timestamp::from_second(seconds).ok()) {
        Some(start) => format!(" · <time datetime=\"{start}\">{}</time>", start.strftime("%Y-%m-%d %H:%M UTC")),
        None => String::new(),
    }
}

fn notes(page: &mut String, report: &RunReport) -> std::fmt::Result {
    let mut notes = report.limits.iter().chain(&report.notes).peekable();
    if notes.peek().is_some() {
        writeln!(page, "<h2>Notes</h2>")?;
    }
    for note in notes {
        writeln!(page, "<p class=\"faint\">{}</p>", prose(note))?;
    }
    Ok(())
}

/// The table of generated calls.
fn calls(page: &mut String, report: &RunReport) -> std::fmt::Result {
    if report.calls.is_empty() {
        return Ok(());
    }
    writeln!(page, "<h2>Generated calls</h2>")?;
    page.push_str(
        "<div class=\"scroll\"><table>\n<thead><tr><th></th><th>name</th><th>calls</th><th>valid</th><th>accepted</th>\
         <th>invalid</th><th>rejected</th><th>hostile</th><th>errors</th><th>slowest ms</th><th>keywords not exercised</th>\
         </tr></thead>\n<tbody>\n",
    );
    for counts in &report.calls {
        write!(page, "<tr><td>{}</td><td class=\"mono\">{}</td>", text(&counts.what), text(&counts.name))?;
        let CallCounts { calls, valid, accepted, invalid, rejected, hostile, errors, .. } = counts;
        for count in [calls, valid, accepted, invalid, rejected, hostile, errors] {
            write!(page, "<td class=\"number\">{count}</td>")?;
        }
        let keywords = text(&counts.not_exercised.join(", "));
        writeln!(page, "<td class=\"number\">{}</td><td>{keywords}</td></tr>", counts.slowest_ms)?;
    }
    writeln!(page, "</tbody>\n</table></div>")
}

/// Escapes text for an element or a quoted attribute.
pub(super) fn text(raw: &str) -> String {
    let mut safe = String::with_capacity(raw.len() + 16);
    for c in plain(&flow(raw)).chars() {
        push(&mut safe, c);
    }
    safe
}

/// The same, with text in backticks as code.
pub(super) fn prose(raw: &str) -> String {
    let mut safe = String::new();
    let parts: Vec<String> = text(raw).split('`').map(str::to_owned).collect();
    for (at, part) in parts.iter().enumerate() {
        match at % 2 {
            1 if at + 1 < parts.len() => safe.push_str(&format!("<code>{part}</code>")),
            // The last backtick is not closed.
            1 => safe.push_str(&format!("`{part}")),
            _ => safe.push_str(part),
        }
    }
    safe
}

/// The same with line breaks, for an element. Quotes stay: escaped they would be half of the text of messages.
fn lines(raw: &str) -> String {
    raw.lines()
        .map(|line| {
            plain(line).chars().fold(String::new(), |mut safe, c| {
                match c {
                    '"' | '\'' => safe.push(c),
                    c => push(&mut safe, c),
                }
                safe
            })
        })
        .collect::<Vec<_>>()
        .join("\n")
}

fn push(safe: &mut String, c: char) {
    match c {
        '&' => safe.push_str("&amp;"),
        '<' => safe.push_str("&lt;"),
        '>' => safe.push_str("&gt;"),
        '"' => safe.push_str("&quot;"),
        '\'' => safe.push_str("&#39;"),
        c => safe.push(c),
    }
}

pub(super) fn class(status: Status) -> String {
    status.word().replace(' ', "-")
}
