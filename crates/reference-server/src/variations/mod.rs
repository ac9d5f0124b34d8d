//! Variations: each is a named behavior that the reference server does not have by default.
//!
//! Most conform to the specification. Some are wrong in one way that is unrelated to the rest. A variation must not
//! change any verdict except those of the rules in `changes` (in code: `also`). Variations are implemented like faults,
//! and limited to revisions and transports in the same way.

mod content;
mod http;
mod messages;
mod process;

use crate::faults::{Behaviour, FaultInfo, listed};
use conform_texts::VARIATIONS;

/// Variations that are code, by file.
static FILES: &[&[Behaviour]] = &[process::PROCESS, messages::MESSAGES, content::CONTENT, http::HTTP];

/// All variations, in the order of the files.
pub fn variations() -> Vec<FaultInfo> {
    listed(VARIATIONS.iter().copied(), behaviours())
}

pub fn behaviours() -> impl Iterator<Item = &'static Behaviour> {
    FILES.iter().copied().flatten()
}
