//! From options and configuration to what a run needs.

pub mod configured;
pub mod credentials;
pub mod grant;
pub mod job;
pub mod misnamed;
pub mod place;
pub mod suites;
pub mod target;
