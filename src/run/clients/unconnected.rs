//! The error about a client that never connected.

use super::{
    ClientJob,
    facts::{End, Start},
};
use crate::error::Error;

pub fn never_connected(job: &ClientJob, start: &Start) -> Error {
    let how = match (start.run.end, start.run.signal) {
        (End::Hung, _) => format!("it did not connect within {:?}", job.limits.start),
        (_, Some(signal)) => format!("it was ended by signal {signal} before it connected"),
        _ => format!("it exited with code {} before it connected", start.run.code.unwrap_or_default()),
    };
    let words = crate::wire::last_words(&start.run.stderr);
    let said = words.map(|line| format!("; on stderr: {line}")).unwrap_or_default();
    let place = if job.client.transport.capabilities().process {
        "{stub} in the command is replaced by the path of the server to start; without it the path is the last argument"
    } else {
        "{url} in the command is replaced by the URL; without it the URL is the last argument"
    };
    Error::Party {
        party: "client",
        tried: format!("to start {}", job.command()),
        came: how + &said,
        help: place.to_owned(),
    }
}
