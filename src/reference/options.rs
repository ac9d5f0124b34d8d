//! What the reference server is asked to be: the revisions and proposals it speaks and the fault it commits.

use serde::{Deserialize, Serialize};

use crate::{reference::world::Grown, revision::Revision};

/// Every proposal and dialect that the server knows.
pub const PROPOSALS: [&str; 3] = ["sep-2093", "sep-prefix", "dialect-versioned"];

#[derive(Clone, Debug)]
pub struct Options {
    pub revisions: Vec<Revision>,
    pub fault: Option<String>,
    /// Another lawful way to be a server; not together with a fault.
    pub variation: Option<String>,
    /// The versioned dialect is left out unless asked for: its shapes go beyond what a released revision has.
    pub proposals: Vec<String>,
    /// Over HTTP nobody is let in without a token.
    pub protected: bool,
    /// A world of any size besides the usual one.
    pub world: Option<Grown>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            revisions: Revision::ALL.to_vec(),
            fault: None,
            variation: None,
            proposals: vec!["sep-2093".to_owned(), "sep-prefix".to_owned()],
            protected: false,
            world: None,
        }
    }
}

/// How a message came, for faults that show over some transports only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    Stdio,
    Http,
    Sse,
}

impl Transport {
    pub const ALL: [Self; 3] = [Self::Stdio, Self::Http, Self::Sse];
}

/// The proposals in force.
#[derive(Clone, Copy, Debug)]
pub struct Proposals {
    /// SEP-2093: metadata in contents, capabilities of resources, `resources/metadata`, scoped lists.
    pub metadata: bool,
    pub prefix: bool,
    /// The versioned dialect: `resources/get`, versions, several URIs in one subscription.
    pub versioned: bool,
}

impl Proposals {
    pub fn named(names: &[String]) -> Result<Self, String> {
        if let Some(unknown) = names.iter().find(|name| !PROPOSALS.contains(&name.as_str())) {
            return Err(format!("`{unknown}` is no proposal; known: {}", PROPOSALS.join(", ")));
        }
        let on = |name: &str| names.iter().any(|given| given == name);
        Ok(Self { metadata: on("sep-2093"), prefix: on("sep-prefix"), versioned: on("dialect-versioned") })
    }
}
