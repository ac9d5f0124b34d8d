//! Every result has the shape for its method and revision. This catches what the rules on single fields do not.

use crate::checks::{Check, Fault, Given, Report};

use conform_suite::shape;

pub const CHECK: Check = Check { name: "result-shape", given: &["method", "result"], run };

fn run(given: &Given) -> Report {
    let Some(name) = shape::result_shape(given.text("method"), given.revision) else { return Report::default() };
    let faults: Vec<Fault> = shape::violations(name, given.revision, given.value("result"))
        .into_iter()
        .map(|violation| {
            let member = violation.pointer.trim_start_matches('/').replace('/', ".");
            let message =
                if member.is_empty() { violation.message } else { format!("`{member}` {}", violation.message) };
            Fault { given: "result", pointer: violation.pointer, message, ..Fault::default() }
        })
        .collect();
    Report::of(faults)
}
