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
//! - `results`: what a run leaves, compared with the known failures.
//! - `commands`: one file or folder per command.

mod clients;
mod commands;
mod conducting;
mod foreign;
mod gateways;
mod inputs;
mod process;
mod recording;
mod results;

pub use commands::{
    mutants::{
        Bug, ClientTrial, GatewayTrial, Matrix, Recording, Trial, Variations, bugs, client_trials, gaps,
        gateway_trials, trials, variation_trials,
    },
    run,
    run::{own_suites, tested},
};
pub use conducting::assemble_run::conduct;
#[cfg(any(test, fuzzing))]
pub(crate) use inputs::suites;
pub use inputs::{
    configured::with_settings,
    job::{Job, Revisions},
    suites::{built_in, load},
};
pub use process::{Surroundings, interrupts::Interrupts};
pub use results::course::Tested;
