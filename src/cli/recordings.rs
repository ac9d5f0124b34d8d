//! What makes recordings and what judges them.

use std::{net::SocketAddr, path::PathBuf};

use clap::Args;

use super::{OutputArgs, ProfileArgs, SelectArgs};

#[derive(Debug, Args)]
pub struct RecordArgs {
    /// The file to write; one that exists is kept, and NAME-2, NAME-3 and so on are written instead
    #[arg(long, value_name = "PATH")]
    pub out: PathBuf,
    /// Begin another file when this one has so many bytes; with k, M or G at the end, 1024 times as many, and so on
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub rotate: Option<u64>,
    /// Listen for a client over HTTP at this address
    #[arg(long, value_name = "ADDR", requires = "http", conflicts_with = "argv")]
    pub listen: Option<SocketAddr>,
    /// Pass on to the server at this URL, over Streamable HTTP or HTTP+SSE
    #[arg(long, value_name = "URL", requires = "listen")]
    pub http: Option<String>,
    /// The command that starts a server over stdio; the two dashes before it are optional
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    pub argv: Vec<String>,
}

#[derive(Debug, Args)]
pub struct JudgeArgs {
    /// The transcript of an earlier run, what `mcp-conform record` wrote, a HAR, or a trace of mcp-trace-validator
    pub transcript: PathBuf,
    /// Judge a recording while it grows, and print findings as they appear, until it ends or Ctrl-C
    #[arg(long)]
    pub follow: bool,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub select: SelectArgs,
    #[command(flatten)]
    pub profiles: ProfileArgs,
}

/// A number of bytes.
fn size(text: &str) -> Result<u64, String> {
    let units = [("k", 10), ("M", 20), ("G", 30)];
    let unit = units.iter().find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, *shift)));
    let (digits, shift) = unit.unwrap_or((text, 0));
    let number = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
    number.filter(|size| *size > 0).ok_or_else(|| "expected a size such as 1000000, 64M or 1G".to_owned())
}
