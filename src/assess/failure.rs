//! A handshake that failed, as it is recorded and as it is told.

use crate::{
    error::Error,
    evidence::{Evidence, NotOpened},
    outcome::RunReport,
};

/// For the record; the error itself comes back if it is about something else than the server.
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

/// Why there are no results in a report on this evidence, if so.
pub fn without_results(report: &RunReport, evidence: &Evidence) -> Option<Error> {
    let failed = evidence.header.end.failed_handshake.as_ref()?;
    report.cause().map(|_| error(&failed.why))
}
