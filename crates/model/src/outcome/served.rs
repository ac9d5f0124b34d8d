//! What a server offers, and how much of it worked.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::is_zero;
use crate::revision::Revision;

/// What a server can offer that a run uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Offer {
    Tools,
    Resources,
    Prompts,
    Tasks,
}

impl Offer {
    /// The name of the capability, and of its list.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources => "resources",
            Self::Prompts => "prompts",
            Self::Tasks => "tasks",
        }
    }

    /// One item of its list.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Tools => "tool",
            Self::Resources => "resource",
            Self::Prompts => "prompt",
            Self::Tasks => "task",
        }
    }
}

/// Whether a declared list was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Listing {
    /// At least one request for it got a result.
    Works,
    /// It was requested, and no request got a result.
    Fails,
    /// It was not requested, not read because of a limit, or does not exist, as for tasks.
    Unknown,
}

/// What worked of one capability, in one revision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Served {
    pub offer: Offer,
    pub revision: Revision,
    /// The server declares the capability.
    pub declared: bool,
    pub list: Listing,
    /// Items of the list.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub listed: usize,
    /// Those of them that a request used and got a result for that is not an error: tools that were called, resources
    /// that were read, prompts that were rendered, tasks that were created.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub used: usize,
    /// Rules about it that were not exercised, where the list fails.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub untested: usize,
}

impl Served {
    /// Adds what another part of the same run saw.
    pub fn merge(&mut self, other: &Self) {
        self.declared |= other.declared;
        self.list = match (self.list, other.list) {
            (Listing::Works, _) | (_, Listing::Works) => Listing::Works,
            (Listing::Unknown, one) | (one, Listing::Unknown) => one,
            (Listing::Fails, Listing::Fails) => Listing::Fails,
        };
        // Parts may have used the same items, so this is the least that worked.
        (self.listed, self.used) = (self.listed.max(other.listed), self.used.max(other.used));
        self.untested = if self.list == Listing::Fails { self.untested + other.untested } else { 0 };
    }
}
