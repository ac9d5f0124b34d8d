//! What shows rules and reports.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::FormArgs;

#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The id of a rule or a suite
    pub rule: String,
    /// Custom suites to include
    #[arg(long, value_name = "PATH")]
    pub suite: Vec<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum ReportCommand {
    /// Convert a JSON report to other formats; exits with the code of its run
    Render {
        /// A JSON report
        #[arg(value_name = "REPORT")]
        file: PathBuf,
        #[command(flatten)]
        forms: FormArgs,
    },
    /// Merge JSON reports of the parts of one run
    Merge {
        /// JSON reports
        #[arg(value_name = "REPORT", required = true)]
        files: Vec<PathBuf>,
        #[command(flatten)]
        forms: FormArgs,
    },
    /// Compare two JSON reports; exits with 1 if a rule newly fails
    Diff {
        /// The JSON report of the earlier run
        #[arg(value_name = "OLD")]
        old: PathBuf,
        /// The JSON report of the later run
        #[arg(value_name = "NEW")]
        new: PathBuf,
    },
    /// Put the report and the transcript of a run into one file that others can verify
    #[command(after_help = concat!(
        "Examples:\n",
        "  mcp-conform run --report json=run.json --transcript run.jsonl -- ./server\n",
        "  mcp-conform report bundle run.json --transcript run.jsonl --out run.tar\n",
        "  mcp-conform report verify run.tar"
    ))]
    Bundle(BundleArgs),
    /// Judge the transcript of a bundle again; exits with 1 if the verdict of its report does not hold
    Verify {
        /// What `mcp-conform report bundle` wrote
        #[arg(value_name = "BUNDLE")]
        file: PathBuf,
    },
}

#[derive(Debug, Args)]
pub struct BundleArgs {
    /// The JSON report of the run
    #[arg(value_name = "REPORT")]
    pub report: PathBuf,
    /// The transcript of the same run
    #[arg(long, value_name = "PATH")]
    pub transcript: PathBuf,
    /// The configuration of the run; its secrets are left out [default: the one that the report names]
    #[arg(long, value_name = "PATH")]
    pub config: Option<PathBuf>,
    /// Custom suites of the run, besides those of the configuration
    #[arg(long, value_name = "PATH")]
    pub suite: Vec<PathBuf>,
    /// The file to write: a tar archive
    #[arg(long, value_name = "BUNDLE")]
    pub out: PathBuf,
}

#[derive(Debug, Args)]
pub struct ListArgs {
    #[arg(value_enum, default_value_t = Listed::Suites)]
    pub what: Listed,
    /// List only names that contain this; `*` matches any text
    pub pattern: Option<String>,
    /// Print one line of JSON for each
    #[arg(long)]
    pub json: bool,
    /// With `rules`: print the requirements of a proposal or an extension as a table in the form of SEP-2484
    #[arg(long, value_name = "NAME", conflicts_with = "json")]
    pub traceability: Option<String>,
    /// With `rules`: write Markdown pages to this directory, one for each area
    #[arg(long, value_name = "DIR", conflicts_with_all = ["json", "traceability"])]
    pub pages: Option<PathBuf>,
    /// Custom suites to include
    #[arg(long, value_name = "PATH")]
    pub suite: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Listed {
    Rules,
    Suites,
    Profiles,
    Faults,
    Variations,
}
