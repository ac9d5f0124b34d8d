//! Reports: a report that can be read is rendered in every format, and its text is escaped.

use clap::ValueEnum;

use super::text::is_hidden;
use mcp_conform::{
    outcome::RunReport,
    report::{Format, Style, Verbosity, compare, read, render},
};

/// A report as JSON.
pub fn report(bytes: &[u8]) {
    if let Ok(report) = read(&String::from_utf8_lossy(bytes)) {
        shown(&report);
    }
}

/// Every format can be rendered, and contains only visible characters and line breaks.
pub fn shown(report: &RunReport) {
    for &format in Format::value_variants() {
        let text = render(format, report, &Style::default());
        let allowed = |c: char| c == '\n' || (c == '\t' && format == Format::Html);
        assert!(!text.contains(|c| is_hidden(c) && !allowed(c)), "{format:?}: {text:?}");
    }
    for verbosity in [Verbosity::Quiet, Verbosity::Findings, Verbosity::Verbose] {
        for (width, color) in [(1, false), (100, true)] {
            let text = render(Format::Human, report, &Style { width, color, links: color, verbosity });
            // Colours alone are escapes.
            assert!(!text.contains(|c| is_hidden(c) && c != '\n' && !(color && c == '\u{1b}')), "{text:?}");
        }
    }
    let again = read(&render(Format::Json, report, &Style::default())).expect("it is JSON");
    assert_eq!(&again, report);
    compare(report, &again);
}
