//! What the server rejects elsewhere. Many servers convert `"5"` to 5 or drop unknown fields, everywhere and on purpose. One
//! that rejects such a value at one place and accepts it at another did not mean to.

use std::collections::{HashMap, HashSet};

use super::{
    calls::{Call, Kind},
    item::Item,
    values::misses::types::JSON_AS_TEXT,
};

/// The keyword, the kind of the value, and whether it is an argument itself: some SDKs convert only those.
type Sort = (String, &'static str, bool);

/// Keywords that forbid the same thing.
const UNKNOWN: [&str; 2] = ["additionalProperties", "unevaluatedProperties"];

#[derive(Default)]
pub struct Ledger {
    /// The places where such a value was rejected, with the subject.
    rejected: HashMap<Sort, HashSet<(String, String)>>,
    /// The subjects that accepted a valid call.
    accepting: HashSet<String>,
}

fn sort(call: &Call) -> Option<(Sort, String)> {
    let case = call.case.as_ref()?;
    let is_argument = case.kind == JSON_AS_TEXT && call.at.matches('/').count() < 2;
    let is_unknown = UNKNOWN.contains(&call.keyword.as_str());
    let keyword = if is_unknown { UNKNOWN[0].to_owned() } else { call.keyword.clone() };
    Some(((keyword, case.kind, is_argument), case.schema.clone()))
}

impl Ledger {
    pub fn add(&mut self, call: &Call, item: &Item) {
        if call.kind == Kind::Valid && item.succeeded() {
            self.accepting.insert(item.name.clone());
        }
        if item.failed
            && call.is_tolerated()
            && let Some((sort, schema)) = sort(call)
        {
            self.rejected.entry(sort).or_default().insert((item.name.clone(), schema));
        }
    }

    pub fn accepts(&self, name: &str) -> bool {
        self.accepting.contains(name)
    }

    /// Whether such a value was rejected at another place, by something that accepts valid calls.
    pub fn is_rejected_elsewhere(&self, call: &Call, name: &str) -> bool {
        let Some((sort, schema)) = sort(call) else { return false };
        let places = self.rejected.get(&sort).into_iter().flatten();
        places.into_iter().any(|(other, place)| {
            (other.as_str(), place.as_str()) != (name, schema.as_str()) && self.accepting.contains(other)
        })
    }
}
