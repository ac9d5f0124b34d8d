//! `mcp-conform matrix`.

use std::{num::NonZeroUsize, path::PathBuf};

use clap::{Args, Subcommand};

use super::{ProfileArgs, ScopeArgs, groups::seconds};
use crate::partition::Partition;

#[derive(Debug, Args)]
pub struct MatrixArgs {
    #[command(subcommand)]
    pub command: Option<MatrixCommand>,
    /// The servers, each a table [targets.NAME] as in mcp-conform.toml [default: mcp-conform.toml in this directory or a
    /// parent]
    #[arg(value_name = "TARGETS")]
    pub targets: Option<PathBuf>,
    #[command(flatten)]
    pub scope: ScopeArgs,
    #[command(flatten)]
    pub profiles: ProfileArgs,
    /// Test only the K-th of N parts of the servers: hash:K/N or count:K/N
    #[arg(long, value_name = "PART", help_heading = "Scope")]
    pub partition: Option<Partition>,

    /// Number of servers to test concurrently [default: number of cores]
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Timeout of a request, in seconds or as `500ms`, `5s`, `2m`
    #[arg(long, value_name = "TIME", value_parser = seconds, default_value_t = 10.0)]
    pub timeout: f64,
    /// Timeout of each server
    #[arg(long, value_name = "TIME", value_parser = seconds, default_value_t = 300.0)]
    pub run_timeout: f64,
    /// Test servers again that already have a result; those that could not be tested are always tested again
    #[arg(long)]
    pub again: bool,

    /// Output directory: a JSON report for each server, matrix.html, matrix.md and matrix.json
    #[arg(long, value_name = "DIR", default_value = "mcp-conform-matrix", help_heading = "Output")]
    pub out: PathBuf,
    /// Also write junit=PATH, with a test suite for each suite of each server, or github, annotations for each rule that some
    /// servers violate; repeatable
    #[arg(long, value_name = "FORMAT[=PATH]", help_heading = "Output")]
    pub report: Vec<String>,
    /// Violations of SHOULD fail a server too
    #[arg(long, help_heading = "Output")]
    pub strict: bool,
}

#[derive(Debug, Subcommand)]
pub enum MatrixCommand {
    /// Merge the results in these directories into one matrix, without testing
    Merge {
        #[arg(value_name = "DIR", required = true)]
        directories: Vec<PathBuf>,
        /// Output directory of matrix.html, matrix.md and matrix.json [default: the first directory]
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
        /// Also write junit=PATH or github; repeatable
        #[arg(long, value_name = "FORMAT[=PATH]")]
        report: Vec<String>,
    },
}
