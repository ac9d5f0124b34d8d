//! `mcp-conform gateway`, and the gateway that it is proved with.

use std::path::PathBuf;

use clap::Args;

use super::{OutputArgs, SelectArgs, groups::seconds};
use crate::transport::Transport;

#[derive(Debug, Args)]
pub struct GatewayArgs {
    /// How clients connect to the gateway: stdio, http (Streamable HTTP) or sse (HTTP+SSE) [default: stdio, http with --http]
    #[arg(long, value_enum, value_name = "TRANSPORT", help_heading = "Gateway")]
    pub front: Option<Transport>,
    /// How the gateway connects to its upstream
    #[arg(long, value_enum, value_name = "TRANSPORT", default_value_t = Transport::Http, help_heading = "Gateway")]
    pub back: Transport,
    /// The path at which the gateway serves clients over HTTP [default: /mcp, /sse with --front sse]
    #[arg(long, value_name = "PATH", conflicts_with = "http", help_heading = "Gateway")]
    pub path: Option<String>,
    /// Test a gateway that runs already, at this URL
    #[arg(long, value_name = "URL", requires = "upstream_listen", conflicts_with = "argv", help_heading = "Gateway")]
    pub http: Option<String>,
    /// Where the upstream listens over HTTP [default: a free port]
    #[arg(long, value_name = "ADDRESS", help_heading = "Gateway")]
    pub upstream_listen: Option<String>,
    /// Set an environment variable of the gateway; repeatable
    #[arg(long, value_name = "NAME=VALUE", help_heading = "Gateway")]
    pub env: Vec<String>,
    /// The working directory of the gateway
    #[arg(long, value_name = "DIR", help_heading = "Gateway")]
    pub cwd: Option<PathBuf>,
    /// The command that starts the gateway: {upstream} is replaced by the URL of the upstream (with --back stdio by the path of
    /// a program), {port} by the port at which the gateway has to listen
    #[arg(last = true, required_unless_present = "http", value_name = "COMMAND", help_heading = "Gateway")]
    pub argv: Vec<String>,
    /// auto (the newest with a handshake that the gateway speaks), all, or one of 2024-11-05, 2025-03-26, 2025-06-18,
    /// 2025-11-25, 2026-07-28
    #[arg(long, value_name = "REVISION", default_value = "auto", help_heading = "Scope")]
    pub revision: String,
    #[command(flatten)]
    pub select: SelectArgs,
    /// Run the suites about servers, through the gateway and on its upstream, and report what is worse through the gateway: the
    /// default without --filter and --exclude
    #[arg(long, conflicts_with_all = ["filter", "exclude", "no_compare"], help_heading = "Scope")]
    pub compare: bool,
    /// Do not run the suites about servers
    #[arg(long, help_heading = "Scope")]
    pub no_compare: bool,
    /// Also measure what the gateway costs: the time of calls of 1 kB to 1 MB from 1 to 32 clients, and its memory
    #[arg(long, help_heading = "Scope")]
    pub cost: bool,
    #[command(flatten)]
    pub output: OutputArgs,
    /// Timeout of a start of the gateway and of a request, in seconds or as `500ms`, `5s`, `2m`
    #[arg(long, value_name = "TIME", value_parser = seconds, default_value_t = 30.0, help_heading = "Limits")]
    pub timeout: f64,
    /// Timeout of all together
    #[arg(long, value_name = "TIME", value_parser = seconds, default_value_t = 900.0, help_heading = "Limits")]
    pub run_timeout: f64,
    /// Write a transcript of the run, for `mcp-conform judge`
    #[arg(long, value_name = "PATH")]
    pub transcript: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct RelayArgs {
    /// The URL of the upstream, or with --back stdio a program
    #[arg(value_name = "UPSTREAM")]
    pub upstream: String,
    /// How clients connect
    #[arg(long, value_enum, default_value_t = Transport::Stdio)]
    pub front: Transport,
    /// How the upstream is connected
    #[arg(long, value_enum, default_value_t = Transport::Http)]
    pub back: Transport,
    /// Where to listen for clients over HTTP
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub port: u16,
}
