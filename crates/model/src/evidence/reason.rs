//! Why something could not be read or an HTTP exchange failed: a cause for the code, and a text for people.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Code depends only on this, never on the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// More bytes than the limit.
    TooLong,
    /// More values than the limit.
    TooManyValues,
    TooDeep,
    NumberOutOfRange,
    NotJson,
    /// A JSON value followed by more data.
    TrailingData,
    EmptyLine,
    /// The content type or encoding does not allow messages in the body.
    WrongMedia,
    /// The body is not an event stream, although its content type says so.
    NotAnEventStream,
    /// The body or event ended prematurely.
    CutOff,
    ConnectionRefused,
    ConnectionTimeout,
    UnknownHost,
    HeadTooLarge,
    NotHttp,
    NotTls,
    Certificate,
    BrokenChunks,
    IncompleteResponse,
    ConnectionReset,
    /// The server requires authorization for an event stream.
    Unauthorized,
    Other,
}

impl Cause {
    /// Whether a client with higher limits might have read it: not a fault of the server.
    pub const fn is_limit(self) -> bool {
        matches!(self, Self::TooLong | Self::TooManyValues | Self::TooDeep | Self::NumberOutOfRange)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    pub cause: Cause,
    pub words: String,
}

impl Reason {
    pub fn new(cause: Cause, words: impl Into<String>) -> Self {
        Self { cause, words: words.into() }
    }

    pub fn too_long(bytes: usize) -> Self {
        Self::new(Cause::TooLong, format!("longer than {bytes} bytes, not read further"))
    }

    pub fn too_many_values(most: usize) -> Self {
        Self::new(Cause::TooManyValues, format!("more than {most} values, not read further"))
    }

    pub fn too_deep(levels: usize) -> Self {
        Self::new(Cause::TooDeep, format!("nested deeper than {levels} levels"))
    }

    pub const fn is_limit(&self) -> bool {
        self.cause.is_limit()
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.words)
    }
}
