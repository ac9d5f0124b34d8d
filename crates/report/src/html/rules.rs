//! The rules: those that need attention in detail, and all of them in a table.

use std::fmt::Write;

use indexmap::IndexSet;

use super::{class, lines, prose, standing, text};
use crate::{
    diff::{Contrast, Side, contrast, shown},
    human::{fault, terse},
    link::link,
    remarks::{Remark, remarks},
    tally::{STATUSES, rules_with_status},
};
use conform_model::outcome::{
    Finding, RuleResult, RunReport, Status,
    excerpt::{middle, sentence},
};

/// Width of a value next to another one.
const WIDTH: usize = 110;
/// Width of a message around its error.
const MESSAGE: usize = 500;
/// The requests of a finding in a shell.
const BY_HAND: &str = "by hand";
/// The statuses of rules that are folded, because they would bury the rest.
const UNJUDGED: [Status; 2] = [Status::NotExercised, Status::NotApplicable];
/// Findings of a rule that are not folded.
const SHOWN: usize = 5;

pub fn attention(page: &mut String, report: &RunReport) -> std::fmt::Result {
    for (status, heading) in [
        (Status::Fail, "Failed"),
        (Status::Flaky, "Flaky"),
        (Status::Broken, "Broken"),
        (Status::Known, "Known to fail"),
        (Status::Warn, "Warnings"),
        (Status::Advice, "Advice"),
    ] {
        let rules = rules_with_status(report, status);
        if rules.is_empty() {
            continue;
        }
        writeln!(page, "<section id=\"{}\" class=\"rules\"><h2>{heading}</h2>", anchor_of(status))?;
        for (index, rule) in rules.into_iter().enumerate() {
            // The first failures are the most important.
            let open = if matches!(status, Status::Fail | Status::Flaky) && index < 3 { " open" } else { "" };
            in_full(page, report, rule, open)?;
        }
        page.push_str("</section>\n");
    }
    Ok(())
}

/// The place of the rules with this status, where they have one of their own.
fn anchor_of(status: Status) -> String {
    format!("status-{}", class(status))
}

/// The attributes of a link to the rules with this status: where they are shown in detail or folded, else the table, in which the
/// script chooses them.
pub fn reached(status: Status) -> String {
    match IN_FULL.contains(&status) || UNJUDGED.contains(&status) {
        true => format!("href=\"#{}\" data-pick=\"\"", anchor_of(status)),
        false => format!("href=\"#all\" data-pick=\"{}\"", status.word()),
    }
}

/// The first finding on one line, for a rule that is folded.
fn briefly(rule: &RuleResult) -> Option<String> {
    let first = rule.findings.first()?;
    let places = rule.findings.iter().map(|finding| 1 + finding.alike).sum::<usize>() + rule.further;
    let subject = if first.subject.is_empty() { "" } else { &format!("`{}`: ", middle(&first.subject, WIDTH)) };
    let more = if places > 1 { &format!(", and {} more", places - 1) } else { "" };
    Some(prose(&format!("{subject}{}{more}", sentence(&first.message, 2 * WIDTH))))
}

fn in_full(page: &mut String, report: &RunReport, rule: &RuleResult, open: &str) -> std::fmt::Result {
    let status = standing(report, rule);
    let anchor = anchor(report, rule);
    write!(page, "<details id=\"{anchor}\" class=\"rule {}\" {}{open}>", class(status), data(status, rule))?;
    write!(page, "<summary><span class=\"tag\">{}</span><code>{}</code>", status.word(), text(&rule.id))?;
    write!(page, " <a class=\"anchor\" href=\"#{anchor}\" title=\"link to this rule\">#</a>")?;
    if report.revisions.len() > 1 {
        write!(page, " <span class=\"faint\">{}</span>", rule.revision)?;
    }
    write!(page, "<br>{}", prose(&rule.statement))?;
    if let Some(found) = briefly(rule) {
        write!(page, "<br class=\"brief\"><span class=\"brief\">{found}</span>")?;
    }
    writeln!(page, "</summary>\n<div>")?;
    if let Some(reason) = &rule.reason {
        writeln!(page, "<p>{}</p>", prose(reason))?;
    }
    findings(page, report, rule)?;
    for Remark { label, text, is_code } in remarks(rule) {
        match is_code {
            true => writeln!(page, "<p class=\"faint\">{label}</p><pre>{}</pre>", lines(&text))?,
            false => writeln!(page, "<p><span class=\"faint\">{label}</span> {}</p>", prose(&text))?,
        }
    }
    match link(&rule.source, rule.revision) {
        Some(link) => {
            let link = text(&link);
            writeln!(
                page,
                "<p><span class=\"faint\">source</span> <a href=\"{link}\" rel=\"noreferrer\">{link}</a></p>"
            )?;
        }
        None => writeln!(page, "<p><span class=\"faint\">source</span> {}</p>", text(&rule.source))?,
    }
    writeln!(page, "</div></details>")
}

