//! The reference client with a fault.

use std::rc::Rc;

use mcp_conform::{
    error::Error,
    reference::client::{System, run},
    run::process::runtime::block_on,
};

use crate::cli::ActArgs;

pub fn act(args: &ActArgs) -> Result<u8, Error> {
    let behaviour = conform_client_faults::behaviour(args.fault.as_deref(), args.act.variation.as_deref());
    let target = args.act.target.as_deref().unwrap_or_default();
    block_on(run(target, behaviour.map_err(Error::usage)?, Rc::new(System))).map_err(Error::usage)
}
