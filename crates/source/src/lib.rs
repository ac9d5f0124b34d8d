//! Text with positions: YAML, the mistakes found in it.

pub mod diagnostic;
pub mod pack;
pub mod unpack;
pub mod yaml;

pub use diagnostic::Diagnostic;
