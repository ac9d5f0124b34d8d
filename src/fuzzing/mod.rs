//! What fuzzing feeds with bytes: each target is one function, which panics where a promise of the program does not hold.
//!
//! `fuzz/` looks for inputs that break a promise. Those that were found, and those that reach far, are kept in
//! `tests/fuzz-corpus` and tried by an ordinary test.

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
