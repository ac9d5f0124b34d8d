//! `mcp-conform run`.

use std::path::PathBuf;

use clap::Args;

use super::{OutputArgs, ProfileArgs, ScopeArgs, TargetArgs, groups::seconds};
use crate::{outcome::Flaky, partition::Partition};

/// Retries at most: a rule that passes once in eleven runs does not pass. A guess.
pub const MOST_RETRIES: u8 = 10;

/// What the client declares by default.
pub const CLIENT: &str = "roots,sampling,elicitation";

#[derive(Clone, Debug, Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub target: TargetArgs,
    #[command(flatten)]
    pub scope: ScopeArgs,
    #[command(flatten)]
    pub profiles: ProfileArgs,
    /// List the rules that would be judged and exit; what applies to the server shows only in a run
    #[arg(long, help_heading = "Scope")]
    pub list: bool,
    /// Judge only the rules that failed, warned or were broken in this JSON report, and those of --filter
    #[arg(long, value_name = "REPORT", help_heading = "Scope")]
    pub last_failed: Option<PathBuf>,
    /// Run one part only, to share a run between machines: hash:K/N by rule ids, count:K/N in parts of equal size;
    /// `mcp-conform report merge` merges the JSON reports
    #[arg(long, value_name = "PART", help_heading = "Scope")]
    pub partition: Option<Partition>,
    /// Stop when a rule fails; what was received until then is judged, and the report lists the suites that were not run
    #[arg(long, conflicts_with_all = ["write_baseline", "retries"], help_heading = "Scope")]
    pub fail_fast: bool,
    /// Test the rules that fail again, up to N times on new connections; those that then pass are flaky [default: 0]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(..=i64::from(MOST_RETRIES)), help_heading = "Scope")]
    pub retries: Option<u8>,
    /// With --retries: whether a flaky rule fails the run [default: fail]
    #[arg(long, value_enum, value_name = "WHAT", help_heading = "Output")]
    pub flaky: Option<Flaky>,
    #[command(flatten)]
    pub output: OutputArgs,

    /// Timeout of a request, in seconds or as `500ms`, `5s`, `2m` [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = seconds, help_heading = "Limits")]
    pub timeout: Option<f64>,
    /// Timeout of the whole run [default: 300s]
    #[arg(long, value_name = "TIME", value_parser = seconds, help_heading = "Limits")]
    pub run_timeout: Option<f64>,
    /// Maximum size of a message in bytes [default: 16777216]
    #[arg(long, value_name = "BYTES", help_heading = "Limits")]
    pub max_message: Option<usize>,
    /// Maximum number of concurrent requests [default: 8]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub in_flight: Option<usize>,
    /// Set a limit by name, such as request=30 (seconds); `mcp-conform docs limits` lists them; repeatable
    #[arg(long, value_name = "NAME=VALUE", help_heading = "Limits")]
    pub limit: Vec<String>,
    /// Client capabilities to declare: a comma-separated list of roots, sampling, elicitation; or `none`
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = CLIENT)]
    pub client: Vec<String>,
    /// Write a transcript of the run, for `mcp-conform judge`
    #[arg(long, value_name = "PATH")]
    pub transcript: Option<PathBuf>,
    /// Run again when a file in PATH changes, and report changed verdicts; repeatable
    #[arg(long, value_name = "PATH")]
    pub watch: Vec<PathBuf>,
    /// Print which suite would be gathered on which connection, in which order and why, and gather nothing but the survey
    #[arg(long, conflicts_with_all = ["watch", "transcript"])]
    pub plan: bool,
}
