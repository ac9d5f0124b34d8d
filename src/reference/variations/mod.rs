//! Variations: each is a way to be a server that the reference server does not show by itself, under a name.
//!
//! Most are lawful; some are wrong in one way that has nothing to do with the rest. No verdict may change because of a
//! variation but those of the rules that it names in `changes` (in code: `also`). They are made as faults are, by the same
//! means and with the same windows.

mod content;
mod http;
mod messages;
mod process;

use crate::{
    embedded::VARIATIONS,
    reference::faults::{Behaviour, FaultInfo, listed},
};

/// Variations that are code, by the file they stand in.
static FILES: &[&[Behaviour]] = &[process::PROCESS, messages::MESSAGES, content::CONTENT, http::HTTP];

/// Every variation there is, in the order of the files.
pub fn variations() -> Vec<FaultInfo> {
    listed(VARIATIONS.iter().copied(), behaviours())
}

pub fn behaviours() -> impl Iterator<Item = &'static Behaviour> {
    FILES.iter().copied().flatten()
}
