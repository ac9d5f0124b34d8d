//! The program: its arguments, and the properties of the terminal.

use std::{env, io::IsTerminal, process::ExitCode};

use clap::{
    CommandFactory, Parser,
    error::{ContextKind, ContextValue, ErrorKind},
};

use crate::{
    cli::{Cli, ColorChoice},
    run::{Surroundings, run},
};

/// The width if there is no terminal.
const WIDTH_OF_A_FILE: usize = 100;

/// Runs the command that the process was started with.
pub fn main() -> ExitCode {
    let cli = Cli::try_parse().unwrap_or_else(|mistake| with_tip(mistake).exit());
    ExitCode::from(run(&cli, &surroundings(cli.color)))
}

/// The process and its terminal.
pub fn surroundings(choice: ColorChoice) -> Surroundings {
    let terminal = std::io::stdout().is_terminal();
    let set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    let forces = |name: &str| set(name) && env::var(name).is_ok_and(|value| value != "0");
    let forced = forces("FORCE_COLOR") || forces("CLICOLOR_FORCE");
    let color = match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => forced || (terminal && !set("NO_COLOR") && env::var("TERM").as_deref() != Ok("dumb")),
    };
    let width = terminal.then(terminal_width).flatten().or_else(exported_width).unwrap_or(WIDTH_OF_A_FILE);
    let shows_status = std::io::stderr().is_terminal() && !set("CI") && env::var("TERM").as_deref() != Ok("dumb");
    let status = shows_status.then(terminal_width).flatten();
    let links = choice != ColorChoice::Never && supports_hyperlinks::on(supports_hyperlinks::Stream::Stdout);
    Surroundings { links, status, ..Surroundings::of_process(color, width) }
}

/// Adds a hint if a command was given instead of a target name, or `run` was forgotten.
fn with_tip(mut mistake: clap::Error) -> clap::Error {
    let meant = match mistake.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(word)) => command_meant(word),
        _ => None,
    };
    if let Some(meant) = meant {
        mistake.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![meant.into()]));
        return mistake;
    }
    let tip = match (mistake.kind(), mistake.get(ContextKind::InvalidArg)) {
        (ErrorKind::InvalidSubcommand, _) => "a server is tested by `mcp-conform run -- COMMAND`".to_owned(),
        (ErrorKind::UnknownArgument, Some(ContextValue::String(word))) if !word.starts_with('-') => {
            let typed = env::args().nth(1).unwrap_or_default();
            let takes_command = |command: &clap::Command| command.get_positionals().any(clap::Arg::is_last_set);
            if !Cli::command().find_subcommand(&typed).is_some_and(takes_command) {
                return mistake;
            }
            format!("a command goes after two dashes: `mcp-conform {typed} -- COMMAND`")
        }
        _ => return mistake,
    };
    mistake.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    mistake
}

/// A hint for a command that exists in another place.
fn command_meant(word: &str) -> Option<String> {
    Some(match word {
        "diff" | "merge" | "render" => format!("did you mean `mcp-conform report {word}`?"),
        "version" => "did you mean `mcp-conform --version`?".to_owned(),
        "rules" | "suites" | "faults" | "variations" => format!("did you mean `mcp-conform list {word}`?"),
        file if std::path::Path::new(file).extension().is_some_and(|ending| ending == "json") => {
            format!("did you mean `mcp-conform report render {file}`?")
        }
        _ => return None,
    })
}

fn terminal_width() -> Option<usize> {
    let (terminal_size::Width(width), _) = terminal_size::terminal_size()?;
    Some(usize::from(width))
}

/// The width that the user has set. Shells set it only for themselves.
fn exported_width() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.parse().ok()
}
