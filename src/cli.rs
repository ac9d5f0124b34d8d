//! What can be typed, exactly as it was typed. `run` makes values of it.

use std::{net::SocketAddr, num::NonZeroUsize, path::PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::{partition::Partition, report::Format};

const EXIT_CODES: &str = "Exit codes:
  0  conforming: no MUST failed
  1  a MUST failed, or with --strict a SHOULD
  2  invalid command line, configuration or suite; nothing was sent
  3  the server could not be started or reached, or it crashed, or a limit was reached
  4  no rule could be exercised
  130, 143, 129  ended by Ctrl-C, SIGTERM or SIGHUP; the evidence so far was judged";

/// What the client declares, unless somebody says otherwise.
pub const CLIENT: &str = "roots,sampling,elicitation";

/// Conformance tests for MCP servers, in every revision of the protocol.
#[derive(Debug, Parser)]
#[command(version, about, after_help = EXIT_CODES, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,

    /// When to use colors
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
    /// Set up a project: write mcp-conform.toml and a first suite; existing files are kept
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
    /// Test a client
    #[command(after_help = concat!(
        "The client is started again and again, each time against a server that behaves in another way. Its last argument is the\n",
        "URL of the server (with --transport stdio, the path of the server to start), unless {url} or {stub} stands in the command.\n",
        "\n",
        "Examples:\n",
        "  mcp-conform client -- node client.js\n",
        "  mcp-conform client --transport stdio -- ./client --server {stub}\n",
        "  mcp-conform client --port 8000            # waits for a client that you start\n",
        "  mcp-conform client -- mcp-conform act"
    ))]
    Client(Box<ClientArgs>),
    /// Test one gateway: a program between clients and servers
    #[command(after_help = concat!(
        "Examples:\n",
        "  mcp-conform gateway -- npx -y mcp-remote {upstream}\n",
        "  mcp-conform gateway --front http --back stdio -- mcp-proxy --port {port} {upstream}\n",
        "  mcp-conform gateway --http http://localhost:8080/mcp --upstream-listen 127.0.0.1:9000"
    ))]
    Gateway(Box<GatewayArgs>),
    /// Test many servers and summarize the results
    #[command(after_help = concat!(
        "Examples:\n",
        "  mcp-conform matrix targets.toml --out results\n",
        "  mcp-conform matrix targets.toml --out results --partition hash:2/4\n",
        "  mcp-conform matrix merge results another-machine/results"
    ), args_conflicts_with_subcommands = true)]
    Matrix(Box<MatrixArgs>),
    /// Record what a client and a server say to each other, for `mcp-conform judge`
    #[command(after_help = concat!(
        "Put it before the command of the server in the configuration of a client, or between a client and a server over HTTP.\n",
        "Everything passes through unchanged.\n",
        "\n",
        "Examples:\n",
        "  mcp-conform record --out t.jsonl -- ./server --quiet\n",
        "  mcp-conform record --out t.jsonl --listen 127.0.0.1:8080 --http http://127.0.0.1:3000/mcp\n",
        "  mcp-conform judge t.jsonl"
    ))]
    Record(RecordArgs),
    /// Judge a transcript of a run, or a recorded conversation, without the server
    Judge(JudgeArgs),
    /// Explain a rule: its source, its test and a violation
    Explain(ExplainArgs),
    /// Convert, merge or compare JSON reports
    #[command(subcommand)]
    Report(ReportCommand),
    /// List rules, suites, faults or variations
    List(ListArgs),
    /// Call tools, prompts and templates of a server with generated arguments: valid, invalid and hostile ones
    #[command(after_help = concat!(
        "Only tools with readOnlyHint are called, and those that are named.\n",
        "\n",
        "Examples:\n",
        "  mcp-conform generate --stdio './server --quiet'\n",
        "  mcp-conform generate --calls 5000 --seconds 60 --call-tools -- ./server\n",
        "  mcp-conform generate --only search --seed 7 --http http://127.0.0.1:3000/mcp"
    ))]
    Generate(Box<GenerateArgs>),
    /// Show the resources of a server as a tree
    Tree(Box<TreeArgs>),
    /// Validate suite files (offline)
    Check(CheckArgs),
    /// Run the reference server, optionally with one fault
    Serve(ServeArgs),
    /// Be the server that a client starts while it is tested
    #[command(hide = true)]
    Stub {
        socket: PathBuf,
        #[arg(last = true)]
        arguments: Vec<String>,
    },
    /// Test the rules: run them against each fault of the reference server
    Mutants(MutantsArgs),
    /// Run the reference client
    #[command(hide = true)]
    Act(ActArgs),
    /// Run the reference gateway
    #[command(hide = true)]
    Relay(RelayArgs),
    /// Print a completion script for a shell
    Completions { shell: Shell },
    /// Write manual pages
    Man {
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
}

