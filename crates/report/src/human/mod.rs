//! The report for people: failures first, totals last, where a terminal stops scrolling.

mod calls;
mod cost;
mod evidence;
mod findings;
mod header;
pub(super) mod page;
pub(super) mod profiles;
mod recap;
mod reproduce;
pub(super) mod table;
pub(super) mod totals;

pub(super) use self::{
    evidence::{fault, terse},
    profiles::{LEGEND, Rows, WHOLE, letter, seen, told, with_sdk},
    totals::ended,
};

use self::page::Page;
pub use self::{header::agreed, header::revisions, totals::meaning};
use super::{Style, Verbosity};
use conform_model::outcome::{RuleResult, RunReport};

pub(super) fn render(report: &RunReport, style: &Style) -> String {
    let mut page = Page::new(*style);
    if style.verbosity == Verbosity::Quiet {
        recap::names(&mut page, report);
        profiles::summaries(&mut page, report);
        totals::totals(&mut page, report);
        return page.finish();
    }
    header::header(&mut page, report);
    findings::findings(&mut page, report);
    if style.verbosity == Verbosity::Findings {
        profiles::profiles(&mut page, report);
        recap::recap(&mut page, report);
        totals::totals(&mut page, report);
        return page.finish();
    }
    if style.verbosity == Verbosity::Verbose {
        table::rules(&mut page, report);
    }
    calls::calls(&mut page, report);
    cost::cost(&mut page, report);
    table::suites(&mut page, report);
    table::unjudged(&mut page, report);
    totals::notes(&mut page, report);
    profiles::profiles(&mut page, report);
    recap::recap(&mut page, report);
    totals::totals(&mut page, report);
    page.finish()
}

/// The details of one rule, for formats with a text field.
pub fn explanation(rule: &RuleResult) -> String {
    let mut page = Page::new(Style { width: 100, verbosity: Verbosity::Excerpt, ..Style::default() });
    findings::explain(&mut page, 0, rule);
    page.finish()
}
