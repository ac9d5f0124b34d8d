//! `mcp-conform gateway`: tests one gateway.

use std::time::Duration;

use crate::{
    assess,
    cli::GatewayArgs,
    error::Error,
    evidence::{Side, Transport},
    run::{
        clients::{ANYWHERE, Limits},
        gateways::{Back, Comparison, Front, GatewayJob, conduct},
        inputs::{again, suites::built_in, target},
        process::{Surroundings, interrupts::Interrupts},
        results::{
            course::{Conduct, Course},
            outputs,
        },
    },
    target::{Limits as Usual, shown_url},
};

pub fn gateway(args: &GatewayArgs, surroundings: &Surroundings) -> Result<u8, Error> {
    let outputs = outputs::wanted(&args.output.forms)?;
    let course = Course::read(Side::Gateway, &args.select, &args.output, args.transcript.as_deref(), surroundings)?;
    let compares = args.compare || !(args.no_compare || course.is_narrow());
    let servers = if compares { Some(built_in()?) } else { None };
    let job = job(args, surroundings)?;
    job.check()?;
    let recorder = job.limits.recorder();
    let (mut comparison, mut cost) = (None, Vec::new());
    let work = async {
        let (suites, filter, servers) = (&course.suites, &course.filter, servers.as_deref());
        let conducted = conduct(&job, suites, filter, servers, args.cost, recorder.clone()).await?;
        (comparison, cost) = (conducted.comparison, conducted.cost);
        Ok::<_, Error>(conducted.evidence)
    };
    let interrupts = &job.interrupts;
    let test = Conduct { party: "gateway", recorder: &recorder, interrupts, progress: None, work };
    let mut evidence = course.conduct(test, surroundings)?;
    evidence.header.target.options = options(args);
    let tested = course.judge(evidence, |_, report| {
        if let Some(Comparison { worse, compared }) = comparison {
            assess::add(report, worse);
            report.notes.push(compared.note());
            report.compared = Some(compared);
        }
        report.cost = cost;
    });
    Ok(tested.write(outputs, &args.output.forms, surroundings).0)
}

fn job(args: &GatewayArgs, surroundings: &Surroundings) -> Result<GatewayJob, Error> {
    let usual = Usual::default();
    let front = args.front.unwrap_or(if args.http.is_some() { Transport::Http } else { Transport::Stdio });
    let front = match &args.http {
        Some(_) if front.capabilities().process => {
            return Err(Error::usage("--http is for a gateway that clients reach over HTTP: use --front http or sse"));
        }
        Some(url) => Front::Url { url: url.clone(), transport: front },
        None if front.capabilities().process => Front::Process { command: args.argv.clone() },
        None => {
            let path = args.path.clone().unwrap_or_else(|| front.capabilities().path.to_owned());
            Front::Port {
                command: args.argv.clone(),
                transport: front,
                path: format!("/{}", path.trim_start_matches('/')),
            }
        }
    };
    let back = args.back;
    if args.upstream_listen.is_some() && back.capabilities().process {
        return Err(Error::usage("--upstream-listen is for an upstream over HTTP: use --back http or sse"));
    }
    Ok(GatewayJob {
        program: surroundings.itself()?,
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
        option("--front", front.as_str());
    }
    if args.back != Back::default().transport {
        option("--back", args.back.as_str());
    }
    let given = [
        ("--path", args.path.clone()),
        ("--http", args.http.as_deref().map(shown_url)),
        ("--upstream-listen", args.upstream_listen.clone()),
        ("--cwd", args.cwd.as_ref().map(|path| path.display().to_string())),
    ];
    for (name, value) in given {
        if let Some(value) = value {
            option(name, &value);
        }
    }
    for variable in again::variables(&args.env) {
        options += " ";
        options += &variable;
    }
    options.trim_start().to_owned()
}
