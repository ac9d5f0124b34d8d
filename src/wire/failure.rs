//! Why an HTTP exchange failed, in words, and what may cure it.

use std::{error::Error, io, iter};

pub fn words(error: &(dyn Error + 'static)) -> String {
    if of_reqwest(error).is_some_and(|error| error.is_connect() && error.is_timeout()) {
        return "no connection in time".to_owned();
    }
    causes(error).find_map(known).or_else(|| causes(error).last().map(ToString::to_string)).unwrap_or_default()
}

/// Whether no connection came about.
pub fn is_connect(error: &(dyn Error + 'static)) -> bool {
    let refused = |error: &io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
    of_reqwest(error).map_or_else(|| error.downcast_ref().is_some_and(refused), reqwest::Error::is_connect)
}

fn of_reqwest<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a reqwest::Error> {
    error.downcast_ref()
}

/// Whether the connection ended before anything of a response came.
pub fn is_closed(error: &(dyn Error + 'static)) -> bool {
    causes(error).any(|cause| {
        let closed = cause.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_incomplete_message);
        closed || cause.downcast_ref::<io::Error>().is_some_and(is_reset)
    })
}

fn is_reset(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
    matches!(error.kind(), ConnectionReset | ConnectionAborted | BrokenPipe)
}

/// The error itself, and what it came from.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    iter::successors(Some(error), |&cause| cause.source())
}

fn known(cause: &(dyn Error + 'static)) -> Option<String> {
    if let Some(error) = cause.downcast_ref::<hyper::Error>() {
        if error.is_incomplete_message() {
            return Some("the server closed the connection before the response was complete".to_owned());
        }
        if error.is_parse() {
            return Some(format!("the response is not HTTP: {error}"));
        }
    }
    let error = cause.downcast_ref::<io::Error>()?;
    match error.kind() {
        io::ErrorKind::ConnectionRefused => Some("connection refused".to_owned()),
        _ if is_reset(error) => Some("the server reset the connection".to_owned()),
        io::ErrorKind::UnexpectedEof => {
            Some("the server closed the connection before the response was complete".to_owned())
        }
        _ if error.to_string().contains("chunk") => Some(format!("the chunked encoding is broken: {error}")),
        _ => None,
    }
}

/// What a user may look at when an exchange failed so.
pub fn help(failure: &str) -> Option<&'static str> {
    let helps = [
        (
            "status 401",
            "the server requires authorization: pass a token, for example with --bearer-token-command COMMAND",
        ),
        ("connection refused", "is the server running, and does it listen on that port?"),
        ("no connection in time", "is the host reachable from here?"),
        ("lookup address", "check the host name"),
        ("message head is too large", "the response has too many or too long headers"),
        ("not HTTP", "is it an HTTP port? is it https?"),
        ("InvalidContentType", "is it a TLS port? is it http?"),
        ("tls handshake", "is it a TLS port? is it http?"),
        ("chunked encoding", "`curl -iv` shows the response; a proxy in between may be the cause"),
        ("before the response was complete", "did the server crash? check its log"),
        ("reset the connection", "did the server crash? check its log"),
        ("certificate", "is the certificate trusted here? SSL_CERT_FILE sets the root certificates"),
    ];
    helps.iter().find(|(sign, _)| failure.contains(sign)).map(|(_, help)| *help)
}
