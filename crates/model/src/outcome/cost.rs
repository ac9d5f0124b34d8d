//! The measured cost of a gateway.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Calls of one size from a number of clients, directly and through the gateway.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CostRow {
    /// The length of the argument, and of the result.
    pub bytes: usize,
    /// Clients that call at the same time, each one call after the other.
    pub clients: usize,
    pub direct: Times,
    pub through: Times,
    /// The resident memory of the gateway's processes after these calls, if the system reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
}

/// Times from a request to its response, in microseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Times {
    pub calls: usize,
    /// Calls without a result. Each is the last of its client.
    pub failed: usize,
    pub median_us: u64,
    pub p99_us: u64,
}

impl Times {
    pub fn new(mut times: Vec<u64>, failed: usize) -> Self {
        times.sort_unstable();
        let at = |percent: usize| times.get(times.len().saturating_sub(1) * percent / 100).copied().unwrap_or_default();
        Self { calls: times.len(), failed, median_us: at(50), p99_us: at(99) }
    }
}
