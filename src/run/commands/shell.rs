//! Shell completions and manual pages, generated from the command line definition.

use std::{fs, io::stdout, path::Path};

use clap::CommandFactory;
use clap_complete::{Shell, generate};

use crate::{
    cli::Cli,
    error::{Error, exit},
    run::process::console::failed,
};

pub fn completions(shell: Shell) -> u8 {
    generate(shell, &mut Cli::command(), "mcp-conform", &mut stdout());
    exit::CONFORMING
}

/// A page for the program and one for each command.
pub fn man(directory: &Path) -> Result<u8, Error> {
    let write = || {
        fs::create_dir_all(directory)?;
        clap_mangen::generate_to(Cli::command(), directory)
    };
    write().map_err(|source| failed(directory, "write", source))?;
    Ok(exit::CONFORMING)
}
