//! Testing a client: it is started against the reference server in one scenario after another, and what it does is recorded.

mod attended;
mod client_run;
mod command_lines;
mod context;
mod contract;
mod facts;
mod fallback;
mod inside;
mod job;
mod local;
mod oauth;
mod packets;
mod process;
mod reported;
mod scenarios;
mod stage;
mod starting;
mod stub;
mod unconnected;
mod watched;

pub use attended::{Attended, attend};
pub use client_run::conduct;
pub use inside::{Ended, Handle, Inside, Reach};
pub use job::{ClientJob, Limits};
pub use scenarios::{Planned, USUAL, Worlds, planned};
pub use stage::{ANYWHERE, Place, Stage};
pub use stub::stub;
