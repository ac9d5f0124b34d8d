//! What rules are checked and proved with.

use std::{net::SocketAddr, path::PathBuf};

use clap::Args;

use super::groups::seconds;

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Suite files, or directories with .yaml files; without any, the built-in suites
    pub files: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Listen on this address instead of stdio; port 0 selects a free port. Endpoints: /mcp and /sse
    #[arg(long, value_name = "ADDRESS")]
    pub http: Option<SocketAddr>,
    /// The fault of the server; `mcp-conform list faults` lists all
    #[arg(long, value_name = "NAME")]
    pub fault: Option<String>,
    /// A conforming variation of the server; `mcp-conform list variations` lists all
    #[arg(long, value_name = "NAME", conflicts_with = "fault")]
    pub variation: Option<String>,
    /// Support only this revision; repeatable
    #[arg(long, value_name = "REVISION")]
    pub revision: Vec<String>,
    /// Also follow this proposal or dialect; repeatable
    #[arg(long, value_name = "NAME")]
    pub proposal: Vec<String>,
    /// Serve N generated resources below one directory: tree:N, or cyclic:N with
    /// cycles; optionally fanout:F children each and page:P resources per page (100 and 100),
    /// as in tree:1000000,fanout:50
    #[arg(long, alias = "world", value_name = "CONTENT")]
    pub content: Option<String>,
    /// Over HTTP: require a bearer token, and print the valid ones
    #[arg(long, requires = "http")]
    pub protected: bool,
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
