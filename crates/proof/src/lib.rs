//! Proves the rules: each one finds the faults that it names, in every revision and over every transport where they
//! show, and none fails without cause. Not part of the program that is installed.
//!
//! Begin at `mutants`: a trial is one run of all rules against a reference program with one fault, or with none.
//! [`fuzzing`] states what must hold for any bytes.

mod act;
pub mod cli;
pub mod fuzzing;
mod mutants;
mod relay;
mod systematic;

use mcp_conform::{error::exit, run::process::console};

pub use mutants::{
    Bug, ClientTrial, GatewayTrial, Matrix, Recording, Variations, bugs, client_trials, gaps, gateway_trials,
};

use cli::{Cli, Command};

/// Lists what the reference client and gateway can do wrong; `list faults` does so for the server.
fn list() {
    let client = conform_client_faults::faults().into_iter().map(|fault| ("client", fault.name, fault.about));
    let gateway = conform_reference_gateway::faults().iter();
    let gateway = gateway.map(|fault| ("gateway", fault.name.as_str(), fault.about.as_str()));
    for (program, name, about) in client.chain(gateway) {
        console::say(&format!("{program}  {name}: {about}"));
    }
}

/// Runs one command; the value is the exit code.
pub fn run(cli: &Cli) -> u8 {
    let done = match &cli.command {
        Command::Mutants(args) => mutants::mutants(args, &mcp_conform::surroundings(cli.color)),
        Command::Act(args) => act::act(args),
        Command::Relay(args) => relay::relay(args),
        Command::Faults => {
            list();
            Ok(exit::CONFORMING)
        }
    };
    done.unwrap_or_else(|error| {
        console::complain(&error.to_string());
        error.exit_code()
    })
}
