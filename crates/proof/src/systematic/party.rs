//! The reference programs, as programs that send messages and can have a derived fault.

use conform_faults::Side as From;

use crate::mutants::{ClientTrial, judged};
use mcp_conform::{
    error::Error,
    evidence::{Evidence, Side, Transport},
    outcome::RunReport,
    plan::Filter,
    revision::Revision,
    run::trials::{Trial, with_causes},
    suite::Suite,
};

/// A reference program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Party {
    Server,
    Client,
}

impl Party {
    /// The name of its ledger.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Client => "client",
        }
    }

    pub const fn judged(self) -> Side {
        match self {
            Self::Server => Side::Server,
            Self::Client => Side::Client,
        }
    }

    /// The side whose messages are changed.
    pub const fn from(self) -> From {
        match self {
            Self::Server => From::Server,
            Self::Client => From::Client,
        }
    }

    /// Runs the program over stdio with a fault, as text, or without one; with these rules and those that are reported in
    /// their place, or with all if there are none.
    pub fn run(
        self,
        revision: Revision,
        fault: Option<&str>,
        rules: &[String],
        suites: &[Suite],
    ) -> Result<(RunReport, Evidence), Error> {
        let filter = with_causes(rules.to_vec(), suites).unwrap_or_default();
        match self {
            Self::Server => server(revision, fault, &filter, suites),
            Self::Client => {
                let evidence = ClientTrial::derived(fault, revision).evidence(&filter, suites, None)?;
                Ok((judged(&evidence, suites), evidence))
            }
        }
    }
}

fn server(
    revision: Revision,
    fault: Option<&str>,
    filter: &Filter,
    suites: &[Suite],
) -> Result<(RunReport, Evidence), Error> {
    let trial = Trial::new(fault.map(str::to_owned), revision, Transport::Stdio);
    let conducted = trial.evidence(suites, filter, None)?;
    Ok((conducted.report, conducted.evidence))
}
