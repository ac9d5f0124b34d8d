//! Executes the steps of a suite and saves the results. A failed step never stops the next one.
//!
//! Begin at `step`, which executes one step; each verb has a file.
//!
//! It uses `conform-model`, `conform-suite`, `conform-wire` and `conform-session`. Not the judge: a step asserts nothing.

mod adoption;
mod allowed;
pub mod arguments;
mod as_tasks;
mod authorization;
mod await_;
mod beforehand;
mod call;
mod change;
mod facts;
mod first_task;
mod frontier;
mod graph;
mod issuer;
mod list;
mod login;
mod outside;
mod overlap;
mod param_headers;
mod prefixes;
mod probe;
mod send;
mod silence;
mod step;
mod walk;
mod wanted;

pub use adoption::adoption;
pub use allowed::{misfit, placeholders};
pub use arguments::example;
pub use authorization::authorization;
pub use beforehand::{connections, pause_before_change, runs_slow_tool};
pub use facts::complete_facts;
pub use first_task::first_task;
pub use issuer::{issuer, issuer_metadata, scopes, unregister};
pub use param_headers::param_headers;
pub use prefixes::add_prefixes;
pub use probe::Controls;
pub use silence::harmless;
pub use step::{Stage, gather, steps};
