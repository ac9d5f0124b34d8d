//! Why an HTTP exchange failed, in words, and how to fix it.

use std::{error::Error, io, iter};

use conform_model::evidence::{Cause, Reason};

pub fn reason(error: &(dyn Error + 'static)) -> Reason {
    if of_reqwest(error).is_some_and(|error| error.is_connect() && error.is_timeout()) {
        return Reason::new(Cause::ConnectionTimeout, "no connection in time");
    }
    let last = || {
        let words = causes(error).last().map(ToString::to_string).unwrap_or_default();
        Reason::new(named(&words), words)
    };
    causes(error).find_map(known).unwrap_or_else(last)
}

/// Whether no connection was established.
pub fn is_connect(error: &(dyn Error + 'static)) -> bool {
    let refused = |error: &io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
    of_reqwest(error).map_or_else(|| error.downcast_ref().is_some_and(refused), reqwest::Error::is_connect)
}

fn of_reqwest<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a reqwest::Error> {
    error.downcast_ref()
}

/// Whether the connection closed before any byte of a response.
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

/// The error and its sources.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    iter::successors(Some(error), |&cause| cause.source())
}

fn known(cause: &(dyn Error + 'static)) -> Option<Reason> {
    const INCOMPLETE: &str = "the server closed the connection before the response was complete";
    if let Some(error) = cause.downcast_ref::<hyper::Error>() {
        if error.is_incomplete_message() {
            return Some(Reason::new(Cause::IncompleteResponse, INCOMPLETE));
        }
        if error.is_parse() {
            let cause = if error.is_parse_too_large() { Cause::HeadTooLarge } else { Cause::NotHttp };
            return Some(Reason::new(cause, format!("the response is not HTTP: {error}")));
        }
    }
    let error = cause.downcast_ref::<io::Error>()?;
    match error.kind() {
        io::ErrorKind::ConnectionRefused => Some(Reason::new(Cause::ConnectionRefused, "connection refused")),
        _ if is_reset(error) => Some(Reason::new(Cause::ConnectionReset, "the server reset the connection")),
        io::ErrorKind::UnexpectedEof => Some(Reason::new(Cause::IncompleteResponse, INCOMPLETE)),
        _ if error.to_string().contains("chunk") => {
            Some(Reason::new(Cause::BrokenChunks, format!("the chunked encoding is broken: {error}")))
        }
        _ => None,
    }
}

/// Libraries have no code for these errors, so they are recognized by their text, only here.
fn named(words: &str) -> Cause {
    let signs = [
        ("lookup address", Cause::UnknownHost),
        ("InvalidContentType", Cause::NotTls),
        ("tls handshake", Cause::NotTls),
        ("certificate", Cause::Certificate),
    ];
    signs.iter().find(|(sign, _)| words.contains(sign)).map_or(Cause::Other, |(_, cause)| *cause)
}

/// What a user can check after such a failure.
pub const fn help(cause: Cause) -> Option<&'static str> {
    Some(match cause {
        Cause::Unauthorized => {
            "the server requires authorization: pass a token, for example with --bearer-token-command COMMAND"
        }
        Cause::ConnectionRefused => "is the server running, and does it listen on that port?",
        Cause::ConnectionTimeout => "is the host reachable from here?",
        Cause::UnknownHost => "check the host name",
        Cause::HeadTooLarge => "the response has too many or too long headers",
        Cause::NotHttp => "is it an HTTP port? is it https?",
        Cause::NotTls => "is it a TLS port? is it http?",
        Cause::BrokenChunks => "`curl -iv` shows the response; a proxy in between may be the cause",
        Cause::IncompleteResponse | Cause::ConnectionReset => "did the server crash? check its log",
        Cause::NotAnEventStream => {
            "send the JSON as application/json, or as an event: `data: ` before it and an empty line after it"
        }
        Cause::Certificate => "is the certificate trusted here? SSL_CERT_FILE sets the root certificates",
        _ => return None,
    })
}
