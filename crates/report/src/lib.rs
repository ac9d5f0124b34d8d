//! A run report in the formats that people, pipelines and tools read: one file per format, each a function of the
//! report.
//!
//! Begin at [`render`], and at the file of a format. `matrix` puts the reports on many servers into one table.
//!
//! It uses `conform-model`. Not the suites: a format is a function of the report.

mod badge;
mod compare;
mod diff;
mod github;
mod html;
mod human;
mod json;
mod junit;
mod link;
mod markdown;
pub mod matrix;
mod remarks;
mod sarif;
mod sections;
mod served;
mod tally;
mod tap;
mod text;

use clap::ValueEnum;

use conform_model::outcome::RunReport;

pub use compare::compare;
pub use human::{explanation, meaning, revisions};
pub use json::{read, schema};
pub use link::link;
pub use text::{first_lines, flow, plain};

/// The formats of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum Format {
    /// For reading in a terminal or a log
    Human,
    /// One file for a browser, with a filter, the messages and a drawing of the resources
    Html,
    /// Everything, for programs; documented and versioned
    Json,
    /// For CI systems; with --verbose also rules that were not judged, as skipped tests
    Junit,
    /// TAP 14, for test harnesses
    Tap,
    /// SARIF 2.1.0, for what collects the results of analyses
    Sarif,
    /// For job summaries and comments
    Markdown,
    /// Annotations of GitHub Actions
    Github,
    /// The counts for a badge, as shields.io reads them
    Badge,
}

/// How detailed the human report is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verbosity {
    /// Names of failed rules, and the totals.
    Quiet,
    /// All rules that need attention.
    #[default]
    Normal,
    /// All findings of these rules, and nothing besides.
    Findings,
    /// Everything, with a line for each rule.
    Verbose,
    /// One rule inside of another format, where no option shows more.
    Excerpt,
}

/// The output of the human report. Of the other formats only `junit` depends on it: `verbosity` adds skipped tests.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Maximum width of lines; only commands to copy may be longer.
    pub width: usize,
    pub color: bool,
    /// Whether the terminal opens links in the text (OSC 8).
    pub links: bool,
    pub verbosity: Verbosity,
}

impl Default for Style {
    fn default() -> Self {
        Self { width: 80, color: false, links: false, verbosity: Verbosity::Normal }
    }
}

/// The complete report, ending in a line break.
pub fn render(format: Format, report: &RunReport, style: &Style) -> String {
    match format {
        Format::Human => human::render(report, style),
        Format::Json => json::render(report),
        Format::Junit => junit::render(report, style.verbosity == Verbosity::Verbose),
        Format::Tap => tap::render(report),
        Format::Sarif => sarif::render(report),
        Format::Markdown => markdown::render(report),
        Format::Html => html::render(report),
        Format::Github => github::render(report),
        Format::Badge => badge::render(report),
    }
}
