//! The course of every command that tests something: what is read before anything starts, and what is written at the
//! end.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use super::{
    abort_report,
    baseline::{Baseline, saw_all},
    outputs,
};
use crate::{
    assess,
    cli::{OutputArgs, SelectArgs, TargetArgs},
    error::Error,
    evidence::{Evidence, Side},
    outcome::RunReport,
    plan::Filter,
    run::{inputs::suites::load, process::Surroundings},
    suite::Suite,
};

/// The options and files. They are read before anything starts, so that mistakes are reported at once.
pub struct Course<'a> {
    pub suites: Vec<Suite>,
    pub filter: Filter,
    terms: Vec<String>,
    own_suites: &'a [PathBuf],
    baseline: Baseline,
    outputs: Vec<outputs::Output>,
    output: &'a OutputArgs,
    transcript: Option<&'a Path>,
}

impl<'a> Course<'a> {
    /// `side` is the party under test.
    pub fn read(
        side: Side,
        select: &'a SelectArgs,
        output: &'a OutputArgs,
        transcript: Option<&'a Path>,
        surroundings: &Surroundings,
    ) -> Result<Self, Error> {
        Self::of(load(&[side], &select.suite, surroundings.color)?, select, output, transcript)
    }

    /// The same with these suites.
    pub fn of(
        suites: Vec<Suite>,
        select: &'a SelectArgs,
        output: &'a OutputArgs,
        transcript: Option<&'a Path>,
    ) -> Result<Self, Error> {
        let outputs = outputs::wanted(&output.forms)?;
        outputs::try_path(transcript)?;
        let terms = select.terms();
        let filter = Filter::new(&terms, &suites)?;
        let baseline = Baseline::wanted(output, &suites)?;
        Ok(Self { suites, filter, terms, own_suites: &select.suite, baseline, outputs, output, transcript })
    }

    /// Reports why there is no evidence.
    pub fn abort(self, error: &Error, took: Duration, target: &TargetArgs, surroundings: &Surroundings) -> u8 {
        let given = (target, self.output);
        abort_report::tell_of(error, error.exit_code(), took, self.outputs, given, Vec::new(), surroundings)
    }

    /// Judges the evidence, and writes the requested outputs. `options` are those that test the same again, and
    /// `complete` adds to the report what does not rest on this evidence.
    pub fn conclude(
        self,
        mut evidence: Evidence,
        options: String,
        complete: impl FnOnce(&mut RunReport),
        surroundings: &Surroundings,
    ) -> u8 {
        evidence.header.scope.filter = self.terms;
        evidence.header.target.options = options;
        let forms = &self.output.forms;
        let how = assess::Options {
            filter: &self.filter,
            strict: self.output.strict,
            own_suites: self.own_suites,
            illustrated: outputs::illustrated(forms),
        };
        let mut report = assess::assess(&evidence, &self.suites, &how);
        complete(&mut report);
        let settled =
            self.baseline.settle(&mut report, self.output, &evidence.header.end, &saw_all(&evidence, &self.suites));
        let saved = self.transcript.map_or(Ok(()), |path| outputs::save_transcript(path, &evidence));
        let written = outputs::write(&self.outputs, &report, forms, surroundings);
        outputs::exit_code(report.exit_code, [settled, saved, written])
    }
}
