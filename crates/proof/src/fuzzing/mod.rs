//! Fuzz targets: each is a function of bytes that panics if the program violates an invariant.
//!
//! `fuzz/` searches for such inputs. Inputs that violated an invariant, and those with a high coverage, are kept in
//! `tests/fuzz-corpus` and tested by an ordinary test.

mod config;
mod evidence;
mod judge;
mod reference;
mod report;
mod schema;
mod suite;
mod text;
mod wire;

#[cfg(test)]
mod tests;

/// Takes any bytes.
pub type Target = fn(&[u8]);

pub const TARGETS: &[(&str, Target)] = &[
    ("config", config::config),
    ("conversation", judge::conversation),
    ("events", wire::events),
    ("frames", wire::frames),
    ("headers", text::headers),
    ("judge", judge::judge),
    ("messages", wire::messages),
    ("paths", suite::paths),
    ("report", report::report),
    ("requests", reference::requests),
    ("schemas", schema::schemas),
    ("server", reference::server),
    ("suites", suite::suites),
    ("texts", text::texts),
    ("transcript", evidence::transcript),
];

/// Runs the target of that name.
pub fn fuzz(target: &str, bytes: &[u8]) {
    let (_, run) = TARGETS.iter().find(|(name, _)| *name == target).expect("a target of that name");
    run(bytes);
}
