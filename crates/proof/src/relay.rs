//! The reference gateway with a fault.

use conform_reference_gateway::find;
use mcp_conform::{error::Error, run::commands::relay};

use crate::cli::RelayArgs;

pub fn relay(args: &RelayArgs) -> Result<u8, Error> {
    relay::with(&args.relay, find(args.fault.as_deref()).map_err(Error::usage)?)
}
