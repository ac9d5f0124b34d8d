//! `mcp-conform client`: tests one client.

use std::{path::PathBuf, time::Duration};

use clap::ValueEnum;

use super::{baseline::Baseline, mutants::itself, outputs};
use crate::{
    assess,
    cli::ClientArgs,
    error::Error,
    evidence::{Recorder, Side, Transport},
    plan::Filter,
    run::{
        clients::{ClientJob, Limits, conduct},
        inputs::{suites::load, target},
        process::{Surroundings, interrupts::Interrupts, runtime::block_on, strays},
    },
    target::Limits as Usual,
};

pub fn client(args: &ClientArgs, surroundings: &Surroundings) -> Result<u8, Error> {
    let outputs = outputs::wanted(&args.output.forms)?;
    outputs::try_path(args.transcript.as_deref())?;
    let suites = load(&[Side::Client], &args.suite, surroundings.color)?;
    let filter = Filter::new(&args.filter, &suites)?;
    let baseline = Baseline::wanted(&args.output, &suites)?;
    let job = job(args, itself(surroundings)?)?;
    let earlier = strays::adopt();
    let recorder = Recorder::new(job.limits.memory_bytes, job.limits.disk_bytes, job.limits.record_messages);
    let conducted = block_on(async {
        tokio::select! {
            conducted = conduct(&job, &suites, &filter, recorder) => conducted,
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

fn job(args: &ClientArgs, program: PathBuf) -> Result<ClientJob, Error> {
    let usual = Usual::default();
    Ok(ClientJob {
        program,
        command: args.argv.clone(),
        env: target::variables(&args.env)?,
        cwd: args.cwd.clone(),
        inside: None,
        transport: Transport::ALL.into_iter().find(|known| *known.as_str() == name(args)).unwrap_or(Transport::Http),
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

/// The transport as it was typed.
fn name(args: &ClientArgs) -> String {
    args.transport.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

/// The options that a command has which tests the client again.
fn options(args: &ClientArgs) -> String {
    let mut options = match name(args).as_str() {
        "http" => String::new(),
        other => format!(" --transport {other}"),
    };
    for (name, values) in [("env", &args.env)] {
        for value in values {
            options += &format!(" --{name} {}", shlex::try_quote(value).unwrap_or_default());
        }
    }
    options.trim_start().to_owned()
}
