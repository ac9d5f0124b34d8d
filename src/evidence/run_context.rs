//! Everything besides the frames that rules may refer to, for one revision of one run.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Side, Transport};
use crate::revision::Revision;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunContext {
    pub revision: Revision,
    /// Whom the rules judge.
    #[serde(default)]
    pub subject: Side,
    /// Where a client is judged: what it met. Without it, everything that was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// Whether it has generated calls, which suites of their own judge.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub generated: bool,
    pub transport: Transport,
    /// `$server`: capabilities, info, instructions, and the reply they came in as `hello`; over HTTP where it is.
    pub server: Value,
    /// `$client`: what the client declared.
    pub client: Value,
    /// `$facts`: what is known about the server, from the configuration or found out.
    pub facts: Value,
    /// Proposals and dialects that are judged.
    #[serde(default)]
    pub proposals: Vec<String>,
    /// The server asks for authorization as the protocol describes it.
    #[serde(default)]
    pub protected: bool,
    /// What each suite saved, by its id: an object with a field for each save.
    #[serde(default)]
    pub saves: IndexMap<String, Value>,
    /// Suites underneath which the server or the connection broke down, and how.
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
    /// Nothing is known yet but this.
    pub fn new(revision: Revision, subject: Side, transport: Transport) -> Self {
        Self {
            revision,
            subject,
            scenario: None,
            generated: false,
            transport,
            server: Value::Null,
            client: Value::Null,
            facts: Value::Null,
            proposals: Vec::new(),
            protected: false,
            saves: IndexMap::new(),
            incidents: IndexMap::new(),
            not_run: IndexMap::new(),
            skipped: IndexMap::new(),
        }
    }

    /// The field of the capabilities at a dotted path, unless it is absent or false.
    pub fn offers(&self, capability: &str) -> bool {
        !matches!(member(&self.server["capabilities"], capability), None | Some(Value::Null | Value::Bool(false)))
    }
}

/// The field at a dotted path; a name may have dots itself, as those of extensions do.
fn member<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    let deeper = |(dot, _)| member(value.get(&path[..dot])?, &path[dot + 1..]);
    value.get(path).or_else(|| path.match_indices('.').find_map(deeper))
}
