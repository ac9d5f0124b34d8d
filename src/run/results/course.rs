//! The course of every command that tests something: from the options to evidence, and from evidence to reports and an
//! exit code.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use super::{baseline::Baseline, outputs};
use crate::{
    assess,
    cli::{Accept, FormArgs, OutputArgs, ProfileArgs, SelectArgs},
    error::Error,
    evidence::{Evidence, Recorder, Side},
    judge,
    outcome::{GivenLevel, RunReport},
    plan::Filter,
    run::{
        inputs::{profiles, suites::load},
        process::{
            Surroundings,
            interrupts::Interrupts,
            progress::{Counts, Progress},
            strays::supervised,
        },
    },
    suite::{Suite, give_levels},
};

/// A test that yields evidence about one party.
pub struct Conduct<'a, W> {
    /// The party, for messages.
    pub party: &'static str,
    pub recorder: &'a Recorder,
    pub interrupts: &'a Interrupts,
    /// What a progress line counts, and how long one request may take.
    pub progress: Option<(&'a Arc<Counts>, Duration)>,
    pub work: W,
}

/// The options and files. They are read before anything starts, so that mistakes are reported at once.
pub struct Course<'a> {
    pub suites: Vec<Suite>,
    pub filter: Filter,
    /// The terms of the filter, and the levels that the configuration gives to rules.
    pub terms: Vec<String>,
    pub levels: BTreeMap<String, GivenLevel>,
    pub own_suites: &'a [PathBuf],
    pub baseline: Baseline,
    pub profiles: Profiles,
    pub strict: bool,
    pub output: &'a OutputArgs,
    pub transcript: Option<&'a Path>,
}

/// The profiles, which are judged on the same evidence, and never part of the verdict.
#[derive(Default)]
pub struct Profiles {
    pub suites: Vec<Suite>,
    pub filter: Filter,
    /// Whether a rule of one that fails also fails the run.
    pub fail: bool,
}

impl Profiles {
    /// Those of the options. `terms` select among their rules and those of `suites`.
    pub fn wanted(
        args: &ProfileArgs,
        terms: &[String],
        suites: &[Suite],
        levels: &BTreeMap<String, GivenLevel>,
        color: bool,
    ) -> Result<Self, Error> {
        let mut own = profiles::load(&args.profile, color)?;
        give_levels(&mut own, levels);
        let filter = Filter::of(terms, &profiles::with(suites, &own))?;
        Ok(Self { suites: own, filter, fail: !args.fail_on.is_empty() })
    }

    fn judged(&self) -> judge::profiles::Profiles<'_> {
        judge::profiles::Profiles::new(&self.suites, &self.filter)
    }

    fn complete(&self, report: &mut RunReport) {
        report.fail_on_profile = self.fail;
        conform_sdks::advise(report);
    }
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
        Self::of(load(&[side], &select.suite, surroundings.color)?, side, select, output, transcript)
    }

    /// Whether only some rules are to be judged.
    pub fn is_narrow(&self) -> bool {
        !self.terms.is_empty()
    }

    /// The same with these suites.
    pub fn of(
        suites: Vec<Suite>,
        side: Side,
        select: &'a SelectArgs,
        output: &'a OutputArgs,
        transcript: Option<&'a Path>,
    ) -> Result<Self, Error> {
        outputs::try_path(transcript)?;
        accepts(output, side)?;
        let terms = select.terms();
        let filter = Filter::new(&terms, &suites)?;
        let baseline = Baseline::wanted(output, &profiles::with(&suites, &[]))?;
        let (levels, own_suites, strict) = (BTreeMap::new(), select.suite.as_slice(), output.strict);
        let profiles = Profiles::default();
        Ok(Self { suites, filter, terms, levels, own_suites, baseline, profiles, strict, output, transcript })
    }

    /// Does the work, shows its progress on a terminal, and kills all its processes at the end.
    pub fn conduct(
        &self,
        test: Conduct<'_, impl Future<Output = Result<Evidence, Error>>>,
        surroundings: &Surroundings,
    ) -> Result<Evidence, Error> {
        let Conduct { party, recorder, interrupts, progress, work } = test;
        let progress = progress.filter(|_| !self.output.forms.quiet);
        let shown = progress.map(|(counts, patience)| Progress::show(recorder, counts, patience, surroundings.status));
        let conducted = supervised(party, interrupts, work);
        drop(shown);
        let (mut evidence, left) = conducted?;
        evidence.header.notes.extend(left);
        let scope = &mut evidence.header.scope;
        (scope.filter, scope.levels) = (self.terms.clone(), self.levels.clone());
        Ok(evidence)
    }

    fn assessed(&self, evidence: &Evidence, illustrated: bool) -> RunReport {
        let (filter, strict, own_suites) = (&self.filter, self.strict, self.own_suites);
        let profiles = self.profiles.judged();
        assess::assess(evidence, &self.suites, &assess::Options { filter, strict, own_suites, illustrated, profiles })
    }

    fn name_sdks(&self, report: &mut RunReport) {
        conform_sdks::mark(report);
        if self.output.accept.contains(&Accept::Sdk) && conform_sdks::accept(report) > 0 {
            assess::verdict::total(report);
        }
    }

    /// The terms of a filter for the rules that fail the run; empty if there are none.
    pub fn failing(&self, evidence: &Evidence) -> Vec<String> {
        let mut report = self.assessed(evidence, false);
        self.name_sdks(&mut report);
        report.rules.retain(|rule| self.baseline.fails(rule, self.strict));
        assess::filter_of(&report, evidence)
    }

    /// Judges the evidence, and compares the verdicts with the baseline. `complete` adds what this evidence does not say.
    pub fn judge(self, mut evidence: Evidence, complete: impl FnOnce(&mut Evidence, &mut RunReport)) -> Tested {
        let mut report = self.assessed(&evidence, outputs::illustrated(&self.output.forms));
        complete(&mut evidence, &mut report);
        self.name_sdks(&mut report);
        let saw_all = assess::saw_all(&evidence, &self.suites);
        self.profiles.complete(&mut report);
        let settled = self.baseline.settle(&mut report, self.output, &evidence.header.end, &saw_all);
        report.settle_profiles();
        // A file that cannot be written does not prevent the others.
        let saved = self.transcript.map_or(Ok(()), |path| outputs::save_transcript(path, &evidence));
        Tested { failure: assess::failure::without_results(&report, &evidence), report, kept: [settled, saved] }
    }
}

/// Rejects `--accept sdk` where it has no effect.
pub fn accepts(output: &OutputArgs, side: Side) -> Result<(), Error> {
    if output.accept.is_empty() || side == Side::Server {
        return Ok(());
    }
    Err(Error::Usage {
        message: "--accept sdk is for servers: what SDKs of clients do is not known yet".into(),
        help: Some("--write-baseline PATH accepts the current failures".into()),
    })
}

/// A finished test whose reports are not written yet.
pub struct Tested {
    pub report: RunReport,
    /// Why the report has no results, if so.
    pub failure: Option<Error>,
    /// Whether the other requested files could be written.
    kept: [Result<(), Error>; 2],
}

impl Tested {
    /// Writes the reports; the value is the exit code.
    pub fn write(self, wanted: Vec<outputs::Output>, forms: &FormArgs, surroundings: &Surroundings) -> (u8, RunReport) {
        let Self { report, failure, kept } = self;
        let written = outputs::write(&outputs::beside(failure.as_ref(), wanted), &report, forms, surroundings);
        (outputs::exit_code(report.exit_code, kept.into_iter().chain([written])), report)
    }
}
