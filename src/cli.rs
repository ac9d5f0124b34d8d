//! What can be typed, exactly as it was typed. `run` makes values of it.

use std::{net::SocketAddr, num::NonZeroUsize, path::PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::{partition::Partition, report::Format};

const EXIT_CODES: &str = "Exit codes:
  0  conforming: nothing that a server must do failed
  1  a MUST failed, or with --strict a SHOULD
  2  the command line, the configuration or a suite is wrong; nothing was sent
  3  the server could not be started or reached, or died, or time or room ran out
  4  nothing could be exercised
  130, 143, 129  ended by Ctrl-C, SIGTERM, SIGHUP; what was gathered was judged";

/// What the client declares, unless somebody says otherwise.
pub const CLIENT: &str = "roots,sampling,elicitation";

/// Conformance tests for MCP servers, in every revision of the protocol.
#[derive(Debug, Parser)]
#[command(version, about, after_help = EXIT_CODES, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,

    /// When to use colours
    #[arg(long, global = true, value_enum, default_value_t = ColorChoice::Auto, value_name = "WHEN")]
    pub color: ColorChoice,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Begin in a project: say how its server is started, and write a first rule of your own; what is there stays
    Init(InitArgs),
    /// Test a server
    #[command(after_help = concat!(
        "Examples:\n",
        "  mcp-conform run --stdio './server --quiet'\n",
        "  mcp-conform run -- npx -y @modelcontextprotocol/server-everything\n",
        "  mcp-conform run --http http://127.0.0.1:3000/mcp --report junit=conform.xml\n",
        "  mcp-conform run --stdio ./server --revision all --filter 'resources.*'\n",
        "  mcp-conform run --reference"
    ))]
    Run(Box<RunArgs>),
    /// Test many servers side by side, and say what they have in common
    #[command(after_help = concat!(
        "Examples:\n",
        "  mcp-conform matrix targets.toml --out results\n",
        "  mcp-conform matrix targets.toml --out results --partition hash:2/4\n",
        "  mcp-conform matrix merge results another-machine/results"
    ), args_conflicts_with_subcommands = true)]
    Matrix(Box<MatrixArgs>),
    /// Judge a recorded run again, without the server
    Judge(JudgeArgs),
    /// Say what a rule asks for, where that stands, how it is tested, and what breaking it looks like
    Explain(ExplainArgs),
    /// Turn JSON reports into other formats, join them, or compare two
    #[command(subcommand)]
    Report(ReportCommand),
    /// Show the rules, suites, faults or variations there are
    List(ListArgs),
    /// Show the resources of a server as a tree
    Tree(Box<TreeArgs>),
    /// Look for mistakes in suite files, and send nothing
    Check(CheckArgs),
    /// Be the reference server: faultless, or with exactly one fault
    Serve(ServeArgs),
    /// Prove that each rule can fail: run all rules against each fault of the reference server
    Mutants(MutantsArgs),
    /// Print what a shell needs to complete commands and options
    Completions { shell: Shell },
    /// Write manual pages
    Man {
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
}

#[derive(Debug, Args)]
pub struct InitArgs {
    /// The project
    #[arg(value_name = "DIR", default_value = ".")]
    pub directory: PathBuf,
    /// Write the file of this pipeline too
    #[arg(long, value_enum, value_name = "WHERE")]
    pub ci: Option<Pipeline>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Pipeline {
    Github,
    Gitlab,
}

#[derive(Debug, Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub target: TargetArgs,
    #[command(flatten)]
    pub scope: ScopeArgs,
    /// One part of the run, for several machines: hash:K/N by the ids of rules, count:K/N in pieces of the same length;
    /// `mcp-conform report merge` joins their JSON reports
    #[arg(long, value_name = "PART", help_heading = "Scope")]
    pub partition: Option<Partition>,
    #[command(flatten)]
    pub output: OutputArgs,

