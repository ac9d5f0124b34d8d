//! What suites are checked with, and the reference server.

use std::{net::SocketAddr, path::PathBuf};

use clap::Args;

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
    /// Also serve this extension: apps, skills, or skills:N with N generated skills; repeatable
    #[arg(long, value_name = "NAME")]
    pub extension: Vec<String>,
    /// Serve N generated resources below one directory: tree:N, or cyclic:N with
    /// cycles; optionally fanout:F children each and page:P resources per page (100 and 100),
    /// as in tree:1000000,fanout:50
    #[arg(long, alias = "world", value_name = "CONTENT")]
    pub content: Option<String>,
    /// Over HTTP: require a bearer token, and print the valid ones
    #[arg(long, requires = "http")]
    pub protected: bool,
}
