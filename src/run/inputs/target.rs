//! From options to the target, its limits and the client profile that it sees.

use std::time::Duration;

use serde_json::{Value, json};

use super::{
    configured::config,
    deviations::{known, reject_unless_visible_over_stdio},
};
use crate::{
    cli::{RunArgs, TargetArgs},
    config,
    error::Error,
    evidence::Transport,
    plan::nearest,
    reference,
    run::process::Surroundings,
    session::ClientProfile,
    target::{Limits, Program, Source, Start, Target, command_line, patience, shown_url},
};

/// The server to test, the facts about it, and the limits.
pub fn target(args: &TargetArgs, surroundings: &Surroundings) -> Result<(Target, Value, Limits), Error> {
    if (args.fault.is_some() || args.variation.is_some()) && !args.reference {
        return Err(Error::Usage {
            message: "--fault and --variation are only for the reference server".into(),
            help: Some("add --reference to test the reference server".into()),
        });
    }
    let (mut target, facts, limits) = chosen(args, surroundings)?;
    reject_unused_options(args, &target.start)?;
    if let Some(line) = &args.bearer_token_command {
        let argv = shlex::split(line).filter(|argv| !argv.is_empty());
        let argv = argv.ok_or_else(|| Error::usage(format!("`{line}` cannot be split into a command")))?;
        if target.start.capabilities().process {
            return Err(Error::usage("--bearer-token-command is only for a target over HTTP"));
        }
        target.auth.get_or_insert_default().own = Some(Source::Command { argv, cwd: None });
    }
    target.secrets.extend(target.start.secrets());
    Ok((target, facts, limits))
}

/// Rejects options that have no effect for this server: otherwise the user would think that they apply.
fn reject_unused_options(args: &TargetArgs, start: &Start) -> Result<(), Error> {
    let over_stdio = start.capabilities().process;
    let (command, http) = ("a server that is started by a command", "a server over HTTP");
    let vain = [
        ("--env", !args.env.is_empty() && !over_stdio, command, "set the variable where the server is started"),
        ("--cwd", args.cwd.is_some() && !over_stdio, command, "start the server in that directory"),
        ("--header", !args.header.is_empty() && over_stdio, http, "set variables of a command with --env NAME=VALUE"),
    ];
    match vain.into_iter().find(|(_, is_vain, ..)| *is_vain) {
        Some((flag, _, whom, help)) => {
            Err(Error::Usage { message: format!("{flag} is only for {whom}"), help: Some(help.into()) })
        }
        None => Ok(()),
    }
}

fn chosen(args: &TargetArgs, surroundings: &Surroundings) -> Result<(Target, Value, Limits), Error> {
    let config = config(args, surroundings)?;
    let mut facts = match &config {
        Some(config) => config.facts.clone(),
        None if args.reference => reference::server::facts_of(args.variation.as_deref()),
        None => json!({}),
    };
    let limits = config.as_ref().map(|config| config.limits.clone()).unwrap_or_default();
    if let Some(target) = typed(args, surroundings)? {
        return Ok((target, facts, limits));
    }
    if let (Some(name), None) = (&args.name, &config) {
        return Err(Error::Usage {
            message: format!("unknown target `{name}`: no {} in this directory or a parent", config::FILE),
            help: Some(meant(name).unwrap_or("pass the file with --config PATH, or a command after `--`".into())),
        });
    }
    let target = match &config {
        Some(config) => config.target(args.name.as_deref(), &surroundings.environment, surroundings.color)?,
        None => None,
    };
    if let Some(config) = &config {
        facts = config.facts(args.name.as_deref())?;
    }
    let mut target = target.ok_or_else(|| Error::Usage {
        message: "no server to test".into(),
        help: Some(
            "pass a command (--stdio './server --flag', or `-- ./server --flag`) or a URL (--http URL); \
             `mcp-conform run --reference` shows an example"
                .into(),
        ),
    })?;
    let (more_env, more_headers) = (variables(&args.env)?, headers(args)?);
    match &mut target.start {
        Start::Program(Program { env, cwd, .. }) => {
            env.extend(more_env);
            *cwd = args.cwd.clone().or(cwd.take());
        }
        Start::Url { headers, .. } => {
            headers.retain(|(name, _)| !more_headers.iter().any(|(other, _)| other.eq_ignore_ascii_case(name)));
            headers.extend(more_headers);
        }
    }
    Ok((target, facts, limits))
}

/// The probable target of a user whose target has an unlikely name.
fn meant(name: &str) -> Option<String> {
    if name.starts_with("http://") || name.starts_with("https://") {
        return Some(format!("did you mean --http {name}?"));
    }
    name.contains(['/', '\\', '.', ' ']).then(|| format!("to start it: `mcp-conform run -- {name}`"))
}

/// Variables as they are typed: NAME=VALUE.
pub fn variables(typed: &[String]) -> Result<Vec<(String, String)>, Error> {
    typed.iter().map(|pair| split(pair, '=', "--env", "NAME=VALUE")).collect()
}

fn headers(args: &TargetArgs) -> Result<Vec<(String, String)>, Error> {
    args.header.iter().map(|pair| split(pair, ':', "--header", "'NAME: VALUE'")).collect()
}

