//! Why something could not be read or an HTTP exchange failed: a cause to decide by, and words for people.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What decides; the words beside it never do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// More bytes than are read.
    TooLong,
    /// More values than are read.
    TooManyValues,
    TooDeep,
    NumberOutOfRange,
    NotJson,
    /// A JSON value, and more after it.
    TrailingData,
    EmptyLine,
    /// By its content type or encoding the body is no place for messages.
    WrongMedia,
    /// The body or the event ended in the middle.
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
    /// The server demands authorization where an event stream was to open.
    Unauthorized,
    Other,
}

impl Cause {
    /// A client with more room might have read it: no fault of the server.
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
