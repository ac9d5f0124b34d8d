//! The matrix as `JUnit` XML: a `testsuite` for each suite of each server.

use quick_junit::{Report, TestSuite};

use super::Matrix;
use crate::junit::{self, shown};
use conform_model::outcome::RunReport;

pub fn render(matrix: &Matrix) -> String {
    let mut xml = Report::new(shown(&format!("{} matrix", matrix.tool.name)));
    xml.add_test_suites(matrix.rows.iter().flat_map(|row| row.tests.iter().cloned()));
    junit::written(&xml)
}

/// The suites of one server, which its name sets apart from those of the others.
pub fn of_server(name: &str, report: &RunReport) -> Vec<TestSuite> {
    let mut suites = junit::suites(report, false);
    for suite in &mut suites {
        let named = shown(&format!("{name}: {}", suite.name.as_str()));
        suite.test_cases.iter_mut().for_each(|case| _ = case.set_classname(named.as_str()));
        suite.name = named.into();
    }
    suites
}
