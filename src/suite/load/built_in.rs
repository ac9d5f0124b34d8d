//! The built-in suites: a debug build reads and checks their texts, a release takes what was packed when it was built.

#[cfg(not(debug_assertions))]
use std::{num::NonZero, panic::resume_unwind, thread};

#[cfg(not(debug_assertions))]
use super::Draft;
use super::{Known, Origin};
#[cfg(debug_assertions)]
use crate::embedded::SUITES;
use crate::suite::{diagnostic::Diagnostic, model::Suite};
#[cfg(not(debug_assertions))]
use crate::{embedded::PACKED_SUITES, suite::unpack::unpack};

/// All of them. `known` is only asked for where they are checked; tests check what a release takes as it is.
#[cfg(debug_assertions)]
pub fn built_in(known: impl FnOnce() -> Known) -> Result<Vec<Suite>, Vec<Diagnostic>> {
    let files: Vec<_> = SUITES.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    super::load(&files, &known(), Origin::BuiltIn)
}

#[cfg(not(debug_assertions))]
pub fn built_in(_: impl FnOnce() -> Known) -> Result<Vec<Suite>, Vec<Diagnostic>> {
    let known = Known::default();
    let one = |(name, packed): &(&'static str, &'static [u8])| {
        let tree = unpack(packed).unwrap_or_else(|| unreachable!("{name} was packed when this was built"));
        // Nothing of it is kept beside the next one: drafts are large.
        let (suite, mistakes) = Draft::of(name, "", |_| Some(tree)).build(&known, Origin::Trusted, &[]);
        suite.ok_or(mistakes)
    };
    // Most of what a short command does, so every processor takes its share.
    let share = PACKED_SUITES.len().div_ceil(thread::available_parallelism().map_or(1, NonZero::get));
    let one = &one;
    thread::scope(|threads| {
        let all = |part: &'static [_]| threads.spawn(move || part.iter().map(one).collect::<Vec<_>>());
        let parts: Vec<_> = PACKED_SUITES.chunks(share).map(all).collect();
        parts.into_iter().flat_map(|part| part.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}
