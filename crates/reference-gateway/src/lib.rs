//! The reference gateway: `mcp-conform relay`. It forwards everything, over every pair of transports, and commits one
//! of its faults on demand. So every rule for gateways is tested for passing and failing.
//!
//! It has a connection of its own to the upstream for each client, so ids, tokens and sessions need no translation. A
//! fault is a change of the messages that pass, or a flag for what is not about one message; all are data
//! (`faults/*.yaml`). In the revision without a handshake, each request over HTTP is a client of its own, because
//! nothing shows which client sent it.
//!
//! It uses `conform-model`, `conform-faults`, `conform-texts`, `conform-wire` and `conform-session`.

mod cache;
mod client;
mod clients;
mod fault;
mod front;
mod http;
mod recovery;
mod stdio;

use conform_model::evidence::Transport;

pub use fault::Fault;

pub struct Options {
    pub front: Transport,
    pub back: Transport,
    /// A URL, or over stdio the path of a program.
    pub upstream: String,
    pub port: u16,
    pub fault: &'static Fault,
}

pub fn faults() -> &'static [Fault] {
    &fault::ALL
}

pub fn faultless() -> &'static Fault {
    &fault::NONE
}

/// The fault of that name; without a name, one without any effect.
pub fn find(name: Option<&str>) -> Result<&'static Fault, String> {
    let Some(name) = name else { return Ok(faultless()) };
    faults()
        .iter()
        .find(|fault| fault.name == name)
        .ok_or_else(|| format!("the reference gateway has no fault `{name}`; `proof faults` lists all"))
}

/// Runs until the client over stdio has disconnected, or forever.
pub async fn run(options: Options) -> Result<(), String> {
    if options.front.capabilities().process { stdio::run(options).await } else { http::run(options).await }
}
