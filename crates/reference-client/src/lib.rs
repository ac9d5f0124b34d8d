//! The reference client: `mcp-conform act`. It conforms to every revision over every transport, and commits one of its
//! faults on demand. So every rule for clients is tested for passing and failing.
//!
//! It shares nothing with the rest of the program except [`conform_model::revision`]: otherwise it would share the mistakes of
//! the server that tests it.
//!
//! There is one correct code path. A fault that only changes messages or headers is data (`faults/*.yaml`). Any other, or
//! a variation, is a row of functions that are called at the ends of this path: before a message is sent, before one is
//! handled, and where the client decides something.

mod actions;
mod cache;
mod closing;
pub mod faults;
mod handlers;
mod incoming;
mod lists;
mod message;
mod meta;
mod opening;
pub mod options;
pub mod outside;
mod report;
mod requests;
mod state;
mod transport;
pub mod variations;

use std::{path::Path, rc::Rc};

use tokio::task::LocalSet;

pub use options::{Options, Transport};
pub use outside::{Outside, System};

use faults::behaviour::Behaviour;

use conform_model::revision::Revision;

/// The exit codes.
pub const IN_ORDER: u8 = 0;
pub const NOT_CONNECTED: u8 = 1;

/// Name and description of a fault or variation, for lists.
#[derive(Clone, Debug)]
pub struct Info {
    pub name: &'static str,
    pub about: &'static str,
    pub transports: &'static [Transport],
    pub since: Option<Revision>,
    pub until: Option<Revision>,
    /// Rules besides those that name the fault which it also violates; `*` stands for any.
    pub also: Vec<String>,
}

fn info(behaviour: &'static Behaviour) -> Info {
    let Behaviour { name, about, transports, since, until, .. } = *behaviour;
    let also = faults::ALSO.get(name).cloned().unwrap_or_default();
    Info { name, about, transports, since, until, also }
}

pub fn faults() -> Vec<Info> {
    faults::all().map(info).collect()
}

pub fn variations() -> Vec<Info> {
    variations::VARIATIONS.iter().map(info).collect()
}

/// Runs the client; the value is its exit code. The error says what is wrong with the command line or the environment.
pub async fn run(
    target: &str,
    fault: Option<&str>,
    variation: Option<&str>,
    outside: Rc<dyn Outside>,
) -> Result<u8, String> {
    let ways = match (fault, variation) {
        (Some(name), _) => faults::find(name)?,
        (None, Some(name)) => variations::find(name)?,
        (None, None) => &Behaviour::USUAL,
    };
    let options = Options::of_environment(target, &*outside)?;
    let report = report::Report::open(options.report.as_deref().map(Path::new))?;
    let client = state::Client::new(options, ways, report, outside);
    let local = LocalSet::new();
    let connected = local.run_until(async move { actions::perform(&Rc::clone(&client)).await }).await;
    Ok(if connected { IN_ORDER } else { NOT_CONNECTED })
}
