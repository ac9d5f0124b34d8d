//! The shapes of messages: `suites/shapes/*.yaml` describe each once for all revisions, and values are judged by them.
//!
//! The notation is explained at the top of `base.yaml`. A description compiles to JSON Schema for one revision, when it
//! is first asked for; fields that a revision does not know are not judged there.

mod book;
mod compile;
mod judge;
#[cfg(test)]
mod lint;
mod message;
mod rows;
mod twins;
mod types;
mod window;

pub use book::{Sender, exists, names, notification_shape, params_shape, request_shape, result_shape, sender};
pub use judge::{MOST, Violation, schema, violations};
pub(super) use message::violation;
pub use twins::{Twin, twins};