#[derive(Debug, Args)]
pub struct InitArgs {
    /// The directory of the project
    #[arg(value_name = "DIR", default_value = ".")]
    pub directory: PathBuf,
    /// Also write a file for this CI system
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
    /// List the rules that would be judged and exit; what applies to the server shows only in a run
    #[arg(long, help_heading = "Scope")]
    pub list: bool,
    /// Judge only the rules that failed, warned or were broken in this JSON report
    #[arg(long, value_name = "REPORT", help_heading = "Scope")]
    pub last_failed: Option<PathBuf>,
    /// Run one part only, to share a run between machines: hash:K/N by rule ids, count:K/N in parts of equal size;
    /// `mcp-conform report merge` merges the JSON reports
    #[arg(long, value_name = "PART", help_heading = "Scope")]
    pub partition: Option<Partition>,
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
    /// Set a limit of docs/limits.md by name, such as request=30 (seconds); repeatable
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
    pub transport: Option<ClientTransport>,
    /// Start up to N clients at the same time, each against a server of its own [default: 1]
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
    /// Judge only these: a suite or rule id (`*` matches any text), or a level; `!TERM` excludes; repeatable
    #[arg(long, value_name = "TERM", help_heading = "Scope")]
    pub filter: Vec<String>,
    /// Custom suites about clients: files, or directories with .yaml files; repeatable
    #[arg(long, value_name = "PATH", help_heading = "Scope")]
    pub suite: Vec<PathBuf>,
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
pub struct GatewayArgs {
    /// How clients connect to the gateway: stdio, http (Streamable HTTP) or sse (HTTP+SSE) [default: stdio, http with --http]
    #[arg(long, value_enum, value_name = "TRANSPORT", help_heading = "Gateway")]
    pub front: Option<ClientTransport>,
    /// How the gateway connects to its upstream
    #[arg(long, value_enum, value_name = "TRANSPORT", default_value_t = ClientTransport::Http, help_heading = "Gateway")]
    pub back: ClientTransport,
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
    /// Judge only these: a suite or rule id (`*` matches any text), or a level; `!TERM` excludes; repeatable
    #[arg(long, value_name = "TERM", help_heading = "Scope")]
    pub filter: Vec<String>,
    /// Custom suites about gateways: files, or directories with .yaml files; repeatable
    #[arg(long, value_name = "PATH", help_heading = "Scope")]
    pub suite: Vec<PathBuf>,
    /// Also run the suites about servers, through the gateway and on its upstream, and report what is worse through the gateway
    #[arg(long, conflicts_with = "filter", help_heading = "Scope")]
    pub compare: bool,
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
    #[arg(value_name = "UPSTREAM", required_unless_present = "list")]
    pub upstream: Option<String>,
    /// How clients connect
    #[arg(long, value_enum, default_value_t = ClientTransport::Stdio)]
    pub front: ClientTransport,
    /// How the upstream is connected
    #[arg(long, value_enum, default_value_t = ClientTransport::Http)]
    pub back: ClientTransport,
    /// Where to listen for clients over HTTP
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub port: u16,
    /// The fault of the gateway
    #[arg(long, value_name = "NAME")]
    pub fault: Option<String>,
    /// List the faults and exit
    #[arg(long)]
    pub list: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ClientTransport {
    Http,
    Stdio,
    Sse,
}

/// The server to test.
#[derive(Debug, Args)]
#[group(id = "target", multiple = true)]
pub struct TargetArgs {
    /// A target of mcp-conform.toml [default: its only or default target]
    #[arg(value_name = "TARGET-NAME", conflicts_with = "argv", help_heading = "Target")]
    pub name: Option<String>,
    /// The configuration file [default: mcp-conform.toml in this directory or a parent]
    #[arg(long, value_name = "PATH", help_heading = "Target")]
    pub config: Option<PathBuf>,
    /// Start this command and connect over stdio (split like in a shell, but no shell runs)
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["name", "http", "sse", "reference", "argv"], help_heading = "Target")]
    pub stdio: Option<String>,
    /// Connect over Streamable HTTP
    #[arg(long, value_name = "URL", conflicts_with_all = ["name", "sse", "reference", "argv"], help_heading = "Target")]
    pub http: Option<String>,
    /// Connect over HTTP+SSE, the transport of 2024-11-05
    #[arg(long, value_name = "URL", conflicts_with_all = ["name", "reference", "argv"], help_heading = "Target")]
    pub sse: Option<String>,
    /// Test the built-in reference server
    #[arg(long, conflicts_with_all = ["name", "argv"], help_heading = "Target")]
    pub reference: bool,
    /// With --reference: the fault of the server
    #[arg(long, value_name = "NAME", help_heading = "Target")]
    pub fault: Option<String>,
    /// With --reference: the variation of the server
    #[arg(long, value_name = "NAME", conflicts_with = "fault", help_heading = "Target")]
    pub variation: Option<String>,
    /// Set an environment variable of the command; repeatable
    #[arg(long, value_name = "NAME=VALUE", help_heading = "Target")]
    pub env: Vec<String>,
    /// The working directory of the command
    #[arg(long, value_name = "DIR", help_heading = "Target")]
    pub cwd: Option<PathBuf>,
    /// Add a header to every HTTP request; its value is never shown; repeatable
    #[arg(long, value_name = "'NAME: VALUE'", help_heading = "Target")]
    pub header: Vec<String>,
    /// Send the token that this command prints as `Authorization: Bearer TOKEN`; it is never shown
    #[arg(long, value_name = "COMMAND", help_heading = "Target")]
    pub bearer_token_command: Option<String>,
    /// Start this command, without splitting it
    #[arg(last = true, value_name = "COMMAND", help_heading = "Target")]
    pub argv: Vec<String>,
}

