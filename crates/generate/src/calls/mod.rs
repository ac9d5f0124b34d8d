//! The calls of one subject.

mod bounds;
mod call;
mod planned;
mod source;

pub use call::{Beside, Call, Case, Kind};
pub use source::{Source, of_kind};