fn findings(page: &mut String, report: &RunReport, rule: &RuleResult) -> std::fmt::Result {
    let (shown, folded) = rule.findings.split_at(SHOWN.min(rule.findings.len()));
    for (index, each) in shown.iter().enumerate() {
        finding(page, each, last_in_timeline(report), if index == 0 { " open" } else { "" })?;
    }
    if !folded.is_empty() {
        writeln!(page, "<details><summary class=\"faint\">and {} more</summary>", folded.len())?;
        for each in folded {
            finding(page, each, last_in_timeline(report), "")?;
        }
        page.push_str("</details>\n");
    }
    if rule.further > 0 {
        writeln!(page, "<p class=\"faint\">and {} more, only counted</p>", rule.further)?;
    }
    Ok(())
}

/// The suffix of a link to the rule.
fn anchor(report: &RunReport, rule: &RuleResult) -> String {
    match report.revisions.len() {
        0 | 1 => format!("rule-{}", text(&rule.id)),
        _ => format!("rule-{}-{}", text(&rule.id), rule.revision),
    }
}

/// The last frame in the timeline of the report.
fn last_in_timeline(report: &RunReport) -> u64 {
    report.timeline.last().map_or(0, |moment| moment.frame)
}

fn finding(page: &mut String, finding: &Finding, last: u64, open: &str) -> std::fmt::Result {
    writeln!(
        page,
        "<div class=\"finding\"><p><code>{}</code></p><p>{}</p>",
        text(&finding.subject),
        prose(&finding.message)
    )?;
    if let Some(world) = finding.world.as_ref().filter(|world| !world.is_usual()) {
        writeln!(page, "<p><span class=\"faint\">world</span> {}</p>", prose(&world.described()))?;
    }
    if let (Some(expected), Some(received)) = (&finding.expected, &finding.received) {
        page.push_str("<pre>");
        match contrast(expected, received, WIDTH) {
            Contrast::Lines { expected, received, .. } => write!(
                page,
                "<span class=\"expected\">expected  {}</span>\n<span class=\"received\">received  {}</span>",
                text(&expected),
                text(&received)
            )?,
            Contrast::Parts(parts) => {
                for line in parts {
                    let (class, sign) = match line.side {
                        Side::Both => ("faint", "  "),
                        Side::Expected => ("expected", "- "),
                        Side::Received => ("received", "+ "),
                        Side::Gap => ("faint", "  …"),
                    };
                    writeln!(page, "<span class=\"{class}\">{sign}{}</span>", lines(&line.text))?;
                }
            }
        }
        page.push_str("</pre>\n");
    }
    if finding.alike > 0 {
        let places = if finding.alike == 1 { "place" } else { "places" };
        writeln!(page, "<p class=\"faint\">and the same in {} more {places}</p>", finding.alike)?;
    }
    writeln!(page, "<details{open}><summary class=\"faint\">messages and rerun</summary>")?;
    if !finding.messages.is_empty() {
        page.push_str("<pre>");
        for (at, message) in finding.messages.iter().enumerate() {
            let number = message.frame;
            let message = &terse(message, finding, MESSAGE);
            let fault = if at + 1 == finding.messages.len() { fault(message, finding) } else { None };
            let (line, part) = shown(&message.text, fault.unwrap_or(0..0), MESSAGE);
            let (before, inside, after) = (&line[..part.start], &line[part.clone()], &line[part.end..]);
            let marked = if inside.is_empty() { String::new() } else { format!("<mark>{}</mark>", lines(inside)) };
            // The timeline may be truncated before this frame, so there is nothing to link to.
            let number = match number <= last {
                true => format!("<a href=\"#frame-{number}\">#{number}</a>"),
                false => format!("#{number}"),
            };
            writeln!(page, "{number} {}  {}{marked}{}", message.from, lines(before), lines(after))?;
        }
        page.push_str("</pre>\n");
    }
    let actions = finding.world.as_ref().map(|world| &world.actions).filter(|actions| !actions.is_null());
    if let Some(actions) = actions {
        let summary = "<summary class=\"faint\">MCP_CONFORMANCE_ACTIONS</summary>";
        writeln!(page, "<details>{summary}<pre>{}</pre></details>", lines(&actions.to_string()))?;
    }
    for (label, command) in [("rerun", &finding.reproduce), (BY_HAND, &finding.by_hand), ("suite", &finding.yaml)] {
        match command {
            // It may be many lines, which few readers need.
            Some(command) if label == BY_HAND => {
                let summary = format!("<summary class=\"faint\">{label}</summary>");
                writeln!(page, "<details>{summary}<pre>{}</pre></details>", lines(command))?;
            }
            Some(command) => writeln!(page, "<p class=\"faint\">{label}</p><pre>{}</pre>", lines(command))?,
            None => {}
        }
    }
    writeln!(page, "</details></div>")
}

