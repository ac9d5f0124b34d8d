//! `mcp-conform act`: runs the reference client.

use std::rc::Rc;

use crate::{
    cli::ActArgs,
    error::{Error, exit},
    reference,
    run::process::{console, runtime::block_on},
};

pub fn act(args: &ActArgs) -> Result<u8, Error> {
    if args.list {
        for (title, behaviours) in
            [("faults", reference::client::faults()), ("variations", reference::client::variations())]
        {
            console::say(&format!("{title} ({}):", behaviours.len()));
            for behaviour in behaviours {
                console::say(&format!("  {}: {}", behaviour.name, behaviour.about));
            }
        }
        return Ok(exit::CONFORMING);
    }
    let target = args.target.as_deref().unwrap_or_default();
    let (fault, variation) = (args.fault.as_deref(), args.variation.as_deref());
    block_on(reference::client::run(target, fault, variation, Rc::new(reference::client::System))).map_err(Error::usage)
}
