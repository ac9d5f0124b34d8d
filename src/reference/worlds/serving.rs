//! Worlds for rules about clients: serving.

use crate::reference::faults::Behaviour;

pub static SERVING: &[Behaviour] = &[];
