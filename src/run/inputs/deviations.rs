//! Faults and variations of the reference server that the command line names.

use super::job::Revisions;
use crate::{
    cli::TargetArgs, error::Error, evidence::Transport, plan::nearest, reference, reference::server::FaultInfo,
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
    let spoken = &reference::server::Options::default().proposals;
    let name = &fault.name;
    if let Some(proposal) = fault.proposal.as_ref().filter(|proposal| !spoken.contains(proposal)) {
        let revision = revision_option(fault, Transport::Stdio);
        return Err(Error::Usage {
            message: format!("the {kind} {name} shows only on a server that follows {proposal}"),
            help: Some(format!(
                "`mcp-conform run --proposal {proposal}{revision} -- mcp-conform serve --proposal {proposal} --{kind} {name}`"
            )),
        });
    }
    if let Some(extension) = &fault.extension {
        let revision = revision_option(fault, Transport::Stdio);
        return Err(Error::Usage {
            message: format!("the {kind} {name} shows only on a server with the extension {extension}"),
            help: Some(format!(
                "`mcp-conform run{revision} -- mcp-conform serve --extension {extension} --{kind} {name}`"
            )),
        });
    }
    if fault.transports.contains(&Transport::Stdio) && !fault.protected {
        return Ok(());
    }
    let transport =
        [Transport::Http, Transport::Sse].into_iter().find(|transport| fault.transports.contains(transport));
    let transport = transport.unwrap_or(Transport::Http);
    let able = transport.capabilities();
    let over = if able.endpoint { "HTTP+SSE" } else { "Streamable HTTP" };
    let flag = format!("--{transport} http://127.0.0.1:8000{}", able.path);
    let protected = if fault.protected { " --protected" } else { "" };
    let whom = if fault.protected { ", on a server that requires authorization" } else { "" };
    let revision = revision_option(fault, transport);
    Err(Error::Usage {
        message: format!("the {kind} {name} shows only over {over}{whom}, and --reference uses stdio"),
        help: Some(format!(
            "`mcp-conform serve --http 127.0.0.1:8000{protected} --{kind} {name}`, then `mcp-conform run {flag}{revision}`"
        )),
    })
}

/// The option without which a run over this transport would test a revision in which the fault does not show.
fn revision_option(fault: &FaultInfo, transport: Transport) -> String {
    let used = || Revision::ALL.into_iter().filter(|revision| transport.is_used_with(*revision));
    // The reference server speaks all revisions.
    let tested = used().next_back();
    let newest = used().rfind(|revision| shows(fault, *revision));
    newest.filter(|_| newest != tested).map(|newest| format!(" --revision {newest}")).unwrap_or_default()
}

fn shows(fault: &FaultInfo, revision: Revision) -> bool {
    fault.since.is_none_or(|since| since <= revision) && fault.until.is_none_or(|until| revision <= until)
}

/// Rejects a fault or variation that cannot show in any of the tested revisions.
pub fn reject_unless_visible_in(args: &TargetArgs, revisions: Revisions) -> Result<(), Error> {
    let fault = args.fault.as_deref().map(|name| ("fault", known("fault", name, &reference::server::faults())));
    let variation =
        args.variation.as_deref().map(|name| ("variation", known("variation", name, &reference::server::variations())));
    for (kind, info) in fault.into_iter().chain(variation) {
        reject_outside_of(kind, &info?, revisions)?;
    }
    Ok(())
}

fn reject_outside_of(kind: &str, fault: &FaultInfo, revisions: Revisions) -> Result<(), Error> {
    let shows = |revision: Revision| shows(fault, revision);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The advice of each fault and variation that `--reference` rejects leads to a run in which it shows.
    #[test]
    fn the_advised_run_tests_a_revision_in_which_the_fault_shows() {
        let kinds = [("fault", reference::server::faults()), ("variation", reference::server::variations())];
        let all = kinds.iter().flat_map(|(kind, infos)| infos.iter().map(move |info| (*kind, info)));
        let mut limited = 0;
        for (kind, info) in all {
            let Err(Error::Usage { help: Some(help), .. }) = reject_unless_visible_over_stdio(kind, info) else {
                continue;
            };
            let run = help.rsplit("mcp-conform run").next().expect("a command");
            let typed = run.split_once("--revision ").map(|(_, rest)| rest.split([' ', '`']).next().expect("a word"));
            let tested = match typed {
                Some(typed) => typed.parse().expect("a revision"),
                None if run.contains("--sse") => Revision::NEWEST_LEGACY,
                None => Revision::NEWEST,
            };
            assert!(shows(info, tested), "{}: {help}", info.name);
            limited += usize::from(typed.is_some());
        }
        assert!(limited > 0, "no fault needs the option");
    }

    #[test]
    fn the_advice_names_a_revision_only_where_it_is_needed() {
        let advice = |name: &str| {
            let fault = known("fault", name, &reference::server::faults()).expect("a fault");
            match reject_unless_visible_over_stdio("fault", &fault) {
                Err(Error::Usage { help, .. }) => help.expect("an advice"),
                other => panic!("{other:?}"),
            }
        };
        assert!(advice("origin-checked-on-post-only").ends_with("/mcp --revision 2025-11-25`"));
        assert!(advice("accept-compared-whole").ends_with("/mcp`"));
    }
}
