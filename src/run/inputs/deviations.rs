//! Faults and variations of the reference server that the command line names.

use super::job::Revisions;
use crate::{
    cli::TargetArgs,
    error::Error,
    plan::nearest,
    reference::{self, FaultInfo},
    revision::Revision,
};

/// Rejects a fault or variation that the reference server does not have.
pub fn known(kind: &str, name: &str, faults: &[FaultInfo]) -> Result<FaultInfo, Error> {
    if let Some(known) = faults.iter().find(|known| known.name == name) {
        return Ok(known.clone());
    }
    let nearest = nearest(name, faults.iter().map(|known| known.name.as_str()));
    let meant = nearest.map(|name| format!("did you mean {name}? ")).unwrap_or_default();
    Err(Error::Usage {
        message: format!("the reference server has no {kind} `{name}`"),
        help: Some(format!("{meant}`mcp-conform list {kind}s` lists all")),
    })
}

/// Rejects a fault that cannot show over stdio, the transport of `--reference`: the run would pass and prove nothing.
pub fn reject_unless_visible_over_stdio(kind: &str, fault: &FaultInfo) -> Result<(), Error> {
    use reference::Transport::{Http, Sse, Stdio};
    let spoken = &reference::Options::default().proposals;
    if let Some(proposal) = fault.proposal.as_ref().filter(|proposal| !spoken.contains(proposal)) {
        let name = &fault.name;
        return Err(Error::Usage {
            message: format!("the {kind} {name} shows only on a server that follows {proposal}"),
            help: Some(format!(
                "`mcp-conform run --proposal {proposal} -- mcp-conform serve --proposal {proposal} --{kind} {name}`"
            )),
        });
    }
    if fault.transports.contains(&Stdio) && !fault.protected {
        return Ok(());
    }
    let (over, flag, path) = match fault.transports.contains(&Http) || !fault.transports.contains(&Sse) {
        true => ("Streamable HTTP", "--http", "mcp"),
        false => ("HTTP+SSE", "--sse", "sse"),
    };
    let protected = if fault.protected { " --protected" } else { "" };
    let whom = if fault.protected { ", on a server that requires authorization" } else { "" };
    Err(Error::Usage {
        message: format!("the {kind} {} shows only over {over}{whom}, and --reference uses stdio", fault.name),
        help: Some(format!(
            "`mcp-conform serve --http 127.0.0.1:8000{protected} --{kind} {}`, then `mcp-conform run {flag} http://127.0.0.1:8000/{path}`",
            fault.name
        )),
    })
}

/// Rejects a fault or variation that cannot show in any of the tested revisions.
pub fn reject_unless_visible_in(args: &TargetArgs, revisions: Revisions) -> Result<(), Error> {
    let fault = args.fault.as_deref().map(|name| ("fault", known("fault", name, &reference::faults())));
    let variation =
        args.variation.as_deref().map(|name| ("variation", known("variation", name, &reference::variations())));
    for (kind, info) in fault.into_iter().chain(variation) {
        reject_outside_of(kind, &info?, revisions)?;
    }
    Ok(())
}

fn reject_outside_of(kind: &str, fault: &FaultInfo, revisions: Revisions) -> Result<(), Error> {
    let shows = |revision: Revision| {
        fault.since.is_none_or(|since| since <= revision) && fault.until.is_none_or(|until| revision <= until)
    };
    let tested = match revisions {
        Revisions::All => None,
        Revisions::One(revision) => Some(revision),
        // The reference server speaks all revisions.
        Revisions::Auto => Some(Revision::NEWEST),
    };
    let newest = Revision::ALL.into_iter().rfind(|revision| shows(*revision));
    match (tested, newest) {
        (Some(tested), Some(newest)) if !shows(tested) => Err(Error::Usage {
            message: format!("the {kind} {} does not show in revision {tested}", fault.name),
            help: Some(format!("add --revision {newest}")),
        }),
        _ => Ok(()),
    }
}
