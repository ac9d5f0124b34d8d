//! The built-in suites. A debug build parses and checks their YAML; a release unpacks what the build script packed.

#[cfg(not(debug_assertions))]
use std::{
    iter,
    panic::resume_unwind,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

#[cfg(not(debug_assertions))]
use super::Draft;
use super::{Known, Origin};
use crate::model::Suite;
use conform_model::evidence::Side;
use conform_source::diagnostic::Diagnostic;
#[cfg(not(debug_assertions))]
use conform_source::unpack::unpack;
#[cfg(not(debug_assertions))]
use conform_texts::PACKED_SUITES;
#[cfg(debug_assertions)]
use conform_texts::SUITES;

/// Profiles are only loaded by their names.
const PROFILES: &str = "suites/profiles/";

/// The built-in profiles: name, date, and file, ordered by name and date.
pub fn profiles() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    #[cfg(debug_assertions)]
    let files = SUITES.iter().map(|(file, _)| *file);
    #[cfg(not(debug_assertions))]
    let files = PACKED_SUITES.iter().map(|(file, _)| *file);
    files.filter_map(|file| {
        let (name, date) = file.strip_prefix(PROFILES)?.strip_suffix(".yaml")?.split_once('/')?;
        Some((name, date, file))
    })
}

/// The built-in profile in this file of [`profiles`].
pub fn built_in_profile(file: &str, known: impl FnOnce() -> Known) -> Result<Suite, Vec<Diagnostic>> {
    #[cfg(debug_assertions)]
    {
        let text = SUITES.iter().find(|(name, _)| *name == file).map(|(_, text)| *text).unwrap_or_default();
        super::profile((file, text), &known(), Origin::BuiltIn, |_| {
            Err(("a built-in profile extends none".into(), None))
        })
    }
    #[cfg(not(debug_assertions))]
    {
        let _ = known;
        let packed = PACKED_SUITES.iter().find(|(name, _)| *name == file).map(|(_, packed)| *packed);
        let tree = packed.and_then(unpack).unwrap_or_else(|| unreachable!("{file} was packed when this was built"));
        let (suite, mistakes) = Draft::of(file, "", |_| Some(tree)).build(&Known::default(), Origin::Trusted, &[]);
        suite.ok_or(mistakes)
    }
}

/// Suites about other subjects than servers have folders of their own, so that the subject of a suite is known without reading
/// it.
fn is_about(name: &str, subject: Side) -> bool {
    let folders = [
        ("suites/client/", Side::Client),
        ("suites/gateway/", Side::Gateway),
        ("suites/authorization-server/", Side::AuthorizationServer),
    ];
    !name.starts_with(PROFILES)
        && folders.into_iter().find(|(folder, _)| name.starts_with(folder)).map_or(Side::Server, |(_, side)| side)
            == subject
}

/// The suites that judge one side. `known` is only called where suites are checked; tests check what a release trusts.
#[cfg(debug_assertions)]
pub fn built_in(subject: Side, known: impl FnOnce() -> Known) -> Result<Vec<Suite>, Vec<Diagnostic>> {
    let files = SUITES.iter().filter(|(name, _)| is_about(name, subject));
    let files: Vec<_> = files.map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    super::load(&files, &known(), Origin::BuiltIn)
}

#[cfg(not(debug_assertions))]
pub fn built_in(subject: Side, _: impl FnOnce() -> Known) -> Result<Vec<Suite>, Vec<Diagnostic>> {
    let known = Known::default();
    let packed: Vec<_> = PACKED_SUITES.iter().filter(|(name, _)| is_about(name, subject)).collect();
    let one = |(name, packed): &&(&'static str, &'static [u8])| {
        let tree = unpack(packed).unwrap_or_else(|| unreachable!("{name} was packed when this was built"));
        // Each draft is dropped before the next one is read, since drafts are large.
        let (suite, mistakes) = Draft::of(name, "", |_| Some(tree)).build(&known, Origin::Trusted, &[]);
        suite.ok_or(mistakes)
    };
    // This is most of the work of a short command, so all processors share it.
    let next = AtomicUsize::new(0);
    let work = || {
        let take = || {
            let at = next.fetch_add(1, Ordering::Relaxed);
            packed.get(at).map(|packed| (at, one(packed)))
        };
        iter::from_fn(take).collect::<Vec<_>>()
    };
    let others = thread::available_parallelism().map_or(0, |processors| processors.get() - 1);
    let mut all = thread::scope(|threads| {
        let others: Vec<_> = (0..others).map(|_| threads.spawn(work)).collect();
        let own = work();
        let theirs = others.into_iter().flat_map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        own.into_iter().chain(theirs).collect::<Vec<_>>()
    });
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, suite)| suite).collect()
}
