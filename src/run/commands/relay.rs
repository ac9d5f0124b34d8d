//! `mcp-conform relay`: runs the reference gateway.

use crate::{
    cli::RelayArgs,
    error::{Error, exit},
    reference::gateway::{Fault, Options, faultless, run},
    run::process::runtime::block_on,
};

pub fn relay(args: &RelayArgs) -> Result<u8, Error> {
    with(args, faultless())
}

pub fn with(args: &RelayArgs, fault: &'static Fault) -> Result<u8, Error> {
    let RelayArgs { front, back, port, .. } = *args;
    let options = Options { front, back, upstream: args.upstream.clone(), port, fault };
    block_on(run(options)).map_err(Error::usage)?;
    Ok(exit::CONFORMING)
}
