//! What begins a project and looks at a server.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::TargetArgs;

#[derive(Debug, Args)]
pub struct InitArgs {
    /// The directory of the project
    #[arg(value_name = "DIR", default_value = ".")]
    pub directory: PathBuf,
    /// Also write a file for this CI system
    #[arg(long, value_enum, value_name = "WHERE")]
    pub ci: Option<Pipeline>,
    /// Start this server, and write what it shows about itself: calls that it permits, and what else lets rules be tested
    #[arg(last = true, value_name = "COMMAND")]
    pub argv: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Pipeline {
    Github,
    Gitlab,
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
