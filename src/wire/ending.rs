//! How a connection ended, or why it never began.

/// How a connection ended and what the server left on stderr.
#[derive(Clone, Debug, Default)]
pub struct Ending {
    /// One sentence: `exited with status 0 when stdin was closed`.
    pub how: String,
    pub stderr_tail: String,
}

/// The server could not be started or reached.
#[derive(Debug)]
pub struct OpenError {
    pub tried: String,
    pub came: String,
    pub cure: String,
}
