//! The reference server: it conforms to every revision over every transport, and can commit one fault on demand.
//!
//! It shares nothing with the client side except the names of the revisions: a server that used the client's code would
//! repeat its mistakes, and no test would notice.
//!
//! Begin at `dispatch`, from a request to its handler, and at `faults`: one that only changes messages is data (`*.yaml`), any
//! other is a row of functions that are called at the ends of the one correct code path. `variations` differ and conform.
//!
//! It uses `conform-model`, `conform-faults` and `conform-texts`.

mod clock;
mod content;
mod context;
mod dialogue;
pub mod dispatch;
mod era;
mod facts;
mod fail;
mod faults;
mod handlers;
pub mod http;
pub mod message;
pub mod oauth;
mod options;
pub mod session;
mod stdio;
mod turn;
mod variations;
mod worlds;

#[cfg(test)]
mod tests;

pub use content::Grown;
pub use facts::{facts, facts_of};
pub use faults::{FaultInfo, faults, generated::SUITES as GENERATED};
pub use http::{APP, CLIENT, Listening, USER, http, tokens};
pub use options::{EXTENSIONS, Options, PROPOSALS, Transport};
pub use stdio::{serve, stdio};
pub use variations::variations;
pub use worlds::{has_login, has_skills, worlds};