/// What is tested.
#[derive(Debug, Args)]
pub struct ScopeArgs {
    /// auto (the newest that the server supports), all, or one of 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28
    #[arg(long, value_name = "REVISION", default_value = "auto", help_heading = "Scope")]
    pub revision: String,
    /// Judge only these: a suite or rule id (`*` matches any text), or a level; `!TERM` excludes; repeatable
    #[arg(long, value_name = "TERM", help_heading = "Scope")]
    pub filter: Vec<String>,
    /// Exclude these, in the same terms; repeatable
    #[arg(long, value_name = "TERM", help_heading = "Scope")]
    pub exclude: Vec<String>,
    /// Judge this proposal or dialect, even if the server shows no sign of it; or auto, or none; repeatable
    #[arg(long, value_name = "NAME", help_heading = "Scope")]
    pub proposal: Vec<String>,
    /// Call every tool, with generated arguments if necessary. By default only tools with readOnlyHint are called, and those
    /// that the configuration names
    #[arg(long, help_heading = "Scope")]
    pub call_tools: bool,
    /// Custom suites: files, or directories with .yaml files; repeatable
    #[arg(long, value_name = "PATH", help_heading = "Scope")]
    pub suite: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub struct OutputArgs {
    #[command(flatten)]
    pub forms: FormArgs,
    /// Violations of SHOULD fail the run too
    #[arg(long, help_heading = "Output")]
    pub strict: bool,
    /// A list of known failures. Others fail the run, and so do entries that now pass
    #[arg(long, value_name = "PATH", help_heading = "Output")]
    pub baseline: Option<PathBuf>,
    /// Write the current failures to a list of known failures; existing reasons are kept
    #[arg(long, value_name = "PATH", conflicts_with = "baseline", help_heading = "Output")]
    pub write_baseline: Option<PathBuf>,
}

/// The forms that a report takes.
#[derive(Debug, Args)]
pub struct FormArgs {
    /// Write a report as FORMAT or FORMAT=PATH, where `-` is stdout; repeatable [default: human]
    #[arg(long, value_name = "FORMAT[=PATH]", help_heading = "Output")]
    pub report: Vec<String>,
    /// Show only failures and totals
    #[arg(long, short, conflicts_with = "verbose", help_heading = "Output")]
    pub quiet: bool,
    /// Show every rule with its verdict
    #[arg(long, short, help_heading = "Output")]
    pub verbose: bool,
}

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
    },
}

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
    /// The transcript of an earlier run, or what `mcp-conform record` wrote
    pub transcript: PathBuf,
    /// Judge a recording while it grows, and print findings as they appear, until it ends or Ctrl-C
    #[arg(long)]
    pub follow: bool,
    #[command(flatten)]
    pub output: OutputArgs,
    /// Judge only these: a suite or rule id (`*` matches any text), or a level; repeatable
    #[arg(long, value_name = "TERM")]
    pub filter: Vec<String>,
    /// Custom suites that were part of the run
    #[arg(long, value_name = "PATH")]
    pub suite: Vec<PathBuf>,
}

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
        #[arg(value_name = "REPORT")]
        file: PathBuf,
        #[command(flatten)]
        forms: FormArgs,
    },
    /// Merge JSON reports of the parts of one run
    Merge {
        #[arg(value_name = "REPORT", required = true)]
        files: Vec<PathBuf>,
        #[command(flatten)]
        forms: FormArgs,
    },
    /// Compare two JSON reports; exits with 1 if a rule newly fails
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
    /// List only names that contain this; `*` matches any text
    pub pattern: Option<String>,
    /// Print one line of JSON for each
    #[arg(long)]
    pub json: bool,
    /// With `rules`: print the requirements of a proposal as a table in the form of SEP-2484
    #[arg(long, value_name = "PROPOSAL", conflicts_with = "json")]
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
    Faults,
    Variations,
}

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
    /// Judge only these: a suite or rule id (`*` matches any text), or a level; `!TERM` excludes; repeatable
    #[arg(long, value_name = "TERM", help_heading = "Scope")]
    pub filter: Vec<String>,
    /// Custom suites with rules over `$calls`: files, or directories with .yaml files; repeatable
    #[arg(long, value_name = "PATH", help_heading = "Scope")]
    pub suite: Vec<PathBuf>,
    /// Number of calls; those that confirm and shrink a finding come on top
    #[arg(long, value_name = "N", default_value_t = 200, help_heading = "Limits")]
    pub calls: usize,
    /// Make no new calls after this time, in seconds or as `500ms`, `5s`, `2m`
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
    #[command(flatten)]
    pub output: OutputArgs,
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
    /// Maximum depth of the tree
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub depth: usize,
    /// Maximum number of resources
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
    /// Serve N generated resources below one directory: tree:N, or cyclic:N with
    /// cycles; optionally fanout:F children each and page:P resources per page (100 and 100),
    /// as in tree:1000000,fanout:50
    #[arg(long, value_name = "WORLD")]
    pub world: Option<String>,
    /// Over HTTP: require a bearer token, and print the valid ones
    #[arg(long, requires = "http")]
    pub protected: bool,
}

