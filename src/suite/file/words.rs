//! Closed sets of words, which editors complete.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::{
    evidence::{Manner, Side, Transport},
    revision::Revision,
    suite::{
        decode::{self, Decode},
        diagnostic::Problems,
        format::Format,
        matcher::Kind,
        model::{Capabilities, Connection, Control, StepConnection},
        yaml::Tree,
    },
};

macro_rules! words {
    ($($type:ident $place:literal: $words:expr;)*) => {$(
        impl Decode for $type {
            fn decode(tree: &Tree, problems: &mut Problems) -> Option<Self> {
                decode::word(tree, $place, &$words, problems)
            }
        }

        impl JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "enum": $words.iter().map(|(word, _)| *word).collect::<Vec<_>>() })
            }
        }
    )*};
}

words! {
    Revision "revision": Revision::ALL.map(|revision| (revision.as_str(), revision));
    Side "subject": [("server", Side::Server), ("client", Side::Client), ("gateway", Side::Gateway)];
    Transport "transport": Transport::ALL.map(|transport| (transport.as_str(), transport));
    Connection "connection": [
        ("shared", Connection::Shared),
        ("isolated", Connection::Isolated),
        ("new", Connection::New),
        ("final", Connection::Final),
        ("per-call", Connection::PerCall),
    ];
    StepConnection "connection": [("new", StepConnection::New), ("second", StepConnection::Second)];
    Control "control": [("result", Control::Result), ("error", Control::Error)];
    Capabilities "capabilities": [("full", Capabilities::Full), ("basic", Capabilities::Basic), ("none", Capabilities::None)];
    Manner "respond": [
        ("accept", Manner::Accept),
        ("decline", Manner::Decline),
        ("cancel", Manner::Cancel),
        ("refuse", Manner::Refuse),
        ("wrong", Manner::Wrong),
        ("unfit", Manner::Unfit),
        ("empty", Manner::Empty),
        ("tireless", Manner::Tireless),
        ("nothing", Manner::Nothing),
        ("part", Manner::Part),
        ("extra", Manner::Extra),
        ("forged", Manner::Forged),
        ("garbage", Manner::Garbage),
    ];
    Kind "type": Kind::ALL.map(|kind| (kind.name(), kind));
    Format "format": Format::ALL.map(|format| (format.name(), format));
}
