//! A gateway compared with its upstream: the rules about servers, and the measured cost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The rules about servers that were judged on the upstream of a gateway.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Compared {
    /// Those that were judged through the gateway, too.
    pub rules: usize,
    /// Those that could not be tested through the gateway.
    pub untested: usize,
}

impl Compared {
    /// What the verdict says if a third or more could not be tested.
    pub fn warning(self) -> Option<String> {
        let all = self.rules + self.untested;
        (self.untested > 0 && self.untested * 3 >= all)
            .then(|| format!("{} of {all} rules about its upstream could not be tested through it", self.untested))
    }

    pub fn note(self) -> String {
        let rules = format!("{} rules about servers were judged through the gateway and on its upstream", self.rules);
        match self.untested {
            0 => rules,
            untested => format!("{rules}, {untested} on its upstream only"),
        }
    }
}

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
