//! Results with a time to live, for clients that cache them.

use std::{collections::HashMap, time::Duration};

use serde_json::Value;
use tokio::time::Instant;

struct Kept {
    method: String,
    params: Value,
    result: Value,
    until: Instant,
}

/// Results by method and parameters.
#[derive(Default)]
pub struct Cache(HashMap<String, Kept>);

/// Maximum number of cached results. A guess.
const MOST: usize = 1000;

/// Longer than any run.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

impl Cache {
    pub fn get(&self, key: &str) -> Option<Value> {
        self.0.get(key).filter(|kept| Instant::now() < kept.until).map(|kept| kept.result.clone())
    }

    pub fn put(&mut self, key: String, method: &str, params: &Value, result: &Value) {
        let cacheable = method.ends_with("/list") || method == "resources/read" || method == "server/discover";
        let time = result["ttlMs"].as_u64().filter(|&time| time > 0);
        if let Some(time) = time.filter(|_| cacheable && self.0.len() < MOST) {
            let until = Instant::now() + Duration::from_millis(time).min(LONGEST);
            let kept = Kept { method: method.to_owned(), params: params.clone(), result: result.clone(), until };
            self.0.insert(key, kept);
        }
    }

    /// A notification invalidates the results that it is about.
    pub fn note(&mut self, method: &str, params: &Value) {
        let stale = |kept: &Kept| match method {
            "notifications/tools/list_changed" => kept.method == "tools/list",
            "notifications/prompts/list_changed" => kept.method == "prompts/list",
            "notifications/resources/list_changed" => {
                matches!(kept.method.as_str(), "resources/list" | "resources/templates/list")
            }
            // The URI may be a child of the one that was read.
            "notifications/resources/updated" => {
                let (updated, read) = (params["uri"].as_str().unwrap_or_default(), kept.params["uri"].as_str());
                kept.method == "resources/read" && read.is_some_and(|read| updated.starts_with(read))
            }
            _ => false,
        };
        self.0.retain(|_, kept| !stale(kept));
    }
}