pub fn form(page: &mut String, report: &RunReport) -> std::fmt::Result {
    let choice = |name: &str, all: &str, values: Vec<String>| {
        let options: String = values.iter().map(|value| format!("<option>{}</option>", text(value))).collect();
        format!("<select name=\"{name}\" aria-label=\"{name}\"><option value=\"\">{all}</option>{options}</select>\n")
    };
    let suites: IndexSet<_> = report.rules.iter().map(|rule| rule.suite.clone()).collect();
    let seen = STATUSES.into_iter().filter(|status| report.rules.iter().any(|rule| standing(report, rule) == *status));
    let statuses = choice("status", "any verdict", seen.map(|status| status.word().to_owned()).collect());
    let levels = ["must", "should", "advice", "may"].map(str::to_owned).to_vec();
    let levels = choice("level", "any level", levels);
    let suites = choice("suite", "any suite", suites.into_iter().collect());
    writeln!(
        page,
        "<form><input type=\"search\" name=\"text\" placeholder=\"filter ( / )\" aria-label=\"filter\">\n\
         {statuses}{levels}{suites}<output id=\"shown\" class=\"faint\"></output></form>"
    )
}

pub fn all(page: &mut String, report: &RunReport) -> std::fmt::Result {
    let of = |status| report.rules.iter().filter(move |rule| standing(report, rule) == status).collect::<Vec<_>>();
    let judged: Vec<_> = report.rules.iter().filter(|rule| !UNJUDGED.contains(&standing(report, rule))).collect();
    let folded = report.rules.len() - judged.len();
    let rest =
        if folded > 0 { format!("; {folded} more, which were not judged, are folded below") } else { String::new() };
    let (count, plural) = (judged.len(), if judged.len() == 1 { "" } else { "s" });
    writeln!(page, "<section id=\"all\"><h2>All rules</h2>\n<p class=\"faint\">{count} result{plural}{rest}</p>")?;
    table(page, report, &judged)?;
    let noun = report.target.subject.noun();
    for (status, what) in UNJUDGED.into_iter().zip(["not exercised", "not applicable to this"]) {
        let rules = of(status);
        if rules.is_empty() {
            continue;
        }
        let noun = if status == Status::NotApplicable { format!(" {noun}") } else { String::new() };
        let (count, plural) = (rules.len(), if rules.len() == 1 { "" } else { "s" });
        let summary = format!("<summary>{count} rule{plural}: {what}{noun}</summary>");
        writeln!(page, "<details id=\"{}\" data-folded=\"{}\">{summary}", anchor_of(status), status.word())?;
        table(page, report, &rules)?;
        page.push_str("</details>\n");
    }
    page.push_str("</section>\n");
    Ok(())
}

/// The statuses of rules that are shown in detail, with an anchor, before the table.
const IN_FULL: [Status; 6] = [Status::Fail, Status::Flaky, Status::Broken, Status::Known, Status::Warn, Status::Advice];

fn table(page: &mut String, report: &RunReport, rules: &[&RuleResult]) -> std::fmt::Result {
    page.push_str("<div class=\"scroll\"><table>\n<tbody>\n");
    for rule in rules {
        let status = standing(report, rule);
        let revision = if report.revisions.len() > 1 { format!(" ({})", rule.revision) } else { String::new() };
        let reason = rule.reason.as_deref().map(|reason| format!("<br><span class=\"faint\">{}</span>", prose(reason)));
        let anchor = anchor(report, rule);
        let id = if IN_FULL.contains(&status) { String::new() } else { format!(" id=\"{anchor}\"") };
        writeln!(
            page,
            "<tr{id} class=\"{}\" {}><td><span class=\"tag\">{}</span></td><td><a href=\"#{anchor}\"><code>{}</code></a>{revision}<br>\
             <span class=\"faint\">{}</span>{}</td><td class=\"wide faint\">{}</td></tr>",
            class(status),
            data(status, rule),
            status.word(),
            text(&rule.id),
            prose(&rule.statement),
            reason.unwrap_or_default(),
            text(&rule.suite),
        )?;
    }
    writeln!(page, "</tbody>\n</table></div>")
}

/// The attributes that the filter uses.
fn data(status: Status, rule: &RuleResult) -> String {
    format!(
        "data-status=\"{}\" data-level=\"{}\" data-suite=\"{}\"",
        status.word(),
        rule.level.word(),
        text(&rule.suite)
    )
}
