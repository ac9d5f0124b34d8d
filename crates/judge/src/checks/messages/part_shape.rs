//! Every result, and the parameters of every request and notification, have the shape for their method and revision.
//! This catches what the rules on single fields do not.

use crate::checks::{Check, Fault, Given, Report};

use conform_suite::shape;

pub const RESULT: Check = Check { name: "result-shape", given: &["method", "result"], run: result };
pub const PARAMS: Check = Check { name: "params-shape", given: &["method", "params"], run: params };

fn result(given: &Given) -> Report {
    matched(given, "result", shape::result_shape(given.text("method"), given.revision))
}

fn params(given: &Given) -> Report {
    matched(given, "params", shape::params_shape(given.text("method"), given.revision))
}

fn matched(given: &Given, part: &'static str, shape: Option<&str>) -> Report {
    let Some(shape) = shape else { return Report::default() };
    let fault = |violation: shape::Violation| {
        let field = violation.pointer.trim_start_matches('/').replace('/', ".");
        let message = if field.is_empty() { violation.message } else { format!("`{field}` {}", violation.message) };
        Fault { given: part, pointer: violation.pointer, message, ..Fault::default() }
    };
    Report::of(shape::violations(shape, given.revision, given.value(part)).into_iter().map(fault).collect())
}
