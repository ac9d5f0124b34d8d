//! The suite language: from YAML text to checked rules.

pub mod decode;
pub mod facts;
mod file;
pub mod foreign;
pub mod format;
mod ground;
pub mod load;
pub mod matcher;
pub mod model;
pub mod path;
mod pattern;
pub mod plan;
pub mod scope;
pub mod shape;
mod template;
pub mod views;

pub use conform_source::{Diagnostic, diagnostic, yaml};
pub use file::schema;
pub use file::without_null;
pub use ground::{SURVEY, ground};
pub use load::{Known, Origin, built_in, load};
pub use matcher::{Matcher, Mismatch, Unmet, show::value as show};
pub use model::*;
pub use path::{Demand, Filter, Node, Path, push_token};
pub use pattern::fits;
pub use scope::Scope;
pub use template::Missing;
