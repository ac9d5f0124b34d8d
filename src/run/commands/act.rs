//! `mcp-conform act`: runs the reference client.

use std::rc::Rc;

use crate::{
    cli::ActArgs,
    error::{Error, exit},
    reference::client::{self, System, behaviour::Behaviour, variations},
    run::process::{console, runtime::block_on},
};

pub fn act(args: &ActArgs) -> Result<u8, Error> {
    if args.list {
        console::say(&format!("variations ({}):", variations::VARIATIONS.len()));
        for variation in variations::VARIATIONS {
            console::say(&format!("  {}: {}", variation.name, variation.about));
        }
        return Ok(exit::CONFORMING);
    }
    let target = args.target.as_deref().unwrap_or_default();
    let behaviour = args.variation.as_deref().map_or(Ok(&Behaviour::USUAL), variations::find).map_err(Error::usage)?;
    block_on(client::run(target, behaviour, Rc::new(System))).map_err(Error::usage)
}