#[derive(Debug, Args)]
pub struct MutantsArgs {
    /// Only faults whose name, rule or suite contains one of these
    #[arg(value_name = "FILTER")]
    pub filters: Vec<String>,
    /// stdio, http or sse; repeatable
    #[arg(long, value_name = "TRANSPORT")]
    pub transport: Vec<String>,
    /// Only in this revision; repeatable
    #[arg(long, value_name = "REVISION")]
    pub revision: Vec<String>,
    /// Test the conforming variations: none may change a verdict that it does not name
    #[arg(long)]
    pub variations: bool,
    /// Prove the rules about clients, by the faults and variations of the reference client
    #[arg(long, conflicts_with_all = ["variations", "longer_than", "changed"])]
    pub clients: bool,
    /// Prove the rules about gateways, by the faults of the reference gateway
    #[arg(long, conflicts_with_all = ["clients", "variations", "longer_than", "changed", "real"])]
    pub gateways: bool,
    /// Run each fault once over each transport at the default limits: list the runs that take longer
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub longer_than: Option<f64>,
    /// Prove only what differs from this commit (HEAD, unless another one is named) in suites, shapes and faults, and what
    /// that affects
    #[arg(long, value_name = "COMMIT", num_args = 0..=1, require_equals = true, default_missing_value = "HEAD", conflicts_with_all = ["filters", "variations"])]
    pub changed: Option<String>,
    /// Start real processes and listen on real sockets, and wait in real time, in place of a server or client inside this process
    #[arg(long)]
    pub real: bool,
    /// Run nothing: list the known bugs in the YAML files of this directory with their faults
    #[arg(long, value_name = "DIR", conflicts_with_all = ["filters", "transport", "revision", "variations", "longer_than", "real", "changed"])]
    pub bugs: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ActArgs {
    /// The URL of the server; with `MCP_CONFORMANCE_TRANSPORT=stdio` the path of an executable
    #[arg(value_name = "TARGET", required_unless_present = "list")]
    pub target: Option<String>,
    /// The fault of the client
    #[arg(long, value_name = "NAME")]
    pub fault: Option<String>,
    /// A conforming variation of the client
    #[arg(long, value_name = "NAME", conflicts_with = "fault")]
    pub variation: Option<String>,
    /// List the faults and variations and exit
    #[arg(long)]
    pub list: bool,
}

fn seconds(text: &str) -> Result<f64, String> {
    crate::target::time(text)
        .ok_or_else(|| "expected a number of seconds (10 or 0.5), or `500ms`, `5s`, `2m`".to_owned())
}

impl ScopeArgs {
    /// All terms of the filter; those that exclude begin with `!`.
    pub fn terms(&self) -> Vec<String> {
        self.filter.iter().cloned().chain(self.exclude.iter().map(|term| format!("!{term}"))).collect()
    }
}

/// The formats of `--report`, for messages.
pub fn formats() -> String {
    let names =
        Format::value_variants().iter().filter_map(|format| Some(format.to_possible_value()?.get_name().to_owned()));
    names.collect::<Vec<_>>().join(", ")
}

/// A number of bytes.
fn size(text: &str) -> Result<u64, String> {
    let units = [("k", 10), ("M", 20), ("G", 30)];
    let unit = units.iter().find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, *shift)));
    let (digits, shift) = unit.unwrap_or((text, 0));
    let number = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
    number.filter(|size| *size > 0).ok_or_else(|| "expected a size such as 1000000, 64M or 1G".to_owned())
}
