//! The rules of a suite, which judge its evidence.

use std::collections::HashSet;

use super::{Applies, Step, Suite, Template};
use crate::{Matcher, Path, SURVEY, views};
use conform_model::outcome::{HostEvidence, Level};

pub struct Rule {
    pub id: String,
    pub level: Level,
    /// Why the configuration gives it this level.
    pub level_reason: Option<String>,
    /// The title: the requirement as a sentence, in our own words.
    pub statement: String,
    /// Page and anchor of the requirement.
    pub source: String,
    /// In a profile: how the behavior of the host is known.
    pub evidence: Option<HostEvidence>,
    /// The reason, if the specification does not state the rule explicitly.
    pub derived: Option<String>,
    pub applies: Applies,
    pub every: Option<Every>,
    pub filter: Vec<Clause>,
    pub test: Test,
    /// Replies that a finding depends on and shows first.
    pub shows: Vec<Path>,
    /// Added to the message if all that was judged fails with the same error.
    pub if_all: Option<String>,
    pub after: Vec<String>,
    /// It is about the form of a message. If a message fails it, no other rule judges that message.
    pub form: bool,
    pub hint: Option<String>,
    pub faults: Vec<String>,
    pub line: usize,
}

impl Rule {
    /// Whether it judges the messages of the whole run, whichever suite caused them.
    pub fn looks_at_whole_run(&self) -> bool {
        if let Some(every) = &self.every {
            return every.over.iter().any(|path| path.streamed);
        }
        self.tested().into_iter().any(|path| path.streamed)
    }

    /// Whether it judges generated calls and their effects.
    pub fn looks_at_generated(&self) -> bool {
        let of_every = self.every.iter().flat_map(|every| &every.over);
        let mut paths = self.tested().into_iter().chain(of_every);
        paths.any(|path| path.streamed && views::GENERATED_ONLY.contains(&path.root.as_str()))
    }

    /// Whether it compares something with what the server declares about itself.
    pub fn looks_at_declaration(&self) -> bool {
        self.names().contains("server") || self.applies.lacks_some()
    }

    /// Whether it compares something with the declared capabilities, or requires that one is not declared.
    pub fn looks_at_capabilities(&self) -> bool {
        let declared = |path: &Path| path.root == "server" && path.first_member() == Some("capabilities");
        self.applies.lacks_some() || self.paths().into_iter().any(declared)
    }

    /// Whether it judges responses to requests of its suite.
    pub fn looks_at_saves(&self, suite: &Suite) -> bool {
        let names = self.names();
        suite.gather.iter().filter_map(|step| step.save.as_deref()).any(|save| names.contains(save))
    }

    /// Whether it compares several saves of its suite with each other.
    pub fn compares_saves(&self, suite: &Suite) -> bool {
        let names = self.names();
        suite.gather.iter().filter_map(|step| step.save.as_deref()).filter(|save| names.contains(save)).count() > 1
    }

    /// Whether it compares responses with list items, beyond the fields that the request itself repeats.
    pub fn looks_at_listing(&self, suite: &Suite) -> bool {
        const ASKED: [&str; 3] = ["uri", "uriTemplate", "name"];
        let names = self.names();
        if self.looks_at_saves(suite) && names.contains(SURVEY) {
            return true;
        }
        let Some(every) = &self.every else { return false };
        let saved_as = |step: &&Step| every.over.iter().any(|path| step.save.as_ref() == Some(&path.root));
        let loops = suite.gather.iter().filter(saved_as).filter_map(|step| step.each.as_ref());
        let listed: Vec<String> = loops.map(|each| format!("${}.{}", every.var, each.var)).collect();
        let is_of_list = |path: &&Path| {
            let rest = listed.iter().find_map(|listed| path.text.strip_prefix(listed.as_str()));
            rest.is_some_and(|rest| !ASKED.iter().any(|asked| rest == format!(".{asked}")))
        };
        self.paths().iter().any(is_of_list)
    }

    /// The root names of its paths.
    fn names(&self) -> HashSet<&str> {
        let of_every = self.every.iter().flat_map(|every| &every.over);
        self.paths().into_iter().chain(of_every).map(|path| path.root.as_str()).collect()
    }

    /// All paths in its conditions and its test, including operands.
    fn paths(&self) -> Vec<&Path> {
        let clauses = self.filter.iter().chain(match &self.test {
            Test::Expect(clauses) => clauses.as_slice(),
            Test::Observe(_) | Test::Check { .. } => &[],
        });
        let mut paths = self.tested();
        for clause in clauses {
            paths.push(&clause.subject);
            paths.extend(clause.matcher.operands().into_iter().flat_map(Template::references));
        }
        paths
    }

    /// The paths that its test judges.
    fn tested(&self) -> Vec<&Path> {
        match &self.test {
            Test::Expect(clauses) => clauses.iter().map(|clause| &clause.subject).collect(),
            Test::Observe(paths) => paths.iter().collect(),
            Test::Check { given, .. } => given.iter().flat_map(|(_, template)| template.references()).collect(),
        }
    }
}

/// Judges the rule for each node that the paths select.
pub struct Every {
    pub var: String,
    pub over: Vec<Path>,
}

pub enum Test {
    Expect(Vec<Clause>),
    Check { name: String, given: Vec<(String, Template)> },
    Observe(Vec<Path>),
}

#[derive(Clone)]
pub struct Clause {
    pub subject: Path,
    pub matcher: Matcher,
    /// The text of a finding. Without it, the text is made from the clauses.
    pub says: Option<String>,
}
