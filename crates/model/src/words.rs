//! Closed sets of words, which editors complete.

use crate::{
    evidence::{Manner, Side},
    outcome::Flaky,
    revision::Revision,
    transport::Transport,
};

/// The schema of a type whose values are words: `schema_of_words!(TYPE, LIST OF (WORD, VALUE))`.
#[macro_export]
macro_rules! schema_of_words {
    ($type:ident, $words:expr) => {
        impl schemars::JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "enum": $words.iter().map(|(word, _)| *word).collect::<Vec<_>>() })
            }
        }
    };
}

macro_rules! words {
    ($($type:ident: $words:expr;)*) => {$(
        impl $type {
            /// Each value with the word for it that somebody types.
            pub fn words() -> Vec<(&'static str, Self)> {
                $words.to_vec()
            }
        }

        schema_of_words!($type, Self::words());
    )*};
}

words! {
    Revision: Self::ALL.map(|revision| (revision.as_str(), revision));
    Side: [("server", Self::Server), ("client", Self::Client), ("gateway", Self::Gateway), ("authorization-server", Self::AuthorizationServer)];
    Transport: Self::ALL.map(|transport| (transport.as_str(), transport));
    Flaky: [("fail", Self::Fail), ("pass", Self::Pass)];
    Manner: [
        ("accept", Self::Accept),
        ("decline", Self::Decline),
        ("cancel", Self::Cancel),
        ("refuse", Self::Refuse),
        ("wrong", Self::Wrong),
        ("unfit", Self::Unfit),
        ("empty", Self::Empty),
        ("tireless", Self::Tireless),
        ("nothing", Self::Nothing),
        ("part", Self::Part),
        ("extra", Self::Extra),
        ("forged", Self::Forged),
        ("moved", Self::Moved),
        ("garbage", Self::Garbage),
    ];
}
