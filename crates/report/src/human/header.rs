//! The target, the transport and the versions: one line, or two if one is too long.

use std::borrow::Cow;

use serde_json::Value;

use super::page::{FAINT, Page, RED, SEPARATOR, STRONG, TEXT, YELLOW, span};
use crate::{served, text::plain};
use conform_model::{
    outcome::{
        RunReport, Subject,
        excerpt::{columns, middle},
    },
    revision::Revision,
};

pub fn header(page: &mut Page, report: &RunReport) {
    let tool = format!("{} {}", report.tool.name, report.tool.version);
    let room = page.width().saturating_sub(columns(&tool) + columns(SEPARATOR));
    let target = middle(&plain(&shortened(&report.target.name, room)), room).into_owned();
    let stated = [("server", &report.target.server), ("client", &report.target.client)];
    let sides = stated.into_iter().filter_map(|(noun, info)| Some((noun, stated_as(info.as_ref()?))));
    // With only one side it is clear which one is meant.
    let both = report.target.subject == Subject::Both;
    let mut about: Vec<_> = sides.map(|(noun, info)| if both { format!("{noun} {info}") } else { info }).collect();
    about.extend(report.target.sdks.iter().map(|sdk| plain(&sdk.named()).into_owned()));
    about.extend([revisions(agreed(report)), report.target.transport.clone()]);
    about.retain(|part| !part.is_empty());

    let one_line =
        columns(&target) + about.iter().map(|part| columns(part) + columns(SEPARATOR)).sum::<usize>() <= room;
    let mut lines = vec![vec![(STRONG, tool), (STRONG, target)]];
    let about = about.into_iter().map(|part| (TEXT, part));
    if one_line {
        lines[0].extend(about);
    } else {
        lines.push(about.collect());
    }
    for line in lines {
        page.parts(line);
    }
    let worked = served::parts(report);
    if !worked.is_empty() {
        page.parts(worked.into_iter().map(|(part, fails)| (if fails { RED } else { FAINT }, part)));
    }
    for limit in &report.limits {
        page.hang(0, &[span(YELLOW, "limit  ")], TEXT, &plain(limit));
    }
}

/// A command that is too long, with only the last part of each long path, which is the distinctive one.
fn shortened(name: &str, room: usize) -> Cow<'_, str> {
    if columns(name) <= room || name.contains("://") {
        return name.into();
    }
    let short = |word: &str| match word.rsplit_once('/') {
        Some((directory, last)) if directory.len() > 2 && !last.is_empty() => format!("…/{last}"),
        _ => word.to_owned(),
    };
    name.split(' ').map(short).collect::<Vec<_>>().join(" ").into()
}

/// Name and version as a side sends them.
fn stated_as(info: &Value) -> String {
    let member = |name: &str| info.get(name).and_then(|value| value.as_str());
    let stated = match (member("name"), member("version")) {
        (Some(name), Some(version)) => format!("{name} {version}"),
        (Some(one), None) | (None, Some(one)) => one.to_owned(),
        (None, None) => info.to_string(),
    };
    middle(&plain(&stated), 40).into_owned()
}

/// The revisions that were tested, unless no revision was agreed on.
pub fn agreed(report: &RunReport) -> &[Revision] {
    if report.target.revisions.is_empty() { &[] } else { &report.revisions }
}

/// A short text for revisions.
pub fn revisions(revisions: &[Revision]) -> String {
    match revisions {
        [first, .., last] if revisions.len() > 2 && revisions == between(*first, *last) => format!("{first} to {last}"),
        _ => revisions.iter().map(|revision| revision.as_str()).collect::<Vec<_>>().join(", "),
    }
}

fn between(first: Revision, last: Revision) -> Vec<Revision> {
    Revision::ALL.into_iter().filter(|revision| (first..=last).contains(revision)).collect()
}
