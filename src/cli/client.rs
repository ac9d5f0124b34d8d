//! `mcp-conform client`, and the client that it is proved with.

use std::path::PathBuf;

use clap::Args;

use super::{OutputArgs, SelectArgs, groups::seconds};
use crate::transport::Transport;

#[derive(Debug, Args)]
pub struct ClientArgs {
    /// A client of mcp-conform.toml
    #[arg(value_name = "CLIENT-NAME", conflicts_with = "argv", help_heading = "Client")]
    pub name: Option<String>,
    /// The configuration file [default: mcp-conform.toml in this directory or a parent]
    #[arg(long, value_name = "PATH", help_heading = "Client")]
    pub config: Option<PathBuf>,
    /// How the client connects: http (Streamable HTTP, the default), stdio or sse (HTTP+SSE)
    #[arg(long, value_enum, help_heading = "Client")]
    pub transport: Option<Transport>,
    /// Start up to N clients at the same time, each against a server of its own: most of a run is waiting. The client must be
    /// able to run several times at once [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=64), help_heading = "Client")]
    pub parallel: Option<u8>,
    /// Set an environment variable of the client; repeatable
    #[arg(long, value_name = "NAME=VALUE", help_heading = "Client")]
    pub env: Vec<String>,
    /// The working directory of the client
    #[arg(long, value_name = "DIR", help_heading = "Client")]
    pub cwd: Option<PathBuf>,
    /// Without a command: the world that the client meets, a fault or variation of the reference server [default: usual]
    #[arg(long, value_name = "NAME", conflicts_with_all = ["name", "argv"], help_heading = "Client")]
    pub world: Option<String>,
    /// Without a command: the port to listen on [default: a free one]
    #[arg(long, value_name = "PORT", conflicts_with_all = ["name", "argv"], help_heading = "Client")]
    pub port: Option<u16>,
    /// The command that starts the client; without one, any client can connect, and what it sends is shown
    #[arg(last = true, value_name = "COMMAND", help_heading = "Client")]
    pub argv: Vec<String>,
    /// auto (the newest that the client speaks), all, or one of 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28
    #[arg(long, value_name = "REVISION", default_value = "auto", help_heading = "Scope")]
    pub revision: String,
    #[command(flatten)]
    pub select: SelectArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    /// Timeout of one start of the client, in seconds or as `500ms`, `5s`, `2m`
    #[arg(long, value_name = "TIME", value_parser = seconds, default_value_t = 30.0, help_heading = "Limits")]
    pub timeout: f64,
    /// Timeout of all starts together
    #[arg(long, value_name = "TIME", value_parser = seconds, default_value_t = 600.0, help_heading = "Limits")]
    pub run_timeout: f64,
    /// Write a transcript of the run, for `mcp-conform judge`
    #[arg(long, value_name = "PATH")]
    pub transcript: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ActArgs {
    /// The URL of the server; with `MCP_CONFORMANCE_TRANSPORT=stdio` the path of an executable
    #[arg(value_name = "TARGET", required_unless_present = "list")]
    pub target: Option<String>,
    /// A conforming variation of the client
    #[arg(long, value_name = "NAME")]
    pub variation: Option<String>,
    /// List the variations and exit
    #[arg(long)]
    pub list: bool,
}
