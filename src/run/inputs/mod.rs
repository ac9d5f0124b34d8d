//! From options and configuration to what a run needs.

pub mod again;
pub mod configured;
pub mod credentials;
pub mod deviations;
pub mod grant;
pub mod job;
pub mod minted;
pub mod misnamed;
pub mod oauth_client;
pub mod place;
pub mod profiles;
pub mod sdks;
pub mod suites;
pub mod target;
