//! The command line of the proof. Other commands are those of `mcp-conform`.

use std::{path::PathBuf, str::FromStr};

use clap::{Args, Parser, Subcommand};
use mcp_conform::cli::{ColorChoice, seconds};

/// Proves the rules, and runs the reference client and gateway with faults. Other commands are those of mcp-conform.
#[derive(Debug, Parser)]
#[command(name = "proof")]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    /// When to use colors
    #[arg(long, value_enum, default_value_t = ColorChoice::Auto, value_name = "WHEN", global = true)]
    pub color: ColorChoice,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Test the rules: run them against each fault of a reference program
    Mutants(MutantsArgs),
    /// Run the reference client
    Act(ActArgs),
    /// Run the reference gateway
    Relay(RelayArgs),
    /// List the faults of the reference client and gateway
    Faults,
}

impl Command {
    /// Whether a command of that name is one of these.
    pub fn has(name: &str) -> bool {
        <Self as Subcommand>::has_subcommand(name)
    }
}

#[derive(Debug, Args)]
pub struct ActArgs {
    #[command(flatten)]
    pub act: mcp_conform::cli::ActArgs,
    /// The fault of the client; `proof faults` lists all
    #[arg(long, value_name = "NAME", conflicts_with = "variation")]
    pub fault: Option<String>,
}

#[derive(Debug, Args)]
pub struct RelayArgs {
    #[command(flatten)]
    pub relay: mcp_conform::cli::RelayArgs,
    /// The fault of the gateway; `proof faults` lists all
    #[arg(long, value_name = "NAME")]
    pub fault: Option<String>,
}

#[derive(Debug, Args)]
pub struct MutantsArgs {
    /// Only faults whose name, rule or suite contains one of these
    #[arg(value_name = "FILTER")]
    pub filters: Vec<String>,
    /// stdio, http or sse; repeatable
    #[arg(long, value_name = "TRANSPORT")]
    pub transport: Vec<String>,
    /// Only in this revision; repeatable
    #[arg(long, value_name = "REVISION")]
    pub revision: Vec<String>,
    /// Test the conforming variations: none may change a verdict that it does not name
    #[arg(long)]
    pub variations: bool,
    /// Prove the rules about clients, by the faults and variations of the reference client
    #[arg(long, conflicts_with_all = ["variations", "longer_than", "changed"])]
    pub clients: bool,
    /// Prove the rules about gateways, by the faults of the reference gateway
    #[arg(long, conflicts_with_all = ["clients", "variations", "longer_than", "changed", "real"])]
    pub gateways: bool,
    /// Derive mutants from what the reference program sends, and prove the ledger about them
    #[arg(long)]
    pub systematic: bool,
    /// Run nothing: show each derived mutant, a message before and after, and what the ledger says
    #[arg(long, requires = "systematic")]
    pub list: bool,
    /// Only a part of the faults or derived mutants: 3/10 is every tenth, beginning with the third
    #[arg(long, conflicts_with_all = ["gateways", "variations", "longer_than", "changed"], value_name = "N/OF", default_value = "1/1")]
    pub part: Part,
    /// Run each fault once over each transport at the default limits: list the runs that take longer
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub longer_than: Option<f64>,
    /// Prove only what differs from this commit (HEAD, unless another one is named) in suites, shapes and faults, and what
    /// that affects
    #[arg(long, value_name = "COMMIT", num_args = 0..=1, require_equals = true, default_missing_value = "HEAD", conflicts_with_all = ["filters", "variations"])]
    pub changed: Option<String>,
    /// Start real processes and listen on real sockets, and wait in real time, in place of a server or client inside this process
    #[arg(long)]
    pub real: bool,
    /// Run nothing: list the known bugs in the YAML files of this directory with their faults
    #[arg(long, value_name = "DIR", conflicts_with_all = ["filters", "transport", "revision", "variations", "longer_than", "real", "changed"])]
    pub bugs: Option<PathBuf>,
}

/// One of the parts that are proved at different times, because a proof of all takes long.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    number: usize,
    of: usize,
}

impl Part {
    /// Keeps the items of this part. Neighbours with the same key stay together.
    pub fn keep<T, K: PartialEq>(self, items: &mut Vec<T>, key: impl Fn(&T) -> K) {
        let (mut group, mut last) = (0, None);
        items.retain(|item| {
            let this = Some(key(item));
            if this != last {
                group += 1;
                last = this;
            }
            group % self.of == self.number % self.of
        });
    }
}

impl FromStr for Part {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let numbers = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        let part = numbers.map(|(number, of)| Self { number, of }).filter(|part: &Self| part.of > 0);
        part.ok_or("expected two numbers, such as 3/10")
    }
}
