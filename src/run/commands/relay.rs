//! `mcp-conform relay`: runs the reference gateway.

use clap::ValueEnum;

use crate::{
    cli::{ClientTransport, RelayArgs},
    error::{Error, exit},
    evidence::Transport,
    reference,
    run::process::{console, runtime::block_on},
};

pub fn relay(args: &RelayArgs) -> Result<u8, Error> {
    if args.list {
        console::say(&format!("faults ({}):", reference::gateway::faults().len()));
        for fault in reference::gateway::faults() {
            console::say(&format!("  {}: {}", fault.name, fault.about));
        }
        return Ok(exit::CONFORMING);
    }
    let options = reference::gateway::Options {
        front: transport(args.front),
        back: transport(args.back),
        upstream: args.upstream.clone().unwrap_or_default(),
        port: args.port,
        fault: reference::gateway::find(args.fault.as_deref()).map_err(Error::usage)?,
    };
    block_on(reference::gateway::run(options)).map_err(Error::usage)?;
    Ok(exit::CONFORMING)
}

/// The transport that the option names.
pub fn transport(typed: ClientTransport) -> Transport {
    let name = typed.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
    Transport::ALL.into_iter().find(|known| *known.as_str() == name).unwrap_or(Transport::Http)
}
