//! How a connection ended, or why it could not be opened.

use crate::evidence::{Cause, Ended};

/// How a connection ended.
#[derive(Clone, Debug, Default)]
pub struct Ending {
    /// One sentence, for example: `exited with status 0 when stdin was closed`.
    pub how: String,
    /// Of a process.
    pub ended: Option<Ended>,
}

/// The server could not be started or reached.
#[derive(Debug)]
pub struct OpenError {
    pub tried: String,
    pub came: String,
    pub help: String,
    /// Why the HTTP exchange failed, if it was one.
    pub cause: Option<Cause>,
}
