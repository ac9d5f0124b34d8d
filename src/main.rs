//! From the arguments and the terminal to the program.

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
    let color = match cli.color {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => forced || (terminal && !set("NO_COLOR") && env::var("TERM").as_deref() != Ok("dumb")),
    };
    let width = terminal.then(terminal_width).flatten().unwrap_or(WIDTH_OF_A_FILE);
    let shows_status = std::io::stderr().is_terminal() && !set("CI") && env::var("TERM").as_deref() != Ok("dumb");
    let status = shows_status.then(terminal_width).flatten();
    ExitCode::from(run(&cli, &Surroundings { status, ..Surroundings::of_process(color, width) }))
}

fn terminal_width() -> Option<usize> {
    let (terminal_size::Width(width), _) = terminal_size::terminal_size()?;
    Some(usize::from(width))
}
