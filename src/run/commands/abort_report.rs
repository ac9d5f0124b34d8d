//! A run that ended before there was anything to report: every report that was asked for says why.
//!
//! An empty file would be no `JUnit`, no JSON and no SARIF, and what a former run left there would be taken for this one's.

use std::time::Duration;

use serde_json::Value;

use super::outputs::{self, Output};
use crate::{
    assess::verdict::without_results,
    cli::RunArgs,
    error::Error,
    outcome::{RunReport, Subject, TargetReport},
    run::{
        inputs::{configured, target},
        process::Surroundings,
    },
};

/// Tells why on stderr and in the reports; the value is the exit code.
pub fn tell(
    error: &Error,
    code: u8,
    took: Duration,
    wanted: Vec<Output>,
    args: &RunArgs,
    surroundings: &Surroundings,
) -> u8 {
    let wanted = outputs::beside(Some(error), wanted);
    let target = described(args, surroundings);
    let report = without_results(target, error.in_short(), took, args.output.strict, code);
    let partition = args.partition.iter().map(ToString::to_string).collect();
    let written = outputs::write(&wanted, &RunReport { partition, ..report }, &args.output.forms, surroundings);
    outputs::exit_code(code, [written])
}

/// The server, as far as the mistake lets it be known.
fn described(args: &RunArgs, surroundings: &Surroundings) -> TargetReport {
    let known = target::target(&args.target, surroundings).ok().map(|(target, ..)| target);
    let options = target::options(&args.target);
    let transport = known.as_ref().map_or("unknown", |target| target.start.transport()).to_owned();
    TargetReport {
        subject: Subject::Server,
        name: known.map_or_else(|| options.clone(), |target| target.name),
        options,
        command: None,
        config: configured::shown(&args.target, surroundings),
        transport,
        server: None,
        client: None,
        capabilities: Value::Null,
        revisions: Vec::new(),
    }
}