/// The target that the options alone describe, if they do.
fn typed(args: &TargetArgs, surroundings: &Surroundings) -> Result<Option<Target>, Error> {
    let (env, headers) = (variables(&args.env)?, headers(args)?);
    let command = |argv: Vec<String>| {
        Target::new(command_line(&argv), Start::Program(Program { argv, env, cwd: args.cwd.clone() }))
    };
    if let Some(line) = &args.stdio {
        if line.trim().is_empty() {
            return Err(Error::usage("--stdio names no command"));
        }
        let argv = shlex::split(line).filter(|argv| !argv.is_empty()).ok_or_else(|| Error::Usage {
            message: format!("`{line}` cannot be split into a command and its arguments"),
            help: Some("close every quote, or pass the command after `--`".into()),
        })?;
        return Ok(Some(command(argv)));
    }
    if !args.argv.is_empty() {
        return Ok(Some(command(args.argv.clone())));
    }
    if args.reference {
        if let Some(fault) = &args.fault {
            reject_unless_visible_over_stdio("fault", &known("fault", fault, &reference::server::faults())?)?;
        }
        if let Some(variation) = &args.variation {
            reject_unless_visible_over_stdio(
                "variation",
                &known("variation", variation, &reference::server::variations())?,
            )?;
        }
        let program = surroundings.program.as_ref().ok_or_else(|| Error::usage("this program cannot find itself"))?;
        let mut argv = vec![program.display().to_string(), "serve".into()];
        argv.extend(args.fault.iter().flat_map(|fault| ["--fault".to_owned(), fault.clone()]));
        argv.extend(args.variation.iter().flat_map(|name| ["--variation".to_owned(), name.clone()]));
        let name = match (&args.fault, &args.variation) {
            (Some(fault), _) => format!("the reference server with the fault {fault}"),
            (None, Some(variation)) => format!("the reference server with the variation {variation}"),
            (None, None) => "the reference server".into(),
        };
        return Ok(Some(Target { name, ..command(argv) }));
    }
    let urls = [(Transport::Http, &args.http), (Transport::Sse, &args.sse)];
    let Some((transport, url)) = urls.into_iter().find_map(|(transport, url)| Some((transport, url.as_ref()?))) else {
        return Ok(None);
    };
    Ok(Some(Target::new(shown_url(url), Start::over(transport, checked(url)?, headers))))
}

/// The limits of the configuration, overridden by the options.
pub fn limits(args: &RunArgs, mut limits: Limits) -> Result<Limits, Error> {
    let short = [
        ("--timeout", "request", args.timeout.map(|seconds| seconds.to_string())),
        ("--run-timeout", "run", args.run_timeout.map(|seconds| seconds.to_string())),
        ("--max-message", "message_bytes", args.max_message.map(|bytes| bytes.to_string())),
        ("--in-flight", "in_flight", args.in_flight.map(|count| count.to_string())),
    ];
    for pair in &args.limit {
        let (name, value) = split(pair, '=', "--limit", "NAME=VALUE")?;
        limits.set(&name, &value).map_err(|why| Error::Usage {
            message: format!("--limit {name} {why}"),
            help: nearest(&name, Limits::NAMES.into_iter()).map(|near| format!("did you mean {near}?")),
        })?;
    }
    for (flag, name, value) in short {
        let set = value.map_or(Ok(()), |value| limits.set(name, &value));
        set.map_err(|why| Error::usage(format!("{flag} {why}")))?;
    }
    Ok(limits)
}

pub fn seconds(value: f64, flag: &str) -> Result<Duration, Error> {
    patience(value).map_err(|why| Error::usage(format!("{flag} {why}")))
}

pub fn profile(declared: &[String]) -> Result<ClientProfile, Error> {
    let mut profile = ClientProfile { details: true, ..ClientProfile::bare() };
    for name in declared.iter().map(|name| name.trim()).filter(|name| !name.is_empty() && *name != "none") {
        match name {
            "roots" => profile.roots = ClientProfile::default().roots,
            "sampling" => profile.sampling = true,
            "elicitation" => profile.elicitation = true,
            other => {
                return Err(Error::usage(format!(
                    "unknown capability `{other}` in --client; known: roots, sampling, elicitation and none"
                )));
            }
        }
    }
    Ok(profile)
}

pub fn checked(url: &str) -> Result<String, Error> {
    let help = match reqwest::Url::parse(url) {
        Ok(parsed) if matches!(parsed.scheme(), "http" | "https") => return Ok(url.to_owned()),
        _ if url.contains("://") => "use a URL such as http://127.0.0.1:3000/mcp".to_owned(),
        _ => format!("did you mean http://{url}?"),
    };
    Err(Error::Usage { message: format!("`{}` is not an http or https URL", shown_url(url)), help: Some(help) })
}

fn split(pair: &str, at: char, flag: &str, form: &str) -> Result<(String, String), Error> {
    match pair.split_once(at) {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.trim().to_owned())),
        // The argument may be just the value, and a secret.
        _ => Err(Error::usage(format!("{flag} takes {form}; the name or `{at}` is missing"))),
    }
}
