//! Why a gateway could not be tested.

use super::job::GatewayJob;
use crate::error::Error;

/// Here the gateway is the server of our client.
pub fn of_gateway(error: Error) -> Error {
    match error {
        Error::Target { tried, came, help, .. } => Error::Party { party: "gateway", tried, came, help },
        other => other,
    }
}

pub fn with_words(error: Error, said: &str) -> Error {
    let Some(line) = crate::wire::last_words(said) else { return error };
    match error {
        Error::Target { tried, came, help, refused } => {
            Error::Target { tried, came: format!("{came}; the gateway printed: {line}"), help, refused }
        }
        other => other,
    }
}

pub fn never_connected(job: &GatewayJob, said: &str) -> Error {
    let words = crate::wire::last_words(said).map(|line| format!("; it printed: {line}")).unwrap_or_default();
    let upstream = if job.back.transport.capabilities().process {
        "{upstream} in the command is replaced by the path of a program that the gateway has to start, without arguments"
    } else {
        "{upstream} in the command is replaced by the URL that the gateway has to connect to"
    };
    Error::Party {
        party: "gateway",
        tried: format!("to test {}", job.name()),
        came: format!("the gateway never connected to its upstream{words}"),
        help: upstream.to_owned(),
    }
}
