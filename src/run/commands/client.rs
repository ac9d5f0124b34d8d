//! `mcp-conform client`: tests one client.

use std::time::Duration;

use clap::ValueEnum;

use super::{baseline::Baseline, mutants::itself, outputs};
use crate::{
    assess,
    cli::ClientArgs,
    config::{self, Client},
    error::Error,
    evidence::{Evidence, Recorder, Side, Transport},
    plan::Filter,
    run::{
        clients::{Attended, ClientJob, Limits, USUAL, attend, conduct},
        inputs::{configured, suites::load, target},
        process::{Surroundings, console::complain, interrupts::Interrupts, runtime::block_on, strays},
    },
    suite::Suite,
    target::Limits as Usual,
};

pub fn client(args: &ClientArgs, surroundings: &Surroundings) -> Result<u8, Error> {
    let outputs = outputs::wanted(&args.output.forms)?;
    outputs::try_path(args.transcript.as_deref())?;
    let suites = load(&[Side::Client], &args.suite, surroundings.color)?;
    let filter = Filter::new(&args.filter, &suites)?;
    let baseline = Baseline::wanted(&args.output, &suites)?;
    let job = job(args, surroundings)?;
    let earlier = strays::adopt();
    let recorder = Recorder::new(job.limits.memory_bytes, job.limits.disk_bytes, job.limits.record_messages);
    let conducted = block_on(async {
        tokio::select! {
            conducted = record(args, &job, &suites, &filter, recorder, surroundings) => conducted,
            () = job.interrupts.second() => Err(Error::Interrupted),
        }
    });
    let strays = strays::end(&earlier);
    let mut evidence = conducted?;
    evidence.header.scope.filter.clone_from(&args.filter);
    evidence.header.target.options = options(args);
    if strays > 0 {
        let note = format!("killed processes that the client left running outside of its process group: {strays}");
        evidence.header.notes.push(note);
    }
    let options = assess::Options {
        filter: &filter,
        strict: args.output.strict,
        own_suites: &args.suite,
        illustrated: outputs::illustrated(&args.output.forms),
    };
    let mut report = assess::assess(&evidence, &suites, &options);
    let settled = baseline.settle(&mut report, &args.output, &evidence.header.end);
    let saved = args.transcript.as_ref().map_or(Ok(()), |path| outputs::save_transcript(path, &evidence));
    let written = outputs::write(&outputs, &report, &args.output.forms, surroundings);
    Ok(outputs::exit_code(report.exit_code, [settled, saved, written]))
}

/// Starts the client in each scenario, or waits for one that somebody else starts.
async fn record(
    args: &ClientArgs,
    job: &ClientJob,
    suites: &[Suite],
    filter: &Filter,
    recorder: Recorder,
    surroundings: &Surroundings,
) -> Result<Evidence, Error> {
    if !job.client.command.is_empty() {
        return conduct(job, suites, filter, recorder).await;
    }
    let world = args.world.as_deref().unwrap_or(USUAL);
    let attended = Attended { world, port: args.port.unwrap_or_default(), width: surroundings.width };
    attend(job, suites, filter, recorder, &attended, complain).await
}

fn job(args: &ClientArgs, surroundings: &Surroundings) -> Result<ClientJob, Error> {
    let usual = Usual::default();
    Ok(ClientJob {
        program: itself(surroundings)?,
        named: args.name.clone(),
        client: described(args, surroundings)?,
        inside: None,
        revisions: args.revision.parse()?,
        limits: Limits {
            start: Duration::from_secs_f64(args.timeout),
            run: Duration::from_secs_f64(args.run_timeout),
            memory_bytes: usual.memory_bytes,
            disk_bytes: usual.disk_bytes,
            record_messages: usual.record_messages,
            evidence_frames: usual.evidence_frames,
        },
        strict: args.output.strict,
        interrupts: Interrupts::listen(),
    })
}

/// The client that was named or typed.
fn described(args: &ClientArgs, surroundings: &Surroundings) -> Result<Client, Error> {
    let mut client = if let Some(name) = &args.name {
        let file = configured::file(args.config.as_deref(), surroundings).ok_or_else(|| Error::Usage {
            message: format!("there is no {} with a client `{name}` in this directory or a parent", config::FILE),
            help: Some(format!("a command goes after two dashes: mcp-conform client -- {name}")),
        })?;
        config::load(&file, surroundings.color)?.client(name, &surroundings.environment, surroundings.color)?
    } else {
        let transport = Transport::ALL.into_iter().find(|known| known.as_str() == typed(args));
        Client::new(transport.unwrap_or(Transport::Http), args.argv.clone())
    };
    if let Some(transport) = Transport::ALL.into_iter().find(|known| known.as_str() == typed(args)) {
        client.transport = transport;
    }
    client.env.extend(target::variables(&args.env)?);
    client.cwd = args.cwd.clone().or(client.cwd);
    client.parallel = args.parallel.map_or(client.parallel, usize::from);
    Ok(client)
}

/// The transport as it was typed.
fn typed(args: &ClientArgs) -> String {
    let transport = args.transport.and_then(|transport| transport.to_possible_value());
    transport.map_or_else(String::new, |value| value.get_name().to_owned())
}

/// The options that a command has which tests the client again.
fn options(args: &ClientArgs) -> String {
    let config: Vec<String> = args.config.iter().map(|path| path.display().to_string()).collect();
    let mut options = match typed(args).as_str() {
        "" => String::new(),
        transport => format!(" --transport {transport}"),
    };
    for (option, values) in [("config", config.as_slice()), ("env", &args.env)] {
        for value in values {
            options += &format!(" --{option} {}", shlex::try_quote(value).unwrap_or_default());
        }
    }
    if let Some(world) = &args.world {
        options += &format!(" --world {world}");
    }
    if let Some(name) = &args.name {
        options += &format!(" {name}");
    }
    options.trim_start().to_owned()
}
