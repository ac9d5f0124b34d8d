//! `mcp-conform auth-server`: tests one authorization server.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};

use crate::{
    cli::AuthServerArgs,
    config::{self, AuthServer},
    error::Error,
    evidence::{Side, Transport},
    plan::{Extensions, Proposals},
    run::{
        conducting::assemble_run::conduct,
        inputs::{
            configured,
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
    target::{Limits, Login, Start, Target, shown_url},
};

pub fn auth_server(args: &AuthServerArgs, surroundings: &Surroundings) -> Result<u8, Error> {
    let outputs = outputs::wanted(&args.output.forms)?;
    let side = Side::AuthorizationServer;
    let course = Course::read(side, &args.select, &args.output, args.transcript.as_deref(), surroundings)?;
    let interrupts = Interrupts::listen();
    let server = described(args, surroundings)?;
    let job = job(args, server, interrupts.clone())?;
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

/// The authorization server of the configuration or of the command line.
fn described(args: &AuthServerArgs, surroundings: &Surroundings) -> Result<AuthServer, Error> {
    let is_name = !args.issuer.contains("://");
    let mut server = match configured::file(args.config.as_deref(), surroundings).filter(|_| is_name) {
        Some(file) => config::load(&file, surroundings.color)?.auth_server(
            &args.issuer,
            &surroundings.environment,
            surroundings.color,
        )?,
        None => AuthServer { issuer: args.issuer.clone(), ..AuthServer::default() },
    };
    server.client = args.client_id.clone().zip(args.redirect_uri.clone()).or(server.client);
    server.resource = args.resource.clone().or(server.resource);
    server.register |= args.register;
    server.login = server.login.or_else(|| args.login.then(Login::default));
    Ok(server)
}

fn job(args: &AuthServerArgs, server: AuthServer, interrupts: Interrupts) -> Result<Job, Error> {
    let facts = facts(&server)?;
    let start = Start::over(Transport::Http, checked(&server.issuer)?, Vec::new());
    let mut target = Target::new(shown_url(&server.issuer), start);
    (target.login, target.secrets) = (server.login.map(Arc::new), server.secrets);
    Ok(Job {
        subject: Side::AuthorizationServer,
        target,
        limits: Limits {
            request: Duration::from_secs_f64(args.timeout),
            run: Duration::from_secs_f64(args.run_timeout),
            ..Limits::default()
        },
        profile: ClientProfile::default(),
        facts,
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

fn facts(server: &AuthServer) -> Result<Value, Error> {
    let mut facts = json!({ "resource": server.resource.as_deref().unwrap_or("https://mcp.example.com/mcp") });
    if let Some((id, redirect_uri)) = &server.client {
        facts["oauth_client"] = oauth_client(id, redirect_uri)?;
    }
    if !server.scopes.is_empty() {
        facts["scope"] = json!(server.scopes.join(" "));
    }
    for (name, is_given) in [("register", server.register), ("login", server.login.is_some())] {
        if is_given {
            facts[name] = json!(true);
        }
    }
    Ok(facts)
}

/// The options of a command that tests it again.
fn options(args: &AuthServerArgs) -> String {
    let mut words = vec![shown_url(&args.issuer)];
    let config = args.config.as_ref().map(|path| path.display().to_string());
    for (name, value) in [
        ("--config", &config),
        ("--client-id", &args.client_id),
        ("--redirect-uri", &args.redirect_uri),
        ("--resource", &args.resource),
    ] {
        words.extend(value.iter().flat_map(|value| [name.to_owned(), value.clone()]));
    }
    for (name, is_given) in [("--register", args.register), ("--login", args.login)] {
        words.extend(is_given.then(|| name.to_owned()));
    }
    if args.revision != crate::revision::Revision::NEWEST {
        words.extend(["--revision".to_owned(), args.revision.to_string()]);
    }
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default()
}
