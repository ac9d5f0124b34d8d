//! `mcp-conform auth-server`.

use std::path::PathBuf;

use clap::Args;

use super::{OutputArgs, SelectArgs, groups::seconds};
use crate::revision::Revision;

#[derive(Debug, Args)]
pub struct AuthServerArgs {
    /// The issuer URL, as `authorization_servers` in the metadata of an MCP server has it; or a name of mcp-conform.toml
    #[arg(value_name = "ISSUER")]
    pub issuer: String,
    /// The id of a registered public client, for the rules about authorization requests
    #[arg(long, value_name = "ID", requires = "redirect_uri", help_heading = "Client")]
    pub client_id: Option<String>,
    /// A redirect URI that this client has registered
    #[arg(long, value_name = "URI", requires = "client_id", help_heading = "Client")]
    pub redirect_uri: Option<String>,
    /// Register clients, which are deleted again where the server supports that; the report lists those that stay
    #[arg(long, help_heading = "Client")]
    pub register: bool,
    /// Log in where no more is needed than to press the only button; fields of forms are in mcp-conform.toml
    #[arg(long, help_heading = "Client")]
    pub login: bool,
    /// The URL of an MCP server, which is sent as `resource`
    #[arg(long, value_name = "URL", help_heading = "Client")]
    pub resource: Option<String>,
    /// Configuration file [default: mcp-conform.toml in this directory or a parent]
    #[arg(long, value_name = "PATH", help_heading = "Client")]
    pub config: Option<PathBuf>,
    /// The revision of MCP whose requirements count
    #[arg(long, value_name = "REVISION", default_value_t = Revision::NEWEST, help_heading = "Scope")]
    pub revision: Revision,
    #[command(flatten)]
    pub select: SelectArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    /// Timeout of a request, in seconds or as `500ms`, `5s`, `2m`
    #[arg(long, value_name = "TIME", value_parser = seconds, default_value_t = 10.0, help_heading = "Limits")]
    pub timeout: f64,
    /// Timeout of all together
    #[arg(long, value_name = "TIME", value_parser = seconds, default_value_t = 300.0, help_heading = "Limits")]
    pub run_timeout: f64,
    /// Write a transcript of all messages, for `mcp-conform judge`
    #[arg(long, value_name = "PATH", help_heading = "Output")]
    pub transcript: Option<PathBuf>,
}
