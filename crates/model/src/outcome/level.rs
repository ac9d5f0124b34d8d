//! The level of a rule, and its status.

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How strong a rule is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    Must,
    Should,
    /// A quality point that no text states: shown, never fails.
    Advice,
    /// What a server is free to do: only observed.
    May,
    /// About a named host: it rejects, drops or loses something.
    Fail,
    /// About a named host: it cuts or ignores something, or the evidence is weak.
    Warn,
}

impl Level {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Must => "must",
            Self::Should => "should",
            Self::Advice => "advice",
            Self::May => "may",
            Self::Fail => "fail",
            Self::Warn => "warn",
        }
    }

    /// The status of a rule at this level that fails.
    pub const fn of_failure(self) -> Status {
        match self {
            Self::Must | Self::Fail => Status::Fail,
            Self::Should | Self::Warn => Status::Warn,
            Self::Advice => Status::Advice,
            Self::May => Status::Observed,
        }
    }

    /// The keyword in the title of a rule at this level.
    pub const fn keyword(self) -> &'static str {
        match self {
            Self::Must => "MUST",
            Self::Should => "SHOULD",
            Self::Advice => "Consider",
            Self::May => "MAY",
            Self::Fail | Self::Warn => "",
        }
    }

    /// The title of a rule as a sentence. A suite can also give the verb alone: `reply once` is "The server MUST reply once".
    pub fn sentence(self, title: &str) -> String {
        let keyword = self.keyword();
        if title.contains(keyword) {
            return title.to_owned();
        }
        match (self, title.strip_prefix("not ")) {
            (Self::Advice, _) => format!("{keyword}: {title}"),
            // A sentence of its own.
            _ if title.starts_with(char::is_uppercase) => format!("{keyword}: {title}"),
            (_, Some(rest)) => format!("The server {keyword} NOT {rest}"),
            (_, None) => format!("The server {keyword} {title}"),
        }
    }
}

/// The level that a configuration gives to a rule in place of its own, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenLevel {
    pub level: Level,
    pub reason: String,
}

/// What a flaky rule means for the whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Flaky {
    /// It fails the run
    #[default]
    Fail,
    /// It is only shown
    Pass,
}

impl Flaky {
    // Reports and transcripts omit it, as they did before there were retries. Serde requires a reference.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    pub(crate) fn is_usual(&self) -> bool {
        *self == Self::Fail
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    Fail,
    /// It failed, and passed when it was tested again on new connections.
    Flaky,
    /// It fails, as the list of known failures says.
    Known,
    /// The rule could not be judged because the server or the harness failed.
    Broken,
    Warn,
    Advice,
    Pass,
    Observed,
    /// It applies, but nothing in this run showed it.
    NotExercised,
    /// It does not apply to this revision, transport or server.
    NotApplicable,
}

impl Status {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Fail => "fail",
            Self::Flaky => "flaky",
            Self::Known => "known",
            Self::Broken => "broken",
            Self::Warn => "warn",
            Self::Advice => "advice",
            Self::Pass => "pass",
            Self::Observed => "observed",
            Self::NotExercised => "not exercised",
            Self::NotApplicable => "not applicable",
        }
    }
}
