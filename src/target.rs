//! How to start or reach the server under test, and the limits that hold for it.

use std::{path::PathBuf, time::Duration};

/// A server to test.
#[derive(Clone, Debug)]
pub struct Target {
    /// As it may be shown: a command line or URL, without secrets.
    pub name: String,
    pub start: Start,
    /// Values that no record and no message may show, besides those of headers.
    pub secrets: Vec<String>,
}

#[derive(Clone, Debug)]
pub enum Start {
    Stdio { argv: Vec<String>, env: Vec<(String, String)>, cwd: Option<PathBuf> },
    Http { url: String, headers: Vec<(String, String)> },
    Sse { url: String, headers: Vec<(String, String)> },
}

/// What a server may cost. Reaching a limit is reported by its name.
#[derive(Clone, Debug)]
pub struct Limits {
    /// From a request to its answer.
    pub request: Duration,
    /// The whole run.
    pub run: Duration,
    /// One line, event or body.
    pub frame_bytes: usize,
    /// Frames kept in memory; older ones are read back from the transcript file.
    pub memory_bytes: usize,
    /// Requests in flight at once.
    pub in_flight: usize,
    /// For each stage of ending a process: stdin closed, TERM, KILL.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            request: Duration::from_secs(10),
            run: Duration::from_secs(300),
            frame_bytes: 16 << 20,
            memory_bytes: 64 << 20,
            in_flight: 8,
            grace: Duration::from_secs(2),
        }
    }
}
