//! `mcp-conform.toml`: named servers and clients, and facts about them.
//!
//! It is read like a suite: every mistake is recorded with its position, and all are reported at once.

mod auth;
mod client;
mod expand;
mod read;
mod target;
mod toml;

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
};

use client::DescribedClient;
pub use client::{Arguments, Client};
use read::Read;
pub use target::Described;

use crate::{
    error::{Error, Mistakes},
    suite::{Diagnostic, diagnostic::Problems},
    target::Limits,
};

/// The name of the file that is looked for.
pub const FILE: &str = "mcp-conform.toml";

/// Variables of the environment that are valid Unicode.
pub type Environment = HashMap<String, String>;

/// A configuration without mistakes.
#[derive(Debug)]
pub struct Config {
    file: PathBuf,
    text: String,
    targets: Vec<Described>,
    clients: Vec<DescribedClient>,
    /// Suites of the user: files or directories.
    pub suites: Vec<PathBuf>,
    /// `[facts]`, with `[tools]` and `[prompts]` as fields: `$facts` in rules.
    pub facts: serde_json::Value,
    pub limits: Limits,
    pub settings: Settings,
}

/// Options of `run` that the file gives, for who types none of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    pub strict: bool,
    /// As they are typed, with a path as seen from here.
    pub report: Vec<String>,
    pub baseline: Option<PathBuf>,
}

/// The file in this directory or the nearest one above it.
pub fn find(directory: &Path) -> Option<PathBuf> {
    directory.ancestors().map(|directory| directory.join(FILE)).find(|file| file.is_file())
}

pub fn load(file: &Path, color: bool) -> Result<Config, Error> {
    let shown = file.display().to_string();
    let text = fs::read_to_string(file).map_err(|source| Error::File { path: shown, doing: "read", source })?;
    parse(file, text, color)
}

pub(crate) fn parse(file: &Path, text: String, color: bool) -> Result<Config, Error> {
    let mut problems = Problems::new(&file.display().to_string(), &text);
    let directory = folder(file);
    let read = toml::parse(&text, &mut problems).and_then(|tree| read::config(&tree, directory, &mut problems));
    let mistakes = problems.into_diagnostics();
    match read {
        Some(Read { targets, clients, suites, facts, limits, settings }) if mistakes.is_empty() => {
            Ok(Config { file: file.to_owned(), text, targets, clients, suites, facts, limits, settings })
        }
        _ => Err(refused(&mistakes, color)),
    }
}

/// The directory of the file. A bare name has an empty parent, which is not a valid working directory.
fn folder(file: &Path) -> &Path {
    file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn refused(mistakes: &[Diagnostic], color: bool) -> Error {
    let rendered: Vec<String> = mistakes.iter().map(|mistake| mistake.render(color)).collect();
    let short = mistakes.iter().map(ToString::to_string).collect();
    Error::Config(Mistakes { rendered: rendered.join("\n\n"), short })
}
