//! The shapes of messages: `suites/shapes/*.yaml` describes each once for all revisions, and values are validated
//! against them.
//!
//! The top of `base.yaml` explains the notation. A description is compiled to JSON Schema for one revision on first
//! use. Fields that a revision does not define are not validated in it.

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
pub use twins::{Misspelling, twins};
