//! `mcp-conform generate`.

use std::path::PathBuf;

use clap::Args;

use super::{OutputArgs, SelectArgs, TargetArgs, groups::seconds};

#[derive(Debug, Args)]
pub struct GenerateArgs {
    #[command(flatten)]
    pub target: TargetArgs,
    /// auto (the newest that the server supports), or one of 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28
    #[arg(long, value_name = "REVISION", default_value = "auto", help_heading = "Scope")]
    pub revision: String,
    /// Call only this tool, prompt, template or list, even if it may have side effects; repeatable
    #[arg(long, value_name = "NAME", help_heading = "Scope")]
    pub only: Vec<String>,
    /// Also call tools without readOnlyHint, unless they have destructiveHint
    #[arg(long, help_heading = "Scope")]
    pub call_tools: bool,
    #[command(flatten)]
    pub select: SelectArgs,
    /// Number of calls of each tool, prompt, template, completion and list; those that confirm and shrink a finding come on
    /// top
    #[arg(long, value_name = "N", default_value_t = 1_000, help_heading = "Limits")]
    pub calls: usize,
    /// End after about this time, in seconds or as `500ms`, `5s`, `2m`: half of it for calls, a quarter for what needs several
    /// calls and for more calls, the rest for shrinking
    #[arg(long, value_name = "TIME", value_parser = seconds, default_value_t = 60.0, help_heading = "Limits")]
    pub seconds: f64,
    /// Timeout of a call, in seconds or as `500ms`, `5s`, `2m` [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = seconds, help_heading = "Limits")]
    pub timeout: Option<f64>,
    /// The same seed makes the same calls [default: a new one each time, which the report names]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Make this call alone, as a finding shows it
    #[arg(long, value_name = "JSON")]
    pub replay: Option<String>,
    /// The file with the calls that failed; they are made first the next time
    #[arg(long, value_name = "PATH", default_value = ".mcp-conform/failing-calls.jsonl")]
    pub examples: PathBuf,
    /// Write a transcript of the run, for `mcp-conform judge`
    #[arg(long, value_name = "PATH", help_heading = "Output")]
    pub transcript: Option<PathBuf>,
    #[command(flatten)]
    pub output: OutputArgs,
}
