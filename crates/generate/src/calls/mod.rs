//! The calls of one subject.

mod bounds;
mod call;
mod source;

pub use call::{Call, Kind};
pub use source::Source;
