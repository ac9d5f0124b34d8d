//! The options of the client, from its environment.

use std::{collections::BTreeSet, path::PathBuf, time::Duration};

use serde_json::Value;

use crate::outside::Outside;
use conform_model::revision::Revision;
pub use conform_model::transport::Transport;

/// The client's response to an elicitation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consent {
    /// Every field is filled in.
    Accept,
    /// Only the defaults of the schema are filled in.
    Defaults,
    Decline,
    Cancel,
}

#[derive(Clone, Debug)]
pub struct Answers {
    pub elicitation: Consent,
    /// None if the user rejects sampling.
    pub sampling: Option<String>,
    pub roots: Vec<String>,
    /// Capabilities to declare, as dotted names.
    pub declare: BTreeSet<String>,
    /// The simulated time that a user needs for a request.
    pub delay: Duration,
}

impl Default for Answers {
    fn default() -> Self {
        Self {
            elicitation: Consent::Accept,
            sampling: Some("A text of the reference client.".to_owned()),
            roots: vec!["file:///work/project".to_owned()],
            declare: ["roots.listChanged", "sampling", "elicitation"].map(str::to_owned).into(),
            delay: Duration::ZERO,
        }
    }
}

impl Answers {
    fn read(given: &Value) -> Result<Self, String> {
        let mut answers = Self::default();
        let wrong =
            |field: &str, expected: &str| Err(format!("MCP_CONFORMANCE_ANSWERS: `{field}`: expected {expected}"));
        match given.get("elicitation").map(|word| word.as_str().unwrap_or_default()) {
            None => {}
            Some("accept") => answers.elicitation = Consent::Accept,
            Some("defaults") => answers.elicitation = Consent::Defaults,
            Some("decline") => answers.elicitation = Consent::Decline,
            Some("cancel") => answers.elicitation = Consent::Cancel,
            Some(_) => return wrong("elicitation", "accept, decline, cancel or defaults"),
        }
        match given.get("sampling") {
            None => {}
            Some(Value::Null) => answers.sampling = None,
            Some(Value::String(text)) => answers.sampling = Some(text.clone()),
            Some(_) => return wrong("sampling", "a string, or null to reject"),
        }
        if let Some(roots) = given.get("roots") {
            let Some(roots) = strings(roots) else { return wrong("roots", "an array of strings") };
            answers.roots = roots;
        }
        if let Some(declare) = given.get("declare") {
            let Some(declare) = strings(declare) else { return wrong("declare", "an array of strings") };
            answers.declare = declare.into_iter().collect();
        }
        if let Some(delay) = given.get("delay") {
            let Some(delay) = delay.as_u64() else { return wrong("delay", "a number of milliseconds") };
            answers.delay = Duration::from_millis(delay);
        }
        Ok(answers)
    }
}

pub fn strings(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|element| element.as_str().map(str::to_owned)).collect()
}

#[derive(Clone, Debug)]
pub struct Options {
    pub transport: Transport,
    /// The revision to request.
    pub revision: Revision,
    /// The actions. `None`: list everything.
    pub actions: Option<Vec<Value>>,
    pub answers: Answers,
    pub report: Option<PathBuf>,
    /// How long a request may take.
    pub timeout: Duration,
    /// How long the run may take.
    pub limit: Option<Duration>,
    /// The executable or the URL.
    pub target: String,
}

/// A guess: longer than any response of the reference server, but short enough for a run of many worlds.
const TIMEOUT: Duration = Duration::from_secs(10);

impl Options {
    pub fn of_environment(target: &str, outside: &dyn Outside) -> Result<Self, String> {
        let text = |name: &str| {
            let given = outside.variable(&format!("MCP_CONFORMANCE_{name}")).filter(|value| !value.is_empty());
            given
                .map(|value| value.into_string().map_err(|_| format!("MCP_CONFORMANCE_{name} is not UTF-8")))
                .transpose()
        };
        let json = |name: &str| -> Result<Option<Value>, String> {
            let parse = |text: String| {
                serde_json::from_str(&text).map_err(|error| format!("MCP_CONFORMANCE_{name} is not JSON: {error}"))
            };
            text(name)?.map(parse).transpose()
        };
        let transport = text("TRANSPORT")?.map_or(Ok(Transport::Http), |name| name.parse());
        let transport = transport.map_err(|error| format!("MCP_CONFORMANCE_TRANSPORT: {error}"))?;
        let revision = text("PROTOCOL_VERSION")?.map_or(Ok(Revision::NEWEST), |name| name.parse());
        let revision = revision.map_err(|error| format!("MCP_CONFORMANCE_PROTOCOL_VERSION: {error}"))?;
        let actions = match json("ACTIONS")? {
            None => None,
            Some(Value::Array(actions)) => Some(actions),
            Some(_) => return Err("MCP_CONFORMANCE_ACTIONS: expected an array of actions".to_owned()),
        };
        let limit = text("TIMEOUT_MS")?.map(|text| text.parse().map(Duration::from_millis));
        let limit = limit.transpose().map_err(|_| "MCP_CONFORMANCE_TIMEOUT_MS: expected a number of milliseconds")?;
        Ok(Self {
            transport,
            revision,
            actions,
            answers: json("ANSWERS")?.map_or(Ok(Answers::default()), |given| Answers::read(&given))?,
            report: text("REPORT")?.map(PathBuf::from),
            timeout: limit.map_or(TIMEOUT, |limit| TIMEOUT.min(limit)),
            limit,
            target: target.to_owned(),
        })
    }
}
