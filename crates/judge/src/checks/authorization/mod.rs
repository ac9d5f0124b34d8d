//! Authorization, and identifiers that must not be guessable.

pub mod names_endpoint;
pub mod no_redirect;
pub mod not_framed;
pub mod scope_names;
pub mod scope_sets;
pub mod secure_urls;
pub mod session_ids;
pub mod unguessable;
