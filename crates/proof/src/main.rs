//! The commands of the proof; all others are those of `mcp-conform`, so that the reference client and gateway can be
//! tested by the program that starts them.

use std::{env, process::ExitCode};

use clap::Parser;
use conform_proof::cli::{Cli, Command};

/// The allocator of the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    if env::args().nth(1).is_some_and(|name| Command::has(&name)) {
        return ExitCode::from(conform_proof::run(&Cli::parse()));
    }
    mcp_conform::main()
}
