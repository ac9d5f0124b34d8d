//! Bytes in and out: one connection to the server, over any transport.
//!
//! The wire knows framing but no semantics: it passes on every JSON value and all junk in the order of arrival, and
//! records both. Ids, responses and revisions are handled by the session.
//!
//! Begin at [`Wire`], one connection, and [`target::Target`], how to start or reach a server. Every wait has a limit and every
//! buffer a bound. [`tap`] records what passes between a client and a server that do not know of it.
//!
//! It uses `conform-model`.

mod body;
pub mod challenge;
mod channel;
mod client;
mod connection;
pub mod encoding;
mod ending;
pub mod event_stream;
mod exchange;
mod failure;
mod http;
mod incoming;
pub mod json;
pub mod lines;
mod login;
mod outgoing;
mod pipe;
pub mod process;
mod put_off;
mod received;
mod redirect;
mod secrets;
mod side_request;
mod sse;
mod stdio;
pub mod tap;
pub mod target;
#[cfg(test)]
mod tests;
mod unread;

pub use client::transparent;
pub use connection::Wire;
pub use ending::{Ending, OpenError};
pub use failure::help;
pub use incoming::Incoming;
pub use login::LoggedIn;
pub use outgoing::{Envelope, HttpRequest, Posted};
pub use pipe::Pipe;
pub use process::{Tail, exit, last_words};
pub use put_off::PutOff;
pub use secrets::{Secrets, in_headers, leave_out_credentials};
pub use side_request::{Fetched, fetch, side_request};
