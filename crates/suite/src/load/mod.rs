//! From suite files to suites, or to all mistakes in them.
//!
//! In a [`Suite`] from here, every name is bound and every path is parsed. That is why all of this happens before the
//! first byte is sent to a server.

mod action;
mod built_in;
mod clause;
mod ids;
mod lint;
mod members;
mod message;
mod probe;
mod profile;
mod rule;
mod step;
mod suite;
mod verb;
mod window;

use indexmap::IndexMap;

use super::{
    decode::Decode,
    diagnostic::{Diagnostic, Problems},
    file::SuiteFile,
    ground::SURVEY,
    model::Suite,
    yaml::{self, At, Tree},
};

pub use built_in::{built_in, built_in_profile, profiles};
pub use profile::profile;

/// The names that suites may use besides their own. An empty list disables the check.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Faults of the reference server.
    pub faults: Vec<String>,
    /// Worlds of the reference server that a client can connect to.
    pub worlds: Vec<String>,
    /// Native checks, each with the names of its `given`; a name that ends in `?` is optional.
    pub checks: IndexMap<String, Vec<String>>,
    pub shapes: Vec<String>,
    /// Methods of requests and notifications, in any revision.
    pub methods: Vec<String>,
    pub proposals: Vec<String>,
    /// What the survey saves, if the survey is not among the files.
    pub survey: Vec<String>,
    /// Names of `values` of a profile that is extended.
    pub values: Vec<String>,
    /// Ids of suites and rules that were loaded before.
    pub ids: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Every rule above `may` must name a fault that makes it fail.
    BuiltIn,
    User,
    /// Built-in and checked before, so names are not checked again.
    Trusted,
}

/// Parses and checks files, given as name and text.
pub fn load(files: &[(String, String)], known: &Known, origin: Origin) -> Result<Vec<Suite>, Vec<Diagnostic>> {
    let drafts = files.iter().map(|(name, text)| Draft::of(name, text, |problems| yaml::parse(text, problems)));
    let mut drafts: Vec<Draft> = drafts.collect();
    ids::check(&mut drafts, &known.ids);
    let survey = survey_saves(&drafts, known);
    let mut suites = Vec::new();
    let mut mistakes = Vec::new();
    for draft in drafts {
        let (suite, found) = draft.build(known, origin, &survey);
        suites.extend(suite);
        mistakes.extend(found);
    }
    if mistakes.is_empty() { Ok(suites) } else { Err(mistakes) }
}

/// A file that was parsed, but not yet checked.
struct Draft<'f> {
    file: &'f str,
    problems: Problems,
    typed: Option<SuiteFile>,
}

impl<'f> Draft<'f> {
    fn of(file: &'f str, text: &str, read: impl FnOnce(&mut Problems) -> Option<Tree>) -> Self {
        let mut problems = Problems::new(file, text);
        let mut typed = read(&mut problems).and_then(|tree| SuiteFile::decode(&tree, &mut problems));
        if let Some(typed) = typed.as_mut() {
            name_profile(typed);
        }
        Self { file, problems, typed }
    }

    fn build(mut self, known: &Known, origin: Origin, survey: &[String]) -> (Option<Suite>, Vec<Diagnostic>) {
        let suite =
            self.typed.and_then(|typed| suite::build(typed, self.file, known, origin, survey, &mut self.problems));
        (suite, self.problems.into_diagnostics())
    }
}

/// A profile has an id and a subject by its name and host.
fn name_profile(typed: &mut SuiteFile) {
    let named = |name: &At<String>, text: String| Some(At { at: name.at, value: text });
    if let (Some(name), None) = (&typed.profile, &typed.suite) {
        typed.suite = named(name, format!("profile.{}", name.value));
    }
    if let (Some(host), None) = (&typed.host, &typed.about) {
        typed.about = named(host, format!("What {} rejects, drops or cuts.", host.value));
    }
}

fn survey_saves(drafts: &[Draft<'_>], known: &Known) -> Vec<String> {
    let typed = drafts.iter().filter_map(|draft| draft.typed.as_ref());
    let survey = typed.filter(|typed| typed.suite.as_ref().is_some_and(|id| id.value == SURVEY));
    let steps = survey.flat_map(|typed| typed.gather.iter().flat_map(|steps| &steps.0));
    let saves = steps.filter_map(|step| step.save.as_ref()).map(|save| save.value.clone());
    saves.chain(known.survey.iter().cloned()).collect()
}
