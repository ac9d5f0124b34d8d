//! `mcp-conform relay`: runs the reference gateway.

use crate::{
    cli::RelayArgs,
    error::{Error, exit},
    reference,
    run::process::{console, runtime::block_on},
};

pub fn relay(args: &RelayArgs) -> Result<u8, Error> {
    if args.list {
        console::say(&format!("faults ({}):", reference::gateway::faults().count()));
        for fault in reference::gateway::faults() {
            console::say(&format!("  {}: {}", fault.name, fault.about));
        }
        return Ok(exit::CONFORMING);
    }
    let options = reference::gateway::Options {
        front: args.front,
        back: args.back,
        upstream: args.upstream.clone().unwrap_or_default(),
        port: args.port,
        fault: reference::gateway::find(args.fault.as_deref()).map_err(Error::usage)?,
    };
    block_on(reference::gateway::run(options)).map_err(Error::usage)?;
    Ok(exit::CONFORMING)
}
