//! What the other modules need to know of each verb, in one place.

use super::{Template, Verb};
use crate::views::{self, View};

/// What a step leaves, needs and does to the server.
#[derive(Clone, Copy)]
pub struct VerbSpec<'a> {
    /// The type of what it saves.
    pub saves: &'static View,
    /// The method that it calls on the connection of its suite.
    pub calls: Option<&'a str>,
    /// The fact with the change that it makes in the server.
    pub changes: Option<&'a str>,
    /// It mostly waits.
    pub waits: bool,
    /// It needs a connection besides that of its suite.
    pub needs_second: bool,
}

const REPLY: VerbSpec<'static> =
    VerbSpec { saves: &views::REPLY, calls: None, changes: None, waits: false, needs_second: false };

impl Verb {
    pub fn spec(&self) -> VerbSpec<'_> {
        match self {
            Self::Call(call) => VerbSpec {
                calls: call.method.literal().filter(|_| !call.alone),
                waits: call.seconds.is_some_and(|seconds| seconds < 1.0),
                needs_second: call.alone,
                ..REPLY
            },
            Self::List(list) => VerbSpec { saves: &views::LIST, needs_second: list.second, ..REPLY },
            Self::Overlap(overlap) => VerbSpec {
                saves: &views::OVERLAP,
                calls: overlap.method.literal(),
                waits: true,
                needs_second: true,
                ..REPLY
            },
            Self::Walk(_) => VerbSpec { saves: &views::WALK, ..REPLY },
            Self::Await(_) => VerbSpec { saves: &views::AWAIT, waits: true, ..REPLY },
            Self::Pause(_) => VerbSpec { waits: true, ..REPLY },
            Self::Change(fact) => VerbSpec { saves: &views::CHANGE, changes: fact.first_member(), ..REPLY },
            // A DELETE ends a session, and its time limit is only there for a server that does not respond.
            Self::Http(http) => VerbSpec { waits: http.method != "DELETE" && http.seconds.is_some(), ..REPLY },
            Self::Notify(_) | Self::Send(_) | Self::Cancel(_) => REPLY,
        }
    }
}

impl Template {
    fn literal(&self) -> Option<&str> {
        match self {
            Self::Literal(value) => value.as_str(),
            _ => None,
        }
    }
}
