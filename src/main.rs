//! The only place where arguments, environment and terminal are read.

use std::{env, io::IsTerminal, process::ExitCode};

use clap::Parser;
use mcp_conform::{
    cli::{Cli, ColorChoice},
    run::{Surroundings, run},
};

/// Where no terminal says how wide it is.
const WIDTH_OF_A_FILE: usize = 100;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let terminal = std::io::stdout().is_terminal();
    let set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    let forced = set("CLICOLOR_FORCE") && env::var("CLICOLOR_FORCE").is_ok_and(|value| value != "0");
    let surroundings = Surroundings {
        color: match cli.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => forced || (terminal && !set("NO_COLOR") && env::var("TERM").as_deref() != Ok("dumb")),
        },
        width: terminal.then(terminal_width).flatten().unwrap_or(WIDTH_OF_A_FILE),
        directory: env::current_dir().ok(),
        environment: env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect(),
        program: env::current_exe().ok(),
    };
    ExitCode::from(run(&cli, &surroundings))
}

fn terminal_width() -> Option<usize> {
    let (terminal_size::Width(width), _) = terminal_size::terminal_size()?;
    Some(usize::from(width))
}
