//! How a connection ended, or why it could not be opened.

use conform_model::{
    error::Error,
    evidence::{Cause, Ended},
};

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

impl OpenError {
    /// As an error about the server under test.
    pub fn of_target(self) -> Error {
        let refused = self.cause == Some(Cause::ConnectionRefused);
        Error::Target { tried: self.tried, came: self.came, help: self.help, refused }
    }

    /// As an error about another party.
    pub fn of(self, party: &'static str) -> Error {
        Error::Party { party, tried: self.tried, came: self.came, help: self.help }
    }
}
