//! A failed handshake: converts between the error and its record.

use conform_model::{
    error::Error,
    evidence::{Evidence, NotOpened},
    outcome::RunReport,
};

/// The record of the error. Returns the error itself if it is not about the server.
pub fn recorded(error: Error) -> Result<NotOpened, Error> {
    match error {
        Error::Target { tried, came, help, .. } => Ok(NotOpened::Unreachable { tried, came, help }),
        Error::NotSpoken { asked, offered } => Ok(NotOpened::NotSpoken { asked, offered }),
        other => Err(other),
    }
}

pub fn error(why: &NotOpened) -> Error {
    match why.clone() {
        NotOpened::Unreachable { tried, came, help } => Error::Target { tried, came, help, refused: false },
        NotOpened::NotSpoken { asked, offered } => Error::NotSpoken { asked, offered },
    }
}

/// Why a report on this evidence has no results, if so.
pub fn without_results(report: &RunReport, evidence: &Evidence) -> Option<Error> {
    let failed = evidence.header.end.failed_handshake.as_ref()?;
    report.cause().map(|_| error(&failed.why))
}
