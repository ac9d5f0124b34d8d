//! The calls of each subject, counted.

use std::collections::BTreeMap;

use super::{
    calls::{Kind, Source},
    item::Item,
    values::{invalid::EXEMPT, keywords::keywords},
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
                let must = !EXEMPT.contains(&item.keyword.as_str());
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
            let Source { subject, covered, .. } = &sources[index];
            let mut known = Vec::new();
            keywords(&subject.schema, &mut known);
            let (exercised, not_exercised) = known.into_iter().partition(|keyword| covered.contains(keyword));
            let (what, name) = (subject.what.word().to_owned(), subject.name.clone());
            CallCounts { what, name, exercised, not_exercised, ..counts }
        });
        all.collect()
    }
}
