//! Faults on the wire as data: which messages a fault concerns, and what happens to them. The reference server, client
//! and gateway share this language, and write it as YAML next to their faults in Rust. [`Edit`] documents its keys.
//!
//! It uses `conform-model`, for the names of revisions.

mod change;
mod pass;
mod path;
mod select;

use indexmap::IndexMap;
use json_patch::Patch;
use serde::{Deserialize, Deserializer, de};
use serde_json::Value;

use change::Change;
pub use pass::{Counters, Fate, Sent, apply};
use path::Path;
use select::Kind;
pub use select::{Passing, Side};

use conform_model::revision::Revision;

/// One change of messages. First `on`, `of`, `from`, `when`, `larger-than`, `since` and `until` select messages, then
/// `skip`, `every` and `limit` count them; the other keys say what happens.
///
/// Paths are JSON Pointers, in which `*` in a name stands for any text, `**` for any depth, and `name=text` for what
/// has a field `name` of that value. A path that leads nowhere changes nothing, so one fault may be for messages of
/// several shapes. In a new value the text `$id` stands for the id of the message, and `$request/...` or
/// `$message/...` for the value at that path.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct Edit {
    /// Methods of requests and notifications, which also select their responses. `*` alone stands for every response,
    /// `error` for every error, and `*` in a method for any text. `http` is for HTTP requests and responses instead of
    /// messages. Without this key every message is selected.
    #[serde(deserialize_with = "one_or_many")]
    pub on: Vec<String>,
    /// `request`, `notification` or `response`, or several of them.
    #[serde(deserialize_with = "one_or_many")]
    of: Vec<Kind>,
    /// The sender: `client` or `server`. Without this key it is the program with the fault; for a gateway, either.
    from: Option<Side>,
    /// JSON Pointers into `{ request, response, message }`, each with the expected value: a value, one of a list,
    /// `present`, `absent`, `{ is: TYPE }`, `{ starts-with: TEXT }`, `{ ends-with: TEXT }`, `{ above: N }`,
    /// `{ below: N }` or `{ not: … }` with one of these. `request` is the request that the message belongs to;
    /// `response` and `message` are the message itself. An HTTP request has `method`, `headers` and `message`.
    pub when: IndexMap<String, Value>,
    /// The message has more bytes than this.
    larger_than: Option<usize>,
    pub since: Option<Revision>,
    pub until: Option<Revision>,
    /// How many selected messages pass before the fault shows.
    skip: usize,
    /// The fault only shows at every second message, or third, and so on.
    every: Option<usize>,
    /// How often the fault shows.
    limit: Option<usize>,

    /// A JSON Patch, of which all or nothing is applied.
    pub patch: Option<Patch>,
    /// Removes what these paths lead to.
    #[serde(deserialize_with = "one_or_many")]
    remove: Vec<Path>,
    /// Sets the values at these paths. Objects on the way are created.
    set: IndexMap<Path, Value>,
    /// Sets fields of objects that exist.
    add: IndexMap<Path, Value>,
    /// Replaces the values at these paths, where there are any.
    replace: IndexMap<Path, Value>,
    /// Changes the values at these paths by functions (see [`Change`]).
    change: IndexMap<Path, Changes>,
    /// The values at these JSON Pointers stay those of the first selected message.
    #[serde(deserialize_with = "one_or_many")]
    keep: Vec<String>,
    /// Replaces the whole message.
    pub instead: Option<Value>,
    /// Replaces the line, event or body; `$message` stands for the message, `$id` for its id, and
    /// `$fields` for what is between the braces of the message.
    pub raw: Option<String>,
    /// Messages that go before it: objects, or texts in the form of `raw`.
    #[serde(deserialize_with = "one_or_many")]
    before: Vec<Value>,
    /// Messages that follow it.
    #[serde(deserialize_with = "one_or_many")]
    after: Vec<Value>,
    /// How often the message is sent.
    times: Option<usize>,
    /// The message is not sent.
    drop: bool,
    /// The sender gets this response to its request: `result` or `error`. The request is not passed on. A server uses
    /// `instead`.
    reply: Option<Value>,
    /// A gateway delays the message until the response to its request.
    hold: Option<Hold>,
    /// Replaces the HTTP status.
    pub status: Option<u16>,
    /// Sets headers of the HTTP request or response; null removes one.
    pub headers: IndexMap<String, Option<String>>,
    /// More changes, each with its own selection, made after this one.
    then: Vec<Strict>,
}

/// An edit in a list, where unknown keys are errors. At the beginning of a fault, the fault rejects them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Strict {
    #[serde(flatten)]
    edit: Edit,
}

/// One function or several.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
struct Changes(#[serde(deserialize_with = "one_or_many")] Vec<Change>);

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Hold {
    BeforeResponse,
    AfterResponse,
}

/// The faults of a file, or why it is invalid.
pub fn read<T: de::DeserializeOwned>(text: &str) -> Result<T, String> {
    // The key `on` is a text, not a boolean.
    let options = serde_saphyr::options! { strict_booleans: true };
    serde_saphyr::from_str_with_options(text, options).map_err(|why| why.to_string())
}

/// The faults of files that were compiled in.
pub fn read_all<T: de::DeserializeOwned>(files: impl Iterator<Item = (&'static str, &'static str)>) -> Vec<T> {
    files.flat_map(|(path, text)| read::<Vec<T>>(text).unwrap_or_else(|why| panic!("{path}: {why}"))).collect()
}

/// One value or a list of them.
pub fn one_or_many<'de, D: Deserializer<'de>, T: de::DeserializeOwned>(deserializer: D) -> Result<Vec<T>, D::Error> {
    let many = match Value::deserialize(deserializer)? {
        Value::Array(many) => many,
        one => vec![one],
    };
    many.into_iter().map(|one| serde_json::from_value(one).map_err(de::Error::custom)).collect()
}

#[cfg(test)]
mod tests;
