//! Worlds for rules about clients: base.

use crate::reference::faults::Behaviour;

pub static BASE: &[Behaviour] = &[];
