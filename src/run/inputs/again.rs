//! How reports name the tested server: the options and the command that test the same one again, without secrets.

use std::{path::PathBuf, time::Duration};

use crate::{
    cli::{CLIENT, RunArgs, TargetArgs},
    target::{Limits, Program, Target, shown_url},
};

/// The options for testing the same target again. Possible secrets are replaced by shell variables.
pub fn options(args: &TargetArgs) -> String {
    let quoted = |text: &str| -> String { shlex::try_quote(text).map_or_else(|_| text.to_owned(), Into::into) };
    let mut options = Vec::new();
    let mut option = |flag: &str, value: &str| options.push(format!("{flag} {}", quoted(value)));
    let argv = shlex::try_join(args.argv.iter().map(String::as_str)).ok().filter(|line| !line.is_empty());
    let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
    let url = |url: &Option<String>| url.as_deref().map(shown_url);
    let named = [
        ("--http", url(&args.http)),
        ("--sse", url(&args.sse)),
        ("--stdio", args.stdio.clone().or(argv)),
        ("--config", path(&args.config)),
        ("--cwd", path(&args.cwd)),
        // The command may contain a secret.
        ("--bearer-token-command", args.bearer_token_command.as_ref().map(|_| "COMMAND".to_owned())),
    ];
    named
        .iter()
        .filter_map(|(flag, value)| Some((flag, value.as_ref()?)))
        .for_each(|(flag, value)| option(flag, value));
    options.extend(args.name.as_deref().map(quoted));
    if args.reference {
        options.push("--reference".into());
        options.extend(args.fault.iter().map(|fault| format!("--fault {fault}")));
        options.extend(args.variation.iter().map(|variation| format!("--variation {variation}")));
    }
    options.extend(variables(&args.env));
    options.extend(filled_by_the_shell("--header", &args.header, (':', ": ")));
    options.join(" ")
}

/// The options that set environment variables of a command, without their values.
pub fn variables(typed: &[String]) -> impl Iterator<Item = String> {
    filled_by_the_shell("--env", typed, ('=', "="))
}

/// Options that take a name and a value. Any value may be a secret, so a shell variable replaces it: a shell stops at
/// `${NAME:?}` if the variable is not set. With `$NAME` the command would get an empty value.
fn filled_by_the_shell(flag: &str, typed: &[String], (at, sign): (char, &str)) -> impl Iterator<Item = String> {
    typed.iter().filter_map(move |pair| {
        let (name, _) = pair.split_once(at)?;
        let variable = name.trim().to_uppercase().replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        Some(format!("{flag} \"{name}{sign}${{{variable}:?}}\""))
    })
}

/// The options that change requests or timeouts.
pub fn manner(args: &RunArgs) -> String {
    let mut options = String::new();
    let mut option = |name: &str, value: &str| options += &format!(" {name} {value}");
    if args.client != CLIENT.split(',').collect::<Vec<_>>() {
        option("--client", &args.client.join(","));
    }
    if let Some(seconds) =
        args.timeout.filter(|seconds| Duration::try_from_secs_f64(*seconds).ok() != Some(Limits::default().request))
    {
        option("--timeout", &seconds.to_string());
    }
    for (name, value) in [("--max-message", args.max_message), ("--in-flight", args.in_flight)] {
        if let Some(value) = value {
            option(name, &value.to_string());
        }
    }
    for pair in &args.limit {
        option("--limit", &shlex::try_quote(pair).unwrap_or_default());
    }
    options
}

/// The command that starts the server, for a shell; `None` if it contains a secret.
pub fn command(target: &Target) -> Option<String> {
    let Program { argv, env, cwd } = target.start.program()?;
    if argv.iter().any(|word| target.secrets.iter().any(|secret| !secret.is_empty() && word.contains(secret))) {
        return None;
    }
    let mut command: String = env.iter().map(|(name, _)| format!("{name}=\"${name}\" ")).collect();
    command += &shlex::try_join(argv.iter().map(String::as_str)).ok()?;
    let Some(cwd) = cwd else { return Some(command) };
    Some(format!("(cd {} && {command})", shlex::try_quote(cwd.to_str()?).ok()?))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::options;
    use crate::cli::{Cli, Command};

    fn again(line: &[&str]) -> String {
        let Ok(Cli { command: Command::Run(args), .. }) = Cli::try_parse_from([&["mcp-conform", "run"], line].concat())
        else {
            panic!("{line:?} is no run");
        };
        options(&args.target)
    }

    #[test]
    fn names_the_target_as_it_was_typed() {
        assert_eq!(again(&["--reference", "--fault", "x"]), "--reference --fault x");
        assert_eq!(again(&["--http", "http://localhost/mcp?a=1"]), "--http 'http://localhost/mcp?a=1'");
        assert_eq!(again(&["--", "./my server", "--all"]), r#"--stdio "'./my server' --all""#);
        assert_eq!(again(&["local", "--config", "a.toml"]), "--config a.toml local");
    }

    #[test]
    fn shows_no_secret() {
        let shown = again(&["--stdio", "s", "--env", "API_KEY=geheim"]);
        assert_eq!(shown, r#"--stdio s --env "API_KEY=${API_KEY:?}""#);
        let shown = again(&["--http", "http://me:geheim@localhost/mcp", "--header", "X-Key: geheim"]);
        assert_eq!(shown, r#"--http http://me@localhost/mcp --header "X-Key: ${X_KEY:?}""#);
    }
}