    /// Seconds that the server has for each answer [default: 10]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, help_heading = "Limits")]
    pub timeout: Option<f64>,
    /// Seconds for the whole run [default: 300]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, help_heading = "Limits")]
    pub run_timeout: Option<f64>,
    /// Bytes of the longest message that is read whole [default: 16777216]
    #[arg(long, value_name = "BYTES", help_heading = "Limits")]
    pub max_message: Option<usize>,
    /// Requests that may be on their way at once [default: 8]
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub in_flight: Option<usize>,
    /// Any limit by its name in docs/limits.md, such as request=30 (seconds); repeatable
    #[arg(long, value_name = "NAME=VALUE", help_heading = "Limits")]
    pub limit: Vec<String>,
    /// What the client declares to be able to do, as a comma-separated list of roots, sampling, elicitation; or `none`
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = CLIENT)]
    pub client: Vec<String>,
    /// Record everything that happens, for `mcp-conform judge`
    #[arg(long, value_name = "PATH")]
    pub transcript: Option<PathBuf>,
    /// Run again whenever a file here changes, and say what changed in the verdicts; repeatable
    #[arg(long, value_name = "PATH")]
    pub watch: Vec<PathBuf>,
}

/// The server to test.
#[derive(Debug, Args)]
#[group(id = "target", multiple = true)]
pub struct TargetArgs {
    /// A target of mcp-conform.toml; without any, its only or default one
    #[arg(value_name = "TARGET-NAME", conflicts_with = "argv", help_heading = "Target")]
    pub name: Option<String>,
    /// The configuration, instead of the mcp-conform.toml in this directory or above it
    #[arg(long, value_name = "PATH", help_heading = "Target")]
    pub config: Option<PathBuf>,
    /// Start this command and talk to it over stdin and stdout (split like a shell does, without running one)
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["name", "http", "sse", "reference", "argv"], help_heading = "Target")]
    pub stdio: Option<String>,
    /// Talk to a server over Streamable HTTP
    #[arg(long, value_name = "URL", conflicts_with_all = ["name", "sse", "reference", "argv"], help_heading = "Target")]
    pub http: Option<String>,
    /// Talk to a server over HTTP+SSE, the transport of 2024-11-05
    #[arg(long, value_name = "URL", conflicts_with_all = ["name", "reference", "argv"], help_heading = "Target")]
    pub sse: Option<String>,
    /// Test the built-in reference server
    #[arg(long, conflicts_with_all = ["name", "argv"], help_heading = "Target")]
    pub reference: bool,
    /// With --reference: the fault that the server commits
    #[arg(long, value_name = "NAME", help_heading = "Target")]
    pub fault: Option<String>,
    /// With --reference: the variation that the server is
    #[arg(long, value_name = "NAME", conflicts_with = "fault", help_heading = "Target")]
    pub variation: Option<String>,
    /// A variable for the environment of the command; repeatable
    #[arg(long, value_name = "NAME=VALUE", help_heading = "Target")]
    pub env: Vec<String>,
    /// The directory to start the command in
    #[arg(long, value_name = "DIR", help_heading = "Target")]
    pub cwd: Option<PathBuf>,
    /// A header for every HTTP request; repeatable; its value is never shown
    #[arg(long, value_name = "'NAME: VALUE'", help_heading = "Target")]
    pub header: Vec<String>,
    /// Send the token that this command prints as `Authorization: Bearer TOKEN`; it is never shown
    #[arg(long, value_name = "COMMAND", help_heading = "Target")]
    pub bearer_token_command: Option<String>,
    /// Start this command, taken as it is
    #[arg(last = true, value_name = "COMMAND", help_heading = "Target")]
    pub argv: Vec<String>,
}

