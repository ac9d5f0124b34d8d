//! Closed sets of words, which editors complete.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::{
    evidence::{Manner, Transport},
    revision::Revision,
    suite::{
        decode::{self, Decode},
        diagnostic::Problems,
        format::Format,
        matcher::Kind,
        model::{Client, Connection, Control},
        yaml::Tree,
    },
};

macro_rules! words {
    ($($type:ident: $words:expr;)*) => {$(
        impl Decode for $type {
            fn decode(tree: &Tree, problems: &mut Problems) -> Option<Self> {
                decode::word(tree, &$words, problems)
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
    Revision: Revision::ALL.map(|revision| (revision.as_str(), revision));
    Transport: Transport::ALL.map(|transport| (transport.as_str(), transport));
    Connection: [
        ("shared", Connection::Shared),
        ("own", Connection::Own),
        ("last", Connection::Last),
        ("alone", Connection::Alone),
        ("fresh", Connection::Fresh),
    ];
    Control: [("result", Control::Result), ("error", Control::Error)];
    Client: [("full", Client::Full), ("plain", Client::Plain), ("bare", Client::Bare)];
    Manner: [
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
    Kind: Kind::ALL.map(|kind| (kind.name(), kind));
    Format: Format::ALL.map(|format| (format.name(), format));
}
