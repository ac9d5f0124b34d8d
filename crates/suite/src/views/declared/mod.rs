//! Every view with its fields.

macro_rules! views {
    ($(#[doc = $about:literal] $name:ident $called:literal {
        $(#[doc = $said:literal] $field:ident $(: $kind:ident $($view:ident)?)?,)*
    })*) => {
        $(pub static $name: $crate::views::View = $crate::views::View {
            called: $called,
            about: $about,
            fields: &[$($crate::views::Field { name: super::plain(stringify!($field)), about: $said, holds: views!(@ $($kind $($view)?)?) }),*],
        };)*
    };
    (@) => { $crate::views::Holds::Anything };
    (@ list) => { $crate::views::Holds::List };
    (@ one $view:ident) => { $crate::views::Holds::One(&$view) };
    (@ many $view:ident) => { $crate::views::Holds::Many(&$view) };
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
mod oauth;
mod profile;
mod server;
mod wire;

pub use self::{client::*, gateway::*, gathered::*, generated::*, oauth::*, profile::*, server::*, wire::*};
