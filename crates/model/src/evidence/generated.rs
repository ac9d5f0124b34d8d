//! What `mcp-conform generate` records besides the messages: how the calls are made again, and what it judged.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::outcome::CallCounts;

/// The names that generated items are recorded with. All but the last are those that rules know.
pub const CALLS: &str = "calls";
pub const GROWTH: &str = "growth";
pub const SEQUENCES: &str = "sequences";
pub const SMALLEST: &str = "smallest";

/// The options of the run, and its totals.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GeneratedRun {
    pub calls: usize,
    pub seed: u64,
    /// Only these were called, by name.
    pub only: Vec<String>,
    /// Whether tools were called that may have side effects.
    pub call_tools: bool,
    /// The calls of each tool, prompt, template, completion and list.
    pub counts: Vec<CallCounts>,
    /// By rule, the failing calls that were not made again: others of the same subject were.
    pub further: IndexMap<String, usize>,
}

/// A call, recorded as one of [`CALLS`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MadeCall {
    /// As rules see it.
    pub item: Value,
    /// The rules that it failed. It was made again for them, or counted: [`SmallestCall`]s have their findings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<String>,
}

/// The smallest call that fails a rule, recorded as one of [`SMALLEST`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SmallestCall {
    pub rule: String,
    /// As rules see it.
    pub item: Value,
    /// The number of other calls with the same finding.
    pub alike: usize,
    /// The call as `--replay` reads it.
    pub replay: String,
    /// Whether it fails when it is made alone.
    pub alone: bool,
}
