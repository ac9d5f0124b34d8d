//! Documents that a server serves for hosts to show: what they are, and what they load.

pub mod app_document;
pub mod app_references;
mod loaded;
mod origin;
