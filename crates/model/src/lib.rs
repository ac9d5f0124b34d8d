//! What a run records and reports, as plain data.
//!
//! Begin at [`evidence::Evidence`], what happened, and [`outcome::RunReport`], what is said about it. [`revision`] and
//! [`transport`] have a row for each, with its properties: code depends on a property, not on a name. [`error`] has what stops
//! a run and its exit code, [`partition`] which part of a run one machine does.
//!
//! It uses no other crate of the project.

/// The name of the program on the wire and in reports.
pub const PROGRAM: &str = "mcp-conform";
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

pub mod error;
pub mod evidence;
pub mod outcome;
pub mod partition;
pub mod revision;
pub mod transport;
mod words;