/// What is tested.
#[derive(Debug, Args)]
pub struct ScopeArgs {
    /// auto (the newest that the server speaks), all, or one of 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28
    #[arg(long, value_name = "REVISION", default_value = "auto", help_heading = "Scope")]
    pub revision: String,
    /// Judge only these: a suite or rule id (`*` stands for any text), or a level; repeatable
    #[arg(long, value_name = "TERM", help_heading = "Scope")]
    pub filter: Vec<String>,
    /// Judge this proposal or dialect even if the server shows no sign of it; or auto (those that show), none; repeatable
    #[arg(long, value_name = "NAME", help_heading = "Scope")]
    pub proposal: Vec<String>,
    /// Call every tool, with made-up arguments if need be; else only those that say they change nothing, or that the
    /// configuration names
    #[arg(long, help_heading = "Scope")]
    pub call_tools: bool,
    /// Suites of your own: files, or directories with .yaml files; repeatable
    #[arg(long, value_name = "PATH", help_heading = "Scope")]
    pub suite: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub struct OutputArgs {
    #[command(flatten)]
    pub forms: FormArgs,
    /// A SHOULD that does not hold fails the run too
    #[arg(long, help_heading = "Output")]
    pub strict: bool,
    /// Failures that are known: they are expected, others fail, and one that is gone fails until it is removed
    #[arg(long, value_name = "PATH", help_heading = "Output")]
    pub baseline: Option<PathBuf>,
    /// Write what fails now into a list of known failures, each with a reason to fill in; reasons in it are kept
    #[arg(long, value_name = "PATH", conflicts_with = "baseline", help_heading = "Output")]
    pub write_baseline: Option<PathBuf>,
}

/// The forms that a report takes.
#[derive(Debug, Args)]
pub struct FormArgs {
    /// A report as FORMAT or FORMAT=PATH, where `-` is stdout; repeatable. Without it, `human` goes to stdout
    #[arg(long, value_name = "FORMAT[=PATH]", help_heading = "Output")]
    pub report: Vec<String>,
    /// Only totals and what failed
    #[arg(long, short, conflicts_with = "verbose", help_heading = "Output")]
    pub quiet: bool,
    /// Every rule with its verdict
    #[arg(long, short, help_heading = "Output")]
    pub verbose: bool,
}

#[derive(Debug, Args)]
pub struct MatrixArgs {
    #[command(subcommand)]
    pub command: Option<MatrixCommand>,
    /// The servers, each a table [targets.NAME] as in mcp-conform.toml; without it, those of the mcp-conform.toml in this
    /// directory or above it
    #[arg(value_name = "TARGETS")]
    pub targets: Option<PathBuf>,
    #[command(flatten)]
    pub scope: ScopeArgs,
    /// Take only this part of the servers: hash:K/N or count:K/N, the K-th of N parts
    #[arg(long, value_name = "PART", help_heading = "Scope")]
    pub partition: Option<Partition>,

    /// Servers that are tested at once; without it, as many as there are cores
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Seconds that a server has for each answer
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value_t = 10.0)]
    pub timeout: f64,
    /// Seconds for each server as a whole
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value_t = 300.0)]
    pub run_timeout: f64,
    /// Test servers anew whose results stand in the directory; those that could not be tested are in any case
    #[arg(long)]
    pub again: bool,

    /// The directory of the results: a JSON report for each server, and matrix.html, matrix.md and matrix.json
    #[arg(long, value_name = "DIR", default_value = "mcp-conform-matrix", help_heading = "Output")]
    pub out: PathBuf,
    /// A SHOULD that does not hold fails a server too
    #[arg(long, help_heading = "Output")]
    pub strict: bool,
}

