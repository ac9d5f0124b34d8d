//! Lines to stdout and stderr.

use std::{
    io::{ErrorKind, Write},
    path::Path,
};

use crate::error::Error;

pub fn failed(path: &Path, doing: &'static str, source: std::io::Error) -> Error {
    Error::File { path: path.display().to_string(), doing, source }
}

/// A number of things: "1 trial", "2 trials".
pub fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// A line to stdout.
pub fn say(text: &str) {
    if let Err(error) = put(text) {
        complain(&failed(Path::new("stdout"), "write", error).to_string());
    }
}

/// A closed stdout (`| head`) is not an error.
pub fn put(text: &str) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// A line to stderr.
pub fn complain(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}
