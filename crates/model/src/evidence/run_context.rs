//! Everything that rules can use besides the frames, for one revision of one run.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Side, Transport, generated::GeneratedRun};
use crate::{outcome::World, revision::Revision};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunContext {
    pub revision: Revision,
    /// The side that the rules judge.
    #[serde(default)]
    pub subject: Side,
    /// If a client is judged: its scenario. Without it, everything recorded is judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// What the client or gateway was started with in this scenario.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub world: Option<World>,
    /// If calls were generated, which separate suites judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generated: Option<GeneratedRun>,
    pub transport: Transport,
    /// `$server`: capabilities, info, instructions, the handshake reply as `hello`, and over HTTP its URL.
    pub server: Value,
    /// `$client`: what the client declared.
    pub client: Value,
    /// `$facts`: what is known about the server, configured or detected.
    pub facts: Value,
    /// Proposals and dialects that are judged.
    #[serde(default)]
    pub proposals: Vec<String>,
    /// Identifiers of the extensions that are judged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<String>,
    /// Whether the server requires authorization as the specification defines it.
    #[serde(default)]
    pub protected: bool,
    /// What each suite saved, by its id: an object with a field for each save.
    #[serde(default)]
    pub saves: IndexMap<String, Value>,
    /// Suites during which the server or the connection failed, and how.
    #[serde(default)]
    pub incidents: IndexMap<String, String>,
    /// Suites that were not gathered, and why.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub not_run: IndexMap<String, String>,
    /// Requests that were not sent any more as others like them got no reply: by suite, each with how many were sent.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub skipped: IndexMap<String, IndexMap<String, usize>>,
}

impl RunContext {
    /// An empty context.
    pub fn new(revision: Revision, subject: Side, transport: Transport) -> Self {
        Self {
            revision,
            subject,
            scenario: None,
            world: None,
            generated: None,
            transport,
            server: Value::Null,
            client: Value::Null,
            facts: Value::Null,
            proposals: Vec::new(),
            extensions: Vec::new(),
            protected: false,
            saves: IndexMap::new(),
            incidents: IndexMap::new(),
            not_run: IndexMap::new(),
            skipped: IndexMap::new(),
        }
    }

    /// Whether the capability at a dotted path is present and not false.
    pub fn offers(&self, capability: &str) -> bool {
        !matches!(member(&self.server["capabilities"], capability), None | Some(Value::Null | Value::Bool(false)))
    }
}

/// The field at a dotted path. Names may have dots themselves, as those of extensions do.
fn member<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    let deeper = |(dot, _)| member(value.get(&path[..dot])?, &path[dot + 1..]);
    value.get(path).or_else(|| path.match_indices('.').find_map(deeper))
}