#[derive(Debug, Subcommand)]
pub enum MatrixCommand {
    /// Make one matrix of all results in these directories, and test nothing
    Merge {
        #[arg(value_name = "DIR", required = true)]
        directories: Vec<PathBuf>,
        /// Where matrix.html, matrix.md and matrix.json go; without it, into the first directory
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub struct JudgeArgs {
    /// The transcript of an earlier run
    pub transcript: PathBuf,
    #[command(flatten)]
    pub output: OutputArgs,
    /// Judge only these: a suite or rule id (`*` stands for any text), or a level; repeatable
    #[arg(long, value_name = "TERM")]
    pub filter: Vec<String>,
    /// Suites of your own that were part of the run
    #[arg(long, value_name = "PATH")]
    pub suite: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The id of a rule, as in a report, or of a suite
    pub rule: String,
    /// Suites of your own to look in as well
    #[arg(long, value_name = "PATH")]
    pub suite: Vec<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum ReportCommand {
    /// Write a JSON report in other formats; the exit code is that of its run
    Render {
        #[arg(value_name = "REPORT")]
        file: PathBuf,
        #[command(flatten)]
        forms: FormArgs,
    },
    /// Join JSON reports of parts of one run
    Merge {
        #[arg(value_name = "REPORT", required = true)]
        files: Vec<PathBuf>,
        #[command(flatten)]
        forms: FormArgs,
    },
    /// Say what got better and worse from one JSON report to another; exit code 1 if a rule fails that did not
    Diff {
        #[arg(value_name = "REPORT")]
        old: PathBuf,
        #[arg(value_name = "REPORT")]
        new: PathBuf,
    },
}

#[derive(Debug, Args)]
pub struct ListArgs {
    #[arg(value_enum, default_value_t = Listed::Suites)]
    pub what: Listed,
    /// One line of JSON for each
    #[arg(long)]
    pub json: bool,
    /// With `rules`: the table of a proposal's requirements that the specification project asks for (SEP-2484)
    #[arg(long, value_name = "PROPOSAL", conflicts_with = "json")]
    pub traceability: Option<String>,
    /// With `rules`: write them into this directory as pages of Markdown, one for each area
    #[arg(long, value_name = "DIR", conflicts_with_all = ["json", "traceability"])]
    pub pages: Option<PathBuf>,
    /// Suites of your own to show as well
    #[arg(long, value_name = "PATH")]
    pub suite: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Listed {
    Rules,
    Suites,
    Faults,
    Variations,
}

#[derive(Debug, Args)]
pub struct TreeArgs {
    #[command(flatten)]
    pub target: TargetArgs,
    /// text for a terminal, dot for Graphviz, mermaid for Markdown, json for programs
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = TreeFormat::Text)]
    pub format: TreeFormat,
    /// auto (the newest that the server speaks), or one of the revisions
    #[arg(long, value_name = "REVISION", default_value = "auto")]
    pub revision: String,
    /// How far down to look into what can be listed
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub depth: usize,
    /// How many resources to look at
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub nodes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TreeFormat {
    Text,
    Dot,
    Mermaid,
    Json,
}

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Suite files, or directories with .yaml files; without any, the built-in suites
    pub files: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Listen here instead of using stdin and stdout; port 0 picks a free one. Endpoints: /mcp and /sse
    #[arg(long, value_name = "ADDRESS")]
    pub http: Option<SocketAddr>,
    /// The fault to commit; `mcp-conform list faults` shows them
    #[arg(long, value_name = "NAME")]
    pub fault: Option<String>,
    /// Another lawful way to be a server; `mcp-conform list variations` shows them
    #[arg(long, value_name = "NAME", conflicts_with = "fault")]
    pub variation: Option<String>,
    /// Speak only this revision; repeatable
    #[arg(long, value_name = "REVISION")]
    pub revision: Vec<String>,
    /// A proposal or dialect to follow besides the protocol; repeatable
    #[arg(long, value_name = "NAME")]
    pub proposal: Vec<String>,
    /// Serve N more resources, made when they are asked for and never stored, to be walked from one directory: tree:N, or
    /// cyclic:N where all are directories in circles; then fanout:F children each and page:P of them at once (100 and 100),
    /// as in tree:1000000,fanout:50
    #[arg(long, value_name = "WORLD")]
    pub world: Option<String>,
    /// Over HTTP: let nobody in without a bearer token; says which tokens there are
    #[arg(long, requires = "http")]
    pub protected: bool,
}

#[derive(Debug, Args)]
pub struct MutantsArgs {
    /// Only faults whose name contains one of these, or that a suite or rule of such a name is proved by
    #[arg(value_name = "FILTER")]
    pub filters: Vec<String>,
    /// stdio, http or sse; repeatable
    #[arg(long, value_name = "TRANSPORT")]
    pub transport: Vec<String>,
    /// Only in this revision; repeatable
    #[arg(long, value_name = "REVISION")]
    pub revision: Vec<String>,
    /// Prove that no lawful variation of the reference server changes a verdict that it does not name
    #[arg(long)]
    pub variations: bool,
    /// Run nothing: show which fault stands for each known bug in the YAML files of this folder, and what is missing
    #[arg(long, value_name = "DIR", conflicts_with_all = ["filters", "transport", "revision", "variations"])]
    pub bugs: Option<PathBuf>,
}

fn seconds(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "a time is a number of seconds, such as 10 or 0.5".to_owned())
}

/// The formats of `--report`, for messages.
pub fn formats() -> String {
    let names =
        Format::value_variants().iter().filter_map(|format| Some(format.to_possible_value()?.get_name().to_owned()));
    names.collect::<Vec<_>>().join(", ")
}
