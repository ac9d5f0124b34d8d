//! `mcp-conform gateway`: tests one gateway.

use std::time::Duration;

use super::{baseline::Baseline, mutants::itself, outputs, relay::transport};
use crate::{
    assess,
    cli::{ClientTransport, GatewayArgs},
    error::Error,
    evidence::{Recorder, Side},
    plan::Filter,
    run::{
        clients::{ANYWHERE, Limits},
        gateways::{Back, Conducted, Front, GatewayJob, conduct},
        inputs::{
            suites::{built_in, load},
            target,
        },
        process::{Surroundings, interrupts::Interrupts, runtime::block_on, strays},
    },
    target::Limits as Usual,
};

pub fn gateway(args: &GatewayArgs, surroundings: &Surroundings) -> Result<u8, Error> {
    let outputs = outputs::wanted(&args.output.forms)?;
    outputs::try_path(args.transcript.as_deref())?;
    let suites = load(&[Side::Gateway], &args.suite, surroundings.color)?;
    let filter = Filter::new(&args.filter, &suites)?;
    let baseline = Baseline::wanted(&args.output, &suites)?;
    let servers = if args.compare { Some(built_in()?) } else { None };
    let job = job(args, surroundings)?;
    job.check()?;
    let earlier = strays::adopt();
    let recorder = Recorder::new(job.limits.memory_bytes, job.limits.disk_bytes, job.limits.record_messages);
    let conducted = block_on(async {
        tokio::select! {
            conducted = conduct(&job, &suites, &filter, servers.as_deref(), args.cost, recorder) => conducted,
            () = job.interrupts.second() => Err(Error::Interrupted),
        }
    });
    let strays = strays::end(&earlier);
    let Conducted { mut evidence, worse, cost } = conducted?;
    evidence.header.scope.filter.clone_from(&args.filter);
    evidence.header.target.options = options(args);
    if strays > 0 {
        let note = format!("killed processes that the gateway left running outside of its process group: {strays}");
        evidence.header.notes.push(note);
    }
    let options = assess::Options {
        filter: &filter,
        strict: args.output.strict,
        own_suites: &args.suite,
        illustrated: outputs::illustrated(&args.output.forms),
    };
    let mut report = assess::assess(&evidence, &suites, &options);
    assess::add(&mut report, worse);
    report.cost = cost;
    let settled = baseline.settle(&mut report, &args.output, &evidence.header.end);
    let saved = args.transcript.as_ref().map_or(Ok(()), |path| outputs::save_transcript(path, &evidence));
    let written = outputs::write(&outputs, &report, &args.output.forms, surroundings);
    Ok(outputs::exit_code(report.exit_code, [settled, saved, written]))
}

fn job(args: &GatewayArgs, surroundings: &Surroundings) -> Result<GatewayJob, Error> {
    let usual = Usual::default();
    let front = args.front.unwrap_or(if args.http.is_some() { ClientTransport::Http } else { ClientTransport::Stdio });
    let front = transport(front);
    let usual_path = if front.capabilities().endpoint { "/sse" } else { "/mcp" };
    let front = match &args.http {
        Some(_) if front.capabilities().process => {
            return Err(Error::usage("--http is for a gateway that clients reach over HTTP: use --front http or sse"));
        }
        Some(url) => Front::Url { url: url.clone(), transport: front },
        None if front.capabilities().process => Front::Process { command: args.argv.clone() },
        None => {
            let path = args.path.clone().unwrap_or_else(|| usual_path.to_owned());
            Front::Port {
                command: args.argv.clone(),
                transport: front,
                path: format!("/{}", path.trim_start_matches('/')),
            }
        }
    };
    let back = transport(args.back);
    if args.upstream_listen.is_some() && back.capabilities().process {
        return Err(Error::usage("--upstream-listen is for an upstream over HTTP: use --back http or sse"));
    }
    Ok(GatewayJob {
        program: itself(surroundings)?,
        front,
        back: Back { transport: back, address: args.upstream_listen.clone().unwrap_or_else(|| ANYWHERE.to_owned()) },
        env: target::variables(&args.env)?,
        cwd: args.cwd.clone(),
        revisions: args.revision.parse()?,
        limits: Limits {
            start: Duration::from_secs_f64(args.timeout),
            run: Duration::from_secs_f64(args.run_timeout),
            memory_bytes: usual.memory_bytes * 4,
            disk_bytes: usual.disk_bytes * 4,
            record_messages: usual.record_messages,
            evidence_frames: usual.evidence_frames,
        },
        strict: args.output.strict,
        interrupts: Interrupts::listen(),
    })
}

/// The options of a command that tests the gateway again.
fn options(args: &GatewayArgs) -> String {
    let mut options = String::new();
    let mut option = |name: &str, value: &str| {
        options += &format!(" {name} {}", shlex::try_quote(value).unwrap_or_default());
    };
    if let Some(front) = args.front {
        option("--front", transport(front).as_str());
    }
    if transport(args.back) != Back::default().transport {
        option("--back", transport(args.back).as_str());
    }
    let given = [("--path", &args.path), ("--http", &args.http), ("--upstream-listen", &args.upstream_listen)];
    for (name, value) in given {
        if let Some(value) = value {
            option(name, value);
        }
    }
    for variable in &args.env {
        option("--env", variable);
    }
    options.trim_start().to_owned()
}
