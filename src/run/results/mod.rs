//! What a run leaves: reports and transcripts, compared with the known failures.

pub mod abort_report;
pub mod baseline;
pub mod course;
mod outdated;
pub mod outputs;
