//! What a run records and reports, as plain data.

/// The name of the program on the wire and in reports.
pub const PROGRAM: &str = "mcp-conform";
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

pub mod error;
pub mod evidence;
pub mod outcome;
pub mod partition;
pub mod revision;
pub mod transport;
pub mod words;
