//! Shell completions and manual pages, generated from the command line definition.

use std::{fs, path::Path};

use clap::CommandFactory;
use clap_complete::{Shell, generate};

use crate::{
    cli::Cli,
    error::{Error, exit},
    run::process::console::{failed, put},
};

pub fn completions(shell: Shell) -> Result<u8, Error> {
    // `generate` panics if it cannot write, as with `| head`.
    let mut script = Vec::new();
    generate(shell, &mut Cli::command(), "mcp-conform", &mut script);
    put(String::from_utf8_lossy(&script).trim_end()).map_err(|source| failed(Path::new("stdout"), "write", source))?;
    Ok(exit::CONFORMING)
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
