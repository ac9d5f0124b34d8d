//! The calls of each subject, counted.

use std::collections::{BTreeMap, HashSet};

use super::{
    calls::{Case, Kind, Source},
    item::Item,
    values::keywords::{keywords, pairs},
};
use conform_model::{evidence::End, outcome::CallCounts};

/// By the index of the source.
#[derive(Default)]
pub struct Counts(BTreeMap<usize, CallCounts>);

impl Counts {
    pub fn add(&mut self, index: usize, item: &Item) {
        let counts = self.0.entry(index).or_default();
        counts.calls += 1;
        match item.kind {
            Kind::Valid => {
                counts.valid += 1;
                counts.accepted += usize::from(item.succeeded());
            }
            Kind::Invalid => {
                let must = item.seen.tolerated != Some(true);
                counts.invalid += usize::from(must);
                counts.rejected += usize::from(must && item.failed);
            }
            Kind::Hostile => counts.hostile += 1,
        }
        counts.errors += usize::from(item.end != End::Result);
        counts.slowest_ms = counts.slowest_ms.max(item.ms);
    }

    /// In the order of the sources, with the keywords of the schema that the calls covered.
    pub fn all(self, sources: &[Source]) -> Vec<CallCounts> {
        let all = self.0.into_iter().map(|(index, counts)| {
            let source = &sources[index];
            let Source { subject, covered, .. } = source;
            let mut known = Vec::new();
            keywords(&subject.schema, &mut known);
            let (exercised, not_exercised) = known.into_iter().partition(|keyword| covered.contains(keyword));
            let (what, name) = (subject.what.word().to_owned(), subject.name.clone());
            let cases = source.cases.len();
            let not_reached = not_reached(source);
            CallCounts { what, name, exercised, not_exercised, cases, not_reached, ..counts }
        });
        all.collect()
    }
}

/// The keywords at their places that no call was made for, then the kinds of values that were planned and not sent.
fn not_reached(source: &Source) -> Vec<String> {
    if !source.subject.what.has_schema() {
        return Vec::new();
    }
    let made: HashSet<(&str, &str)> =
        source.cases.iter().map(|case| (case.keyword.as_str(), case.schema.as_str())).collect();
    let mut places = Vec::new();
    pairs(&source.subject.schema, "", &mut places);
    let place = |schema: &str| if schema.is_empty() { "the arguments".to_owned() } else { schema.to_owned() };
    let unmade = places.iter().filter(|(keyword, schema)| !made.contains(&(keyword.as_str(), schema.as_str())));
    let mut all: Vec<String> = unmade.map(|(keyword, schema)| format!("{keyword} at {}", place(schema))).collect();
    let known = |case: &&Case| made.contains(&(case.keyword.as_str(), case.schema.as_str()));
    let missing = source.missing().into_iter().filter(known);
    all.extend(missing.map(|case| format!("{} at {}: {}", case.keyword, place(&case.schema), case.kind)));
    all
}
