//! `mcp-conform auth-server`: tests one authorization server.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    cli::AuthServerArgs,
    error::Error,
    evidence::{Side, Transport},
    plan::{Extensions, Proposals},
    run::{
        conducting::assemble_run::conduct,
        inputs::{
            job::{Job, Revisions},
            oauth_client::oauth_client,
            target::checked,
        },
        process::{Surroundings, interrupts::Interrupts, progress::Counts},
        results::{
            course::{Conduct, Course},
            outputs,
        },
    },
    session::ClientProfile,
    target::{Limits, Start, Target, shown_url},
};

pub fn auth_server(args: &AuthServerArgs, surroundings: &Surroundings) -> Result<u8, Error> {
    let outputs = outputs::wanted(&args.output.forms)?;
    let side = Side::AuthorizationServer;
    let course = Course::read(side, &args.select, &args.output, args.transcript.as_deref(), surroundings)?;
    let interrupts = Interrupts::listen();
    let job = job(args, interrupts.clone())?;
    let recorder = job.recorder();
    let test = Conduct {
        party: "authorization server",
        recorder: &recorder,
        interrupts: &interrupts,
        progress: Some((&job.suites, job.limits.request)),
        work: conduct(&job, &course.suites, &course.filter, recorder.clone()),
    };
    let mut evidence = course.conduct(test, surroundings)?;
    evidence.header.target.options = options(args);
    let tested = course.judge(evidence, |evidence, _| evidence.header.end.interrupted = interrupts.code());
    Ok(tested.write(outputs, &args.output.forms, surroundings).0)
}

fn job(args: &AuthServerArgs, interrupts: Interrupts) -> Result<Job, Error> {
    let issuer = checked(&args.issuer)?;
    let start = Start::over(Transport::Http, issuer, Vec::new());
    Ok(Job {
        subject: Side::AuthorizationServer,
        target: Target::new(shown_url(&args.issuer), start),
        limits: Limits {
            request: Duration::from_secs_f64(args.timeout),
            run: Duration::from_secs_f64(args.run_timeout),
            ..Limits::default()
        },
        profile: ClientProfile::default(),
        facts: facts(args)?,
        call_tools: false,
        revisions: Revisions::One(args.revision),
        proposals: Proposals::also(Vec::new()),
        extensions: Extensions::default(),
        strict: args.output.strict,
        fail_fast: None,
        interrupts,
        suites: Counts::of("suites"),
    })
}

fn facts(args: &AuthServerArgs) -> Result<Value, Error> {
    let mut facts = json!({ "resource": args.resource.as_deref().unwrap_or("https://mcp.example.com/mcp") });
    if let (Some(id), Some(redirect_uri)) = (&args.client_id, &args.redirect_uri) {
        facts["oauth_client"] = oauth_client(id, redirect_uri)?;
    }
    if args.register {
        facts["register"] = json!(true);
    }
    Ok(facts)
}

/// The options of a command that tests it again.
fn options(args: &AuthServerArgs) -> String {
    let mut words = vec![shown_url(&args.issuer)];
    for (name, value) in
        [("--client-id", &args.client_id), ("--redirect-uri", &args.redirect_uri), ("--resource", &args.resource)]
    {
        words.extend(value.iter().flat_map(|value| [name.to_owned(), value.clone()]));
    }
    if args.register {
        words.push("--register".to_owned());
    }
    if args.revision != crate::revision::Revision::NEWEST {
        words.extend(["--revision".to_owned(), args.revision.to_string()]);
    }
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default()
}
