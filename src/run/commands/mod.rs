//! The commands, one per file or folder.

mod act;
mod auth_server;
mod bundle;
mod check;
mod client;
mod docs;
mod explain;
mod gateway;
pub mod generate;
mod init;
pub mod judge;
mod list;
mod listing;
mod matrix;
mod record;
pub mod relay;
mod report;
pub mod run;
mod serve;
mod shell;
mod tree;
mod watch;

use crate::{
    cli::{Cli, Command},
    run::{
        clients,
        process::{Surroundings, console},
    },
};

/// Runs one command; the value is the exit code.
pub fn run(cli: &Cli, surroundings: &Surroundings) -> u8 {
    let done = match &cli.command {
        Command::Init(args) => init::init(args, surroundings),
        Command::Run(args) if args.list => run::list(args, surroundings),
        Command::Run(args) if !args.watch.is_empty() => watch::watch(args, surroundings),
        Command::Run(args) => run::run(args, surroundings),
        Command::Client(args) => client::client(args, surroundings),
        Command::Record(args) => record::record(args),
        Command::Stub { socket, arguments } => clients::stub(socket, arguments),
        Command::Gateway(args) => gateway::gateway(args, surroundings),
        Command::AuthServer(args) => auth_server::auth_server(args, surroundings),
        Command::Matrix(args) => matrix::matrix(args, surroundings),
        Command::Judge(args) => judge::judge(args, surroundings),
        Command::Explain(args) => explain::explain(args, surroundings),
        Command::Report(command) => report::report(command, surroundings),
        Command::List(args) => list::list(args, surroundings),
        Command::Docs { page } => docs::docs(page.as_deref()),
        Command::Generate(args) => generate::generate(args, surroundings),
        Command::Tree(args) => tree::tree(args, surroundings),
        Command::Check(args) => check::check(args, surroundings),
        Command::Serve(args) => serve::serve(args),
        Command::Act(args) => act::act(args),
        Command::Relay(args) => relay::relay(args),
        Command::Completions { shell } => shell::completions(*shell),
        Command::Man { directory } => shell::man(directory),
    };
    done.unwrap_or_else(|error| {
        console::complain(&error.to_string());
        error.exit_code()
    })
}
