//! Worlds for rules about clients: resources.

use crate::reference::faults::Behaviour;

pub static RESOURCES: &[Behaviour] = &[];
