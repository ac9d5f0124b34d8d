//! The faults of the reference gateway, by the messages that they change.

mod edits;
mod news;
mod requests;
mod results;
mod whole;

use super::Fault;

pub static ALL: [&[Fault]; 4] = [requests::REQUESTS, results::RESULTS, news::NEWS, whole::WHOLE];
