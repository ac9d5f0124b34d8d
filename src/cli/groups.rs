//! Options that several commands share.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// The server to test.
#[derive(Clone, Debug, Args)]
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
#[derive(Clone, Debug, Args)]
pub struct ScopeArgs {
    /// auto (the newest that the server supports), all, or one of 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28
    #[arg(long, value_name = "REVISION", default_value = "auto", help_heading = "Scope")]
    pub revision: String,
    #[command(flatten)]
    pub select: SelectArgs,
    /// Judge this proposal or dialect, even if the server shows no sign of it; or auto, or none; repeatable
    #[arg(long, value_name = "NAME", help_heading = "Scope")]
    pub proposal: Vec<String>,
    /// Judge this extension, even if the server does not declare it: skills, ui, or its whole identifier; repeatable
    #[arg(long, value_name = "NAME", help_heading = "Scope")]
    pub extension: Vec<String>,
    /// Call every tool, with generated arguments if necessary. By default only tools with readOnlyHint are called, and those
    /// that the configuration names
    #[arg(long, help_heading = "Scope")]
    pub call_tools: bool,
}

/// The rules that are judged.
#[derive(Clone, Debug, Args)]
pub struct SelectArgs {
    /// Judge only these: a suite or rule id (`*` matches any text), or a level; `!TERM` excludes; repeatable
    #[arg(long, value_name = "TERM", help_heading = "Scope")]
    pub filter: Vec<String>,
    /// Exclude these, in the same terms; repeatable
    #[arg(long, value_name = "TERM", help_heading = "Scope")]
    pub exclude: Vec<String>,
    /// Send the requests of these too, without showing their results; repeatable
    #[arg(long, value_name = "TERM", help_heading = "Scope")]
    pub with: Vec<String>,
    /// Custom suites: files, or directories with .yaml files; repeatable
    #[arg(long, value_name = "PATH", help_heading = "Scope")]
    pub suite: Vec<PathBuf>,
}

impl SelectArgs {
    /// All terms of the filter. Those that exclude begin with `!`, and those whose results are not shown with `+`.
    pub fn terms(&self) -> Vec<String> {
        let excluded = self.exclude.iter().map(|term| format!("!{term}"));
        let beside = self.with.iter().map(|term| format!("+{term}"));
        self.filter.iter().cloned().chain(excluded).chain(beside).collect()
    }
}

/// What named hosts make of the server.
#[derive(Clone, Debug, Default, Args)]
pub struct ProfileArgs {
    /// Also report what these hosts reject, drop or cut: NAME, NAME@DATE, a file, `portable` (what several reject) or `all`,
    /// comma separated; the verdict does not depend on it; `mcp-conform list profiles` lists them; repeatable
    #[arg(long, value_name = "PROFILE", value_delimiter = ',', help_heading = "Scope")]
    pub profile: Vec<String>,
    /// A rule of a profile that fails also fails the run
    #[arg(long, value_name = "profile", value_enum, help_heading = "Output")]
    pub fail_on: Vec<FailOn>,
}

/// What else fails a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    Profile,
}

#[derive(Clone, Debug, Args)]
pub struct OutputArgs {
    #[command(flatten)]
    pub forms: FormArgs,
    /// Violations of SHOULD fail the run too
    #[arg(long, help_heading = "Output")]
    pub strict: bool,
    /// Failures that come from the SDK of the server do not fail the run
    #[arg(long, value_name = "sdk", value_enum, help_heading = "Output")]
    pub accept: Vec<Accept>,
    /// A list of known failures. Others fail the run, and so do entries that now pass
    #[arg(long, value_name = "PATH", help_heading = "Output")]
    pub baseline: Option<PathBuf>,
    /// Write the current failures to a list of known failures; existing reasons are kept
    #[arg(long, value_name = "PATH", conflicts_with = "baseline", help_heading = "Output")]
    pub write_baseline: Option<PathBuf>,
    /// Remove the entries that now pass from the list of known failures, and keep everything else in it
    #[arg(long, conflicts_with = "write_baseline", help_heading = "Output")]
    pub update_baseline: bool,
}

/// Failures that do not fail a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Accept {
    Sdk,
}

/// The forms that a report takes.
#[derive(Clone, Debug, Args)]
pub struct FormArgs {
    /// Write a report as FORMAT or FORMAT=PATH, where `-` is stdout; repeatable [default: human]
    #[arg(long, value_name = "FORMAT[=PATH]", help_heading = "Output")]
    pub report: Vec<String>,
    /// Show only failures and totals
    #[arg(long, short, conflicts_with = "verbose", help_heading = "Output")]
    pub quiet: bool,
    /// Show all findings of each rule that needs attention, and nothing else
    #[arg(long, conflicts_with_all = ["quiet", "verbose"], help_heading = "Output")]
    pub findings: bool,
    /// Show every rule with its verdict
    #[arg(long, short, help_heading = "Output")]
    pub verbose: bool,
}

pub fn seconds(text: &str) -> Result<f64, String> {
    crate::target::time(text)
        .ok_or_else(|| "expected a number of seconds (10 or 0.5), or `500ms`, `5s`, `2m`".to_owned())
}
