//! What the server rejects elsewhere. Many servers convert `"5"` to 5 or drop unknown fields, everywhere and on purpose. One
//! that rejects such a value at one place and accepts it at another did not mean to.

use std::collections::{HashMap, HashSet};

use super::{
    calls::{Call, Kind},
    item::Item,
    values::{edges::WHOLE, misses::types::JSON_AS_TEXT},
};

/// The keyword, the kind of the value, and whether it is an argument itself: some SDKs convert only those.
type Sort = (String, &'static str, bool);

/// Keywords that forbid the same thing.
const UNKNOWN: [&str; 2] = ["additionalProperties", "unevaluatedProperties"];

/// So many places where a value was rejected are enough.
const ENOUGH: usize = 3;

fn is_whole(call: &Call) -> bool {
    call.case.as_ref().is_some_and(|case| case.kind == WHOLE)
}

#[derive(Default)]
pub struct Ledger {
    /// The places where such a value was rejected, with the subject.
    rejected: HashMap<Sort, HashSet<(String, String)>>,
    /// The places where a whole number with a fraction of zero was accepted.
    whole: HashSet<(String, String)>,
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
    /// Remembers what was accepted.
    pub fn add(&mut self, call: &Call, item: &Item) {
        if call.kind != Kind::Valid || !item.succeeded() {
            return;
        }
        self.accepting.insert(item.name.clone());
        if is_whole(call)
            && let Some(case) = &call.case
        {
            self.whole.insert((item.name.clone(), case.schema.clone()));
        }
    }

    /// Whether it is not known yet that such a value is rejected.
    pub fn wants(&self, call: &Call) -> bool {
        let known = |(sort, _)| self.rejected.get(&sort).map_or(0, HashSet::len);
        call.is_tolerated() && sort(call).is_some_and(|own| known(own) < ENOUGH)
    }

    /// Remembers that such a value was rejected, and the same call without it was not.
    pub fn reject(&mut self, call: &Call, name: &str) {
        if let Some((sort, schema)) = sort(call) {
            self.rejected.entry(sort).or_default().insert((name.to_owned(), schema));
        }
    }

    /// Whether a valid value of this kind may be compared with invalid ones: many languages read 5.0 as no integer.
    pub fn is_comparable(&self, call: &Call, name: &str) -> bool {
        let Some(case) = call.case.as_ref().filter(|_| is_whole(call)) else { return true };
        self.whole.iter().any(|(other, schema)| other != name || *schema != case.schema)
    }

    pub fn accepts(&self, name: &str) -> bool {
        self.accepting.contains(name)
    }

    /// Whether such a value was rejected at another place, by something that accepts valid calls.
    pub fn is_rejected_elsewhere(&self, call: &Call, name: &str) -> bool {
        let Some((sort, schema)) = sort(call) else { return false };
        let places = self.rejected.get(&sort).into_iter().flatten();
        places.into_iter().any(|(other, place)| (other.as_str(), place.as_str()) != (name, schema.as_str()))
    }
}
