//! `mcp-conform serve`: runs the reference server.

use crate::{
    cli::ServeArgs,
    error::{Error, exit},
    reference,
    run::process::{console, runtime::block_on},
};

pub fn serve(args: &ServeArgs) -> Result<u8, Error> {
    let mut options = reference::server::Options {
        fault: args.fault.clone(),
        variation: args.variation.clone(),
        ..reference::server::Options::default()
    };
    if !args.revision.is_empty() {
        let parsed: Result<_, _> = args.revision.iter().map(|text| text.parse()).collect();
        options.revisions = parsed.map_err(Error::usage)?;
    }
    if !args.proposal.is_empty() {
        options.proposals.clone_from(&args.proposal);
    }
    options.extensions.clone_from(&args.extension);
    options.protected = args.protected;
    options.content = args.content.as_deref().map(str::parse).transpose().map_err(Error::usage)?;
    match args.http {
        None => reference::server::stdio(options),
        Some(address) => block_on(reference::server::http(options, address, |bound| {
            console::say(&format!("http://{bound}/mcp\nhttp://{bound}/sse"));
            for (name, token) in reference::server::tokens().iter().filter(|_| args.protected) {
                console::say(&format!("{name}: {token}"));
            }
        })),
    }
    .map_err(Error::usage)?;
    Ok(exit::CONFORMING)
}
