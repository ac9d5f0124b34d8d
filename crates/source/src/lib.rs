//! Text with positions: YAML, and the mistakes found in it.
//!
//! Begin at [`yaml::parse`], which gives a tree whose nodes know where they were written, and [`diagnostic::Problems`], which
//! collects mistakes and shows each with its line. [`pack`] makes bytes of a tree at build time, and [`unpack`] a tree of the
//! bytes, so that a release parses no YAML when it starts.
//!
//! It uses no other crate of the project; the build script of `conform-texts` uses it.

pub mod diagnostic;
pub mod pack;
pub mod unpack;
pub mod yaml;

pub use diagnostic::Diagnostic;
