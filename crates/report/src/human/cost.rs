//! The table with the cost of a gateway.

use super::page::{FAINT, Page, TEXT, span};
use conform_model::outcome::{RunReport, Times};

const HEADINGS: [&str; 7] = ["size", "clients", "direct", "p99", "through", "p99", "memory"];
const WIDE: usize = 10;

pub fn cost(page: &mut Page, report: &RunReport) {
    if report.cost.is_empty() {
        return;
    }
    let line = |cells: &[String]| -> String { cells.iter().map(|cell| format!("{cell:>WIDE$}")).collect() };
    page.gap();
    page.line(0, &[span(FAINT, line(&HEADINGS.map(str::to_owned)))]);
    for row in &report.cost {
        let [direct, through] = [times(&row.direct), times(&row.through)];
        let memory = row.memory_bytes.map_or("·".to_owned(), |bytes| format!("{} MB", bytes / 1_000_000));
        let cells = [size(row.bytes), row.clients.to_string(), direct.0, direct.1, through.0, through.1, memory];
        page.line(0, &[span(TEXT, line(&cells))]);
    }
    let (calls, failed) = report
        .cost
        .iter()
        .fold((0, 0), |(calls, failed), row| (calls + row.through.calls, failed + row.through.failed));
    page.line(
        0,
        &[span(FAINT, format!("median and 99th percentile of {calls} calls through the gateway; failed: {failed}"))],
    );
}

fn times(times: &Times) -> (String, String) {
    if times.calls == 0 {
        return ("failed".to_owned(), "·".to_owned());
    }
    (milliseconds(times.median_us), milliseconds(times.p99_us))
}

fn milliseconds(us: u64) -> String {
    format!("{}.{} ms", us / 1000, us % 1000 / 100)
}

fn size(bytes: usize) -> String {
    if bytes < 1_000_000 { format!("{} kB", bytes / 1000) } else { format!("{} MB", bytes / 1_000_000) }
}
