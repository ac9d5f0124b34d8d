//! A run that failed before it had results: every requested report says why.
//!
//! An empty file would not be valid `JUnit`, JSON or SARIF. An old file would be taken for the result of this run.

use std::time::Duration;

use serde_json::Value;

use super::outputs::{self, Output};
use crate::{
    assess::verdict::without_results,
    cli::{OutputArgs, RunArgs, TargetArgs},
    error::Error,
    outcome::{RunReport, Subject, TargetReport},
    run::{
        inputs::{again, configured, target},
        process::Surroundings,
    },
};

/// Prints the error on stderr and writes it to the reports; the value is the exit code.
pub fn tell(
    error: &Error,
    code: u8,
    took: Duration,
    wanted: Vec<Output>,
    args: &RunArgs,
    surroundings: &Surroundings,
) -> u8 {
    let partition = args.partition.iter().map(ToString::to_string).collect();
    tell_of(error, code, took, wanted, (&args.target, &args.output), partition, surroundings)
}

/// The same for any command that tests a server.
pub fn tell_of(
    error: &Error,
    code: u8,
    took: Duration,
    wanted: Vec<Output>,
    (of_target, of_output): (&TargetArgs, &OutputArgs),
    partition: Vec<String>,
    surroundings: &Surroundings,
) -> u8 {
    let wanted = outputs::beside(Some(error), wanted);
    let target = described(of_target, surroundings);
    let report = without_results(target, error.in_short(), took, of_output.strict, code);
    let written = outputs::write(&wanted, &RunReport { partition, ..report }, &of_output.forms, surroundings);
    outputs::exit_code(code, [written])
}

/// The server, as far as it is known despite the error.
fn described(args: &TargetArgs, surroundings: &Surroundings) -> TargetReport {
    let known = target::target(args, surroundings).ok().map(|(target, ..)| target);
    let options = again::options(args);
    let transport = known.as_ref().map_or("unknown", |target| target.start.transport().as_str()).to_owned();
    TargetReport {
        subject: Subject::Server,
        name: known.map_or_else(|| options.clone(), |target| target.name),
        options,
        command: None,
        config: configured::shown(args, surroundings),
        transport,
        sdks: Vec::new(),
        server: None,
        client: None,
        capabilities: Value::Null,
        revisions: Vec::new(),
    }
}
