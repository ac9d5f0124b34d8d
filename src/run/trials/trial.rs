//! One trial: what is run, and with which rules.

use std::path::Path;

use tokio::runtime::Builder;

use super::{conducted::Conducted, shown::Shown};
use crate::{error::Error, evidence::Transport, plan::Filter, revision::Revision, suite::Suite};

/// One run of all rules against one behaviour of the reference server.
#[derive(Clone, Debug)]
pub struct Trial {
    pub fault: Option<String>,
    /// `fault` is the name of a variation.
    pub variation: bool,
    /// The message of a server that exits before it reads anything.
    pub stops: Option<&'static str>,
    /// If it is judged with all suites: the suites or rules that run alone; all suites if this is empty.
    pub only: Vec<String>,
    /// The terms that select the profiles of hosts which judge it; empty: none.
    pub hosts: Vec<String>,
    /// A proposal that has to be enabled for the fault to show.
    pub proposal: Option<String>,
    /// An extension that has to be enabled for the fault to show.
    pub extension: Option<String>,
    /// The server requires a token.
    pub protected: bool,
    /// Its authorization server is judged.
    pub authority: bool,
    pub revision: Revision,
    pub transport: Transport,
    /// It is judged with all suites: in the newest revision where the fault shows, over one of its transports.
    pub all_suites: bool,
    /// The rules that the fault declares to break besides those that name it.
    pub also: Vec<String>,
}

/// The rules, and those that are reported in their place. `None` if that can be any rule.
pub fn with_causes(mut ids: Vec<String>, suites: &[Suite]) -> Option<Filter> {
    let rules = || suites.iter().flat_map(|suite| &suite.rules);
    let mut looked_at = 0;
    while let Some(id) = ids.get(looked_at).cloned() {
        let causes = rules().filter(|rule| rule.id == id).flat_map(|rule| &rule.after);
        let fresh: Vec<String> = causes.filter(|cause| !ids.contains(cause)).cloned().collect();
        ids.extend(fresh);
        looked_at += 1;
    }
    (!ids.is_empty() && !ids.iter().any(|id| id == "*")).then(|| Filter::new(&ids, suites).ok())?
}

impl Trial {
    /// A run over that transport with this fault, or with none, and with all suites.
    pub fn new(fault: Option<String>, revision: Revision, transport: Transport) -> Self {
        Self {
            fault,
            variation: false,
            stops: None,
            only: Vec::new(),
            hosts: Vec::new(),
            proposal: None,
            extension: None,
            protected: false,
            authority: false,
            revision,
            transport,
            all_suites: true,
            also: Vec::new(),
        }
    }

    pub fn name(&self) -> String {
        let fault = match (&self.fault, self.proposal.as_ref().or(self.extension.as_ref())) {
            (Some(fault), _) => fault.clone(),
            (None, Some(with)) => format!("faultless with {with}"),
            (None, None) if self.authority => "faultless authorization server".to_owned(),
            (None, None) if self.protected => "faultless and protected".to_owned(),
            (None, None) => "faultless".to_owned(),
        };
        format!("{fault} · {} · {}", self.revision, self.transport)
    }

    /// Runs the trial; over real transports if there is a `program`, the mcp-conform that serves over stdio.
    ///
    /// One trial of each fault is judged with all suites, so that unexpected failures show. In the others most faults
    /// are detected by the suites of the rules that name them. All suites run there only if that is not enough.
    pub fn run(&self, suites: &[Suite], program: Option<&Path>) -> Shown {
        let run = |filter: &Filter| match self.evidence(suites, filter, program) {
            Ok(conducted) => Shown::of(self, &conducted, suites),
            Err(error) => Shown { stopped: Some(error.to_string()), code: error.exit_code(), ..Shown::default() },
        };
        if self.all_suites {
            return match Filter::new(&self.terms(suites), suites) {
                Ok(filter) => run(&filter),
                Err(error) => Shown { stopped: Some(error.to_string()), ..Shown::default() },
            };
        }
        let narrow = self.concerned(suites).map(|filter| run(&filter));
        // Some faults show only next to others' changes.
        let widest = || Self { all_suites: true, ..self.clone() }.run(suites, program);
        narrow.filter(|shown| shown.idle.is_empty() && !shown.caught.is_empty()).unwrap_or_else(widest)
    }

    /// The suites that judge it. A fault of a server for hosts is judged by profiles alone, and a variation for them by all.
    fn terms(&self, suites: &[Suite]) -> Vec<String> {
        let mut terms = self.only.clone();
        let excluded =
            |terms: &[String]| terms.iter().filter(|term| term.starts_with('!')).cloned().collect::<Vec<_>>();
        if !suites.iter().any(|suite| suite.profile.is_some()) {
        } else if self.hosts.is_empty() {
            terms.push("!profile".to_owned());
        } else if self.variation {
            terms.extend(excluded(&self.hosts));
        } else {
            terms.extend(self.hosts.iter().cloned());
        }
        terms
    }

    /// Runs the trial with some rules, and returns the report and the evidence.
    pub fn evidence(&self, suites: &[Suite], filter: &Filter, program: Option<&Path>) -> Result<Conducted, Error> {
        let clock = program.is_none();
        let runtime = Builder::new_current_thread().enable_all().start_paused(clock).build();
        let runtime = runtime.map_err(|error| Error::usage(format!("no runtime: {error}")))?;
        runtime.block_on(self.conduct(suites, filter, program))
    }

    /// The rules that name the fault, and those that are reported in their place. `None` if that can be any rule.
    fn concerned(&self, suites: &[Suite]) -> Option<Filter> {
        let fault = self.fault.as_ref()?;
        let naming = suites.iter().flat_map(|suite| &suite.rules).filter(|rule| rule.faults.contains(fault));
        with_causes(naming.map(|rule| rule.id.clone()).collect(), suites)
    }
}
