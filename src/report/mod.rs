//! A run report in the forms that people, pipelines and tools read: one file a format, each a function of the report.

mod diff;
mod human;
mod json;
mod junit;
mod link;
mod tally;
mod text;

use clap::ValueEnum;

use crate::outcome::RunReport;

pub use json::read;
pub use text::plain;

/// The forms a report can take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum Format {
    /// For reading in a terminal or a log
    Human,
    /// Everything, for programs; documented and versioned
    Json,
    /// For CI systems
    Junit,
}

/// How much the human report tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verbosity {
    /// What failed by name, and the totals.
    Quiet,
    /// All that needs attention.
    #[default]
    Normal,
    /// Nothing left out, and a line for each rule.
    Verbose,
}

/// What the human report is written for. The other formats do not depend on it.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Columns; only commands to copy go beyond.
    pub width: usize,
    pub color: bool,
    pub verbosity: Verbosity,
}

impl Default for Style {
    fn default() -> Self {
        Self { width: 80, color: false, verbosity: Verbosity::Normal }
    }
}

/// The whole report, ending in a line break.
pub fn render(format: Format, report: &RunReport, style: &Style) -> String {
    match format {
        Format::Human => human::render(report, style),
        Format::Json => json::render(report),
        Format::Junit => junit::render(report),
    }
}
