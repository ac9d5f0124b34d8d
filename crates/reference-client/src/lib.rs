//! The reference client: `mcp-conform act`. It conforms to every revision over every transport; `conform-client-faults` has
//! what it can do wrong, so every rule for clients is tested for passing and failing.
//!
//! There is one correct code path. Begin at [`run`] and [`state`]. A fault or a variation is a
//! [`behaviour::Behaviour`]: a row of functions that are called at the ends of this path, before a message is sent, before
//! one is handled, and where the client decides something.
//!
//! It uses `conform-faults`, and of `conform-model` the revisions: if it shared more with the program, it would share the
//! mistakes of the server that tests it.

pub mod actions;
pub mod behaviour;
pub mod cache;
pub mod closing;
pub mod handlers;
pub mod incoming;
pub mod lists;
pub mod message;
pub mod meta;
pub mod oauth;
pub mod opening;
pub mod options;
pub mod outputs;
pub mod outside;
pub mod report;
pub mod requests;
pub mod skills;
pub mod state;
pub mod tasks;
pub mod transport;
pub mod variations;

use std::{path::Path, rc::Rc};

use tokio::task::LocalSet;

pub use options::{Options, Transport};
pub use outside::{Outside, System};

use behaviour::Behaviour;

/// The exit codes.
pub const IN_ORDER: u8 = 0;
pub const NOT_CONNECTED: u8 = 1;

/// Runs the client; the value is its exit code. The error says what is wrong with the command line or the environment.
pub async fn run(target: &str, ways: &'static Behaviour, outside: Rc<dyn Outside>) -> Result<u8, String> {
    let options = Options::of_environment(target, &*outside)?;
    let report = report::Report::open(options.report.as_deref().map(Path::new))?;
    let client = state::Client::new(options, ways, report, outside);
    let local = LocalSet::new();
    let connected = local.run_until(async move { actions::perform(&Rc::clone(&client)).await }).await;
    Ok(if connected { IN_ORDER } else { NOT_CONNECTED })
}
