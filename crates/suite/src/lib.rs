//! The suite language: from YAML text to checked rules.
//!
//! Begin at [`load()`] and the types of [`model`]: a [`Suite`] has steps, which gather evidence, and rules, which judge it.
//! `file` has the keys as they are written; [`matcher`], [`path`] and [`shape`] are what rules are made of; [`views`] declares
//! the fields that they see. [`plan`] says which suites and rules apply to a run.
//!
//! It uses `conform-model`, `conform-source` and `conform-texts`. Not the wire: a suite means the same on every transport.

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
pub use load::{Known, Origin, built_in, built_in_profile, load, profile, profiles};
pub use matcher::{Matcher, Mismatch, Unmet, equal, show::value as show};
pub use model::*;
pub use path::{Demand, Filter, Node, Path, push_token};
pub use pattern::fits;
pub use scope::Scope;
pub use template::Missing;
