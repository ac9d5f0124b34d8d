//! Worlds for rules about clients: transports.

use crate::reference::faults::Behaviour;

pub static TRANSPORTS: &[Behaviour] = &[];
