//! The program. Each command runs some of these steps: load the suites, connect to the target, gather evidence, judge,
//! report.
//!
//! A folder imports only from those above it here; `tests/layers.rs` checks it.
//!
//! - `process`: the process and the terminal that the program runs in.
//! - `inputs`: from options and configuration to what a run needs.
//! - `conducting`: which suites run on which connections, in which order.
//! - `clients`: a client started against the reference server, in one scenario after another.
//! - `recording`: a conversation between a client and a server that passes through, and is recorded.
//! - `foreign`: recordings of other tools, made into those of this program.
//! - `gateways`: a gateway between our client and the reference server.
//! - `trials`: runs against the reference server in this process.
//! - `results`: what a run leaves, compared with the known failures.
//! - `commands`: one file or folder per command.

pub mod clients;
pub mod commands;
pub mod conducting;
mod foreign;
pub mod gateways;
pub mod inputs;
pub mod process;
mod recording;
mod results;
pub mod trials;

pub use commands::{
    run,
    run::{own_suites, tested},
};
pub use conducting::assemble_run::conduct;
pub use inputs::{
    configured::with_settings,
    job::{Job, Revisions},
    suites::{built_in, load},
};
pub use process::{Surroundings, interrupts::Interrupts};
pub use results::course::Tested;
