//! `mcp-conform client`: tests one client.

use std::{path::PathBuf, time::Duration};

use crate::{
    cli::ClientArgs,
    config::{self, Client},
    error::Error,
    evidence::{Evidence, Recorder, Side, Transport},
    run::{
        clients::{Attended, ClientJob, Limits, USUAL, attend, conduct},
        inputs::{again, configured, target},
        process::{Surroundings, console::complain, interrupts::Interrupts, progress::Counts},
        results::{
            course::{Conduct, Course},
            outputs,
        },
    },
    target::{Limits as Usual, secret_values},
};

pub fn client(args: &ClientArgs, surroundings: &Surroundings) -> Result<u8, Error> {
    let outputs = outputs::wanted(&args.output.forms)?;
    let course = Course::read(Side::Client, &args.select, &args.output, args.transcript.as_deref(), surroundings)?;
    let job = job(args, surroundings)?;
    let recorder = job.limits.recorder();
    let test = Conduct {
        party: "client",
        recorder: &recorder,
        interrupts: &job.interrupts,
        progress: (!job.client.command.is_empty()).then_some((&job.scenarios, job.limits.start)),
        work: record(args, &job, &course, recorder.clone(), surroundings),
    };
    let mut evidence = course.conduct(test, surroundings)?;
    evidence.header.target.options = options(args);
    Ok(course.judge(evidence, |_, _| {}).write(outputs, &args.output.forms, surroundings).0)
}

/// Starts the client in each scenario, or waits for a client that the user starts.
async fn record(
    args: &ClientArgs,
    job: &ClientJob,
    Course { suites, filter, .. }: &Course<'_>,
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
        program: surroundings.itself()?,
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
        scenarios: Counts::of("scenarios"),
        interrupts: Interrupts::listen(),
    })
}

/// The client of the configuration or of the command line.
fn described(args: &ClientArgs, surroundings: &Surroundings) -> Result<Client, Error> {
    let mut client = if let Some(name) = &args.name {
        let file = configured::file(args.config.as_deref(), surroundings).ok_or_else(|| Error::Usage {
            message: format!("there is no {} with a client `{name}` in this directory or a parent", config::FILE),
            help: Some(format!("a command goes after two dashes: mcp-conform client -- {name}")),
        })?;
        config::load(&file, surroundings.color)?.client(name, &surroundings.environment, surroundings.color)?
    } else {
        Client::new(Transport::Http, args.argv.clone())
    };
    client.transport = args.transport.unwrap_or(client.transport);
    client.env.extend(target::variables(&args.env)?);
    client.secrets.extend(secret_values(&client.env));
    client.cwd = args.cwd.clone().or(client.cwd);
    client.parallel = args.parallel.map_or(client.parallel, usize::from);
    Ok(client)
}

/// The options for a command that tests the client again.
fn options(args: &ClientArgs) -> String {
    let quoted = |text: &str| shlex::try_quote(text).unwrap_or_default().into_owned();
    let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
    let transport = args.transport.map(|transport| transport.to_string());
    let given = [
        ("--transport", transport),
        ("--config", path(&args.config)),
        ("--cwd", path(&args.cwd)),
        ("--world", args.world.clone()),
    ];
    let given = given.into_iter().filter_map(|(flag, value)| Some(format!("{flag} {}", quoted(&value?))));
    let mut options: Vec<String> = given.chain(again::variables(&args.env)).collect();
    options.extend(args.name.as_deref().map(quoted));
    options.join(" ")
}
