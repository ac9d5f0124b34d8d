//! The suite language: from YAML text to checked rules.

pub(crate) mod decode;
pub mod diagnostic;
pub(crate) mod facts;
mod file;
pub mod foreign;
pub mod format;
mod ground;
pub mod load;
pub mod matcher;
pub mod model;
#[cfg(all(test, debug_assertions))]
mod pack;
pub mod path;
mod pattern;
pub mod scope;
pub mod shape;
mod template;
#[cfg(any(test, not(debug_assertions)))]
mod unpack;
pub mod views;
pub(crate) mod yaml;

pub use diagnostic::Diagnostic;
pub use file::schema;
pub(crate) use file::without_null;
pub use ground::{SURVEY, ground};
pub use load::{Known, Origin, built_in, load};
pub use matcher::{Matcher, Mismatch, Unmet, show::value as show};
pub use model::*;
pub use path::{Demand, Filter, Node, Path, push_token};
pub use pattern::fits;
pub use scope::Scope;
pub use template::Missing;
