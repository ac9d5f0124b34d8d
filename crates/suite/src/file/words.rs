//! Closed sets of words, which editors complete.

use conform_model::{
    evidence::{Manner, Side, Transport},
    outcome::{Flaky, Loss},
    revision::Revision,
    schema_of_words,
};
use conform_source::{diagnostic::Problems, yaml::Tree};

use crate::{
    decode::{self, Decode},
    format::Format,
    matcher::Kind,
    model::{Capabilities, Certainty, Connection, Control, Fix, LevelWord, LoginEnd, StepConnection},
};

macro_rules! words {
    ($($type:ident $place:literal: $words:expr;)*) => {$(
        impl Decode for $type {
            fn decode(tree: &Tree, problems: &mut Problems) -> Option<Self> {
                decode::word(tree, $place, &$words, problems)
            }
        }
    )*};
}

// The schemas of these are in the model.
words! {
    Revision "revision": Revision::words();
    Side "subject": Side::words();
    Transport "transport": Transport::words();
    Manner "respond": Manner::words();
    Flaky "flaky": Flaky::words();
    Loss "lost": Loss::ALL;
}

macro_rules! own_words {
    ($($type:ident $place:literal: $words:expr;)*) => {$(
        words!($type $place: $words;);
        schema_of_words!($type, $words);
    )*};
}

own_words! {
    Connection "connection": [
        ("shared", Connection::Shared),
        ("isolated", Connection::Isolated),
        ("new", Connection::New),
        ("final", Connection::Final),
        ("per-call", Connection::PerCall),
    ];
    LoginEnd "end of a login": [("approve", LoginEnd::Approve), ("deny", LoginEnd::Deny)];
    StepConnection "connection": [("new", StepConnection::New), ("second", StepConnection::Second)];
    Certainty "certainty": Certainty::ALL;
    Fix "fix": Fix::ALL;
    LevelWord "level": LevelWord::ALL;
    Control "control": [("result", Control::Result), ("error", Control::Error)];
    Capabilities "capabilities": [("full", Capabilities::Full), ("basic", Capabilities::Basic), ("none", Capabilities::None)];
    Kind "type": Kind::ALL.map(|kind| (kind.name(), kind));
    Format "format": Format::ALL.map(|format| (format.name(), format));
}
