//! What named hosts make of the server: a table of tools by host, and the rules in detail.

use std::fmt::Write;

use super::{prose, text};
use crate::human::{LEGEND, Rows, WHOLE, explanation, letter, told};
use conform_model::outcome::{ProfileReport, RuleResult, RunReport, Status};

/// Tools in the table at most; the JSON report has all.
const ROWS: usize = 200;

pub fn section(page: &mut String, report: &RunReport) -> std::fmt::Result {
    if report.profiles.is_empty() {
        return Ok(());
    }
    writeln!(page, "<section id=\"profiles\" class=\"rules\"><h2>Profiles of hosts</h2>")?;
    writeln!(
        page,
        "<p class=\"faint\">What these hosts reject, drop or cut. The verdict above does not depend on it.</p>"
    )?;
    page.push_str("<div class=\"scroll\"><table>\n<thead><tr><th>profile</th><th>host</th><th>result</th></tr></thead>\n<tbody>\n");
    for profile in &report.profiles {
        let class = match () {
            () if profile.fails() => "fail",
            () if profile.count(Status::Warn) > 0 => "warn",
            () => "pass",
        };
        let (name, host) = (text(&profile.dated()), text(&profile.host));
        writeln!(
            page,
            "<tr class=\"{class}\"><td class=\"mono\">{name}</td><td>{host}</td><td><span class=\"tag\">{}</span></td></tr>",
            text(&told(profile))
        )?;
    }
    page.push_str("</tbody>\n</table></div>\n");
    table(page, report)?;
    for (status, class) in [(Status::Fail, "fail"), (Status::Warn, "warn")] {
        for profile in &report.profiles {
            for rule in profile.rules.iter().filter(|rule| rule.status == status) {
                in_full(page, profile, rule, class)?;
            }
        }
    }
    writeln!(page, "</section>")
}

fn table(page: &mut String, report: &RunReport) -> std::fmt::Result {
    let Rows { rows } = Rows::of(report);
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(page, "<h3>Tools by host</h3>\n<p class=\"faint\">{}. A letter leads to its rule.</p>", text(LEGEND))?;
    page.push_str("<div class=\"scroll\"><table class=\"hosts\">\n<thead><tr><th>tool</th>");
    for profile in &report.profiles {
        write!(page, "<th class=\"upright\"><span>{}</span></th>", text(&profile.profile))?;
    }
    page.push_str("<th>change</th></tr></thead>\n<tbody>\n");
    for row in rows.iter().take(ROWS) {
        write!(page, "<tr><td class=\"mono\">{}</td>", text(if row.tool.is_empty() { WHOLE } else { row.tool }))?;
        for cell in &row.worst {
            match cell {
                None => page.push_str("<td class=\"faint\">·</td>"),
                Some(one) => {
                    let (class, rule) = (if one.fails { "fail" } else { "warn" }, text(&one.rule));
                    let (lost, letter) = (one.lost.told(), letter(one));
                    write!(
                        page,
                        "<td class=\"{class}\"><a class=\"tag\" href=\"#profile-{rule}\" title=\"{rule}: {lost}\">{letter}</a></td>"
                    )?;
                }
            }
        }
        writeln!(page, "<td>{}</td></tr>", text(&row.fixes.join(", ")))?;
    }
    page.push_str("</tbody>\n</table></div>\n");
    if rows.len() > ROWS {
        writeln!(page, "<p class=\"faint\">and {} more</p>", rows.len() - ROWS)?;
    }
    Ok(())
}

fn in_full(page: &mut String, profile: &ProfileReport, rule: &RuleResult, class: &str) -> std::fmt::Result {
    let (id, dated) = (text(&rule.id), text(&profile.dated()));
    writeln!(
        page,
        "<details class=\"rule {class}\" id=\"profile-{id}\"><summary><span class=\"tag\">{class}</span> <code>{id}</code> \
         {} <span class=\"faint\">{dated}</span></summary>\n<div><pre>{}</pre></div></details>",
        prose(&rule.statement),
        super::lines(&explanation(rule))
    )
}
