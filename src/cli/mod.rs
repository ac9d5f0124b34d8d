//! What can be typed, exactly as it was typed. `run` makes values of it.

mod auth_server;
mod client;
mod gateway;
mod generate;
mod groups;
mod matrix;
mod project;
mod recordings;
mod reports;
mod run;
mod suites;

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

pub use self::{
    auth_server::AuthServerArgs,
    client::{ActArgs, ClientArgs},
    gateway::{GatewayArgs, RelayArgs},
    generate::GenerateArgs,
    groups::{Accept, FailOn, FormArgs, OutputArgs, ProfileArgs, ScopeArgs, SelectArgs, TargetArgs, seconds},
    matrix::{MatrixArgs, MatrixCommand},
    project::{InitArgs, Pipeline, TreeArgs, TreeFormat},
    recordings::{JudgeArgs, RecordArgs},
    reports::{BundleArgs, ExplainArgs, ListArgs, Listed, ReportCommand},
    run::{CLIENT, MOST_RETRIES, RunArgs},
    suites::{CheckArgs, ServeArgs},
};
use crate::report::Format;

const EXIT_CODES: &str = "Exit codes:
  0  conforming: no MUST failed
  1  a MUST failed, or with --strict a SHOULD
  2  invalid command line, configuration or suite; nothing was sent
  3  the server could not be started or reached, or it crashed, or a limit was reached
  4  no rule could be exercised
  130, 143, 129  ended by Ctrl-C, SIGTERM or SIGHUP; the evidence so far was judged";

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
        "The client is started again and again, each time against a server that behaves in another way. Its last argument is the ",
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
    /// Test an authorization server, by its issuer URL
    #[command(after_help = concat!(
        "Without further options nothing is registered and no user logs in.\n",
        "\n",
        "Examples:\n",
        "  mcp-conform auth-server https://auth.example.com/tenant\n",
        "  mcp-conform auth-server https://auth.example.com --client-id tester --redirect-uri http://127.0.0.1:4999/callback\n",
        "  mcp-conform auth-server http://127.0.0.1:9000 --register"
    ))]
    AuthServer(Box<AuthServerArgs>),
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
    /// Convert, merge or compare JSON reports, and pass on their evidence
    #[command(subcommand)]
    Report(ReportCommand),
    /// List rules, suites, faults or variations
    List(ListArgs),
    /// Print a page of the documentation, or list the pages
    Docs {
        /// For example `configuration` [default: list the pages]
        page: Option<String>,
    },
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
    /// Show the resources and skills of a server as a tree
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

/// The formats of `--report`, for messages.
pub fn formats() -> String {
    let names =
        Format::value_variants().iter().filter_map(|format| Some(format.to_possible_value()?.get_name().to_owned()));
    names.collect::<Vec<_>>().join(", ")
}
