//! Every view with its fields.

macro_rules! views {
    ($(#[doc = $about:literal] $name:ident $called:literal {
        $(#[doc = $said:literal] $field:ident $(: $kind:ident $($view:ident)?)?,)*
    })*) => {
        $(pub static $name: $crate::suite::views::View = $crate::suite::views::View {
            called: $called,
            about: $about,
            fields: &[$($crate::suite::views::Field { name: super::plain(stringify!($field)), about: $said, holds: views!(@ $($kind $($view)?)?) }),*],
        };)*
    };
    (@) => { $crate::suite::views::Holds::Anything };
    (@ list) => { $crate::suite::views::Holds::List };
    (@ one $view:ident) => { $crate::suite::views::Holds::One(&$view) };
    (@ many $view:ident) => { $crate::suite::views::Holds::Many(&$view) };
}

/// A field that is a word of the language is written `r#do`.
const fn plain(field: &str) -> &str {
    match field.as_bytes() {
        [b'r', b'#', ..] => field.split_at(2).1,
        _ => field,
    }
}

mod client;
mod gateway;
mod gathered;
mod generated;
mod server;
mod wire;

pub use self::{client::*, gateway::*, gathered::*, generated::*, server::*, wire::*};
