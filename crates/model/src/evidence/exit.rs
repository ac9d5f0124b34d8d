//! How a process exited.

use std::fmt;

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exit {
    Status(i32),
    /// By this signal, such as `SIGSEGV`.
    Signal(String),
    /// The system does not report it, for this reason.
    Unknown(String),
}

impl Exit {
    pub const fn is_success(&self) -> bool {
        matches!(self, Self::Status(0))
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, words: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(status) => write!(words, "exited with status {status}"),
            Self::Signal(name) => write!(words, "was ended by {name}"),
            Self::Unknown(why) => write!(words, "exited with an unknown status: {why}"),
        }
    }
}
