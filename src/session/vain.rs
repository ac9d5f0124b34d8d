//! Requests that need not be asked again: those that were waited for in vain cost the same time and show nothing more, and
//! those that had nothing to ask of a client will ask nothing of one that can do less.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use indexmap::{IndexMap, IndexSet};
use serde_json::Value;

#[derive(Default)]
pub struct Vain {
    /// How long at most, by request.
    waited: HashMap<String, Duration>,
    /// What was not asked again, by suite.
    left_out: IndexMap<String, IndexSet<String>>,
    /// What was answered without asking the client for anything.
    unasking: HashSet<String>,
}

impl Vain {
    pub fn note(&mut self, method: &str, params: &Value, waited: Duration) {
        let longest = self.waited.entry(request(method, params)).or_default();
        *longest = waited.max(*longest);
    }

    /// Whether a suite may as well not ask, as an answer did not come in this time.
    pub fn leaves_out(&mut self, suite: &str, method: &str, params: &Value, within: Duration) -> bool {
        let known = self.waited.get(&request(method, params)).is_some_and(|waited| *waited >= within);
        if known {
            let name = params["name"].as_str().map(|name| format!(" {name}")).unwrap_or_default();
            self.left_out.entry(suite.to_owned()).or_default().insert(format!("{method}{name}"));
        }
        known
    }

    pub fn note_unasking(&mut self, method: &str, params: &Value) {
        self.unasking.insert(request(method, params));
    }

    pub fn is_unasking(&self, method: &str, params: &Value) -> bool {
        self.unasking.contains(&request(method, params))
    }

    /// What was left out so far, which is told once.
    pub fn left_out(&mut self) -> IndexMap<String, IndexSet<String>> {
        std::mem::take(&mut self.left_out)
    }
}

/// The same request, whatever goes along with it.
fn request(method: &str, params: &Value) -> String {
    let mut params = params.clone();
    if let Value::Object(members) = &mut params {
        members.shift_remove("_meta");
    }
    format!("{method} {params}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_the_same_request_is_left_out_and_only_for_as_long() {
        let (mut vain, second) = (Vain::default(), Duration::from_secs(1));
        let params = |text: &str, token: u8| json!({ "name": "a", "arguments": { "text": text }, "_meta": token });
        vain.note("tools/call", &params("x", 1), second * 2);
        vain.note("tools/call", &params("x", 1), second);
        assert!(vain.leaves_out("s", "tools/call", &params("x", 2), second * 2));
        assert!(!vain.leaves_out("s", "tools/call", &params("x", 2), second * 3));
        assert!(!vain.leaves_out("s", "tools/call", &params("y", 1), second));
        assert_eq!(vain.left_out()["s"].first().map(String::as_str), Some("tools/call a"));
        assert!(vain.left_out().is_empty());
    }
}
