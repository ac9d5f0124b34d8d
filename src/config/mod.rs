//! `mcp-conform.toml`: named servers and clients, and facts about them.
//!
//! It is read like a suite: every mistake is recorded with its position, and all are reported at once.

mod auth;
mod auth_server;
mod client;
mod expand;
mod keys;
mod levels;
mod read;
mod schema;
mod target;
mod toml;

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

pub use self::toml::line as toml_line;
pub use auth_server::AuthServer;
use auth_server::DescribedAuthServer;
use client::DescribedClient;
pub use client::{Arguments, Client};
use levels::DescribedLevel;
pub use schema::json_schema;
pub use target::Described;

use crate::{
    error::{Error, Mistakes},
    outcome::Flaky,
    suite::{Diagnostic, decode::Decode, diagnostic::Problems},
    target::Limits,
};

/// Whether a profile is named by its file.
pub fn is_profile_file(name: &str) -> bool {
    let extension = Path::new(name).extension().unwrap_or_default();
    name.contains(['/', '\\']) || extension == "yaml" || extension == "yml"
}

/// The name of the file that is looked for.
pub const FILE: &str = "mcp-conform.toml";

/// Variables of the environment that are valid Unicode.
pub type Environment = HashMap<String, String>;

/// A configuration without mistakes.
#[derive(Debug)]
pub struct Config {
    file: PathBuf,
    targets: Vec<Described>,
    clients: Vec<DescribedClient>,
    auth_servers: Vec<DescribedAuthServer>,
    levels: Vec<DescribedLevel>,
    /// Suites of the user: files or directories.
    pub suites: Vec<PathBuf>,
    /// `[facts]`, with `[tools]` and `[prompts]` as fields: `$facts` in rules.
    pub facts: serde_json::Value,
    pub limits: Limits,
    pub settings: Settings,
}

/// A file and its text: what an error about a part of it shows.
#[derive(Debug)]
struct Origin {
    file: PathBuf,
    text: String,
}

/// Options of `run` in the file, used where the command line has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    pub strict: bool,
    /// In the form of the command line, with paths relative to the working directory.
    pub report: Vec<String>,
    pub baseline: Option<PathBuf>,
    pub profiles: Vec<String>,
    pub fail_on_profile: bool,
    pub accept_sdk: bool,
    pub retries: Option<u8>,
    pub flaky: Option<Flaky>,
}

/// The file in this directory or the nearest one above it.
pub fn find(directory: &Path) -> Option<PathBuf> {
    directory.ancestors().map(|directory| directory.join(FILE)).find(|file| file.is_file())
}

pub fn load(file: &Path, color: bool) -> Result<Config, Error> {
    let text = fs::read_to_string(file).map_err(|source| Error::File {
        path: file.display().to_string(),
        doing: "read",
        source,
    })?;
    parse(file, text, color)
}

pub fn parse(file: &Path, text: String, color: bool) -> Result<Config, Error> {
    let (mut config, mut mistakes) = (Config::empty(file), Vec::new());
    config.add(Origin { file: file.to_owned(), text }, &[], &mut mistakes);
    if mistakes.is_empty() { Ok(config) } else { Err(refused(&mistakes, color)) }
}

impl Config {
    fn empty(file: &Path) -> Self {
        Self {
            file: file.to_owned(),
            targets: Vec::new(),
            clients: Vec::new(),
            auth_servers: Vec::new(),
            levels: Vec::new(),
            suites: Vec::new(),
            facts: serde_json::json!({}),
            limits: Limits::default(),
            settings: Settings::default(),
        }
    }

    /// Adds a file after those that it extends, whose values it overrides. `from` are the files that extend it.
    fn add(&mut self, origin: Origin, from: &[&Path], mistakes: &mut Vec<Diagnostic>) {
        let origin = Arc::new(origin);
        let mut problems = Problems::new(&origin.file.display().to_string(), &origin.text);
        let tree = toml::parse(&origin.text, &mut problems);
        if let Some(mut keys) = tree.and_then(|tree| keys::File::decode(&tree, &mut problems)) {
            let from = [from, &[origin.file.as_path()]].concat();
            for base in keys.extends.take().map(|files| files.0).into_iter().flatten() {
                let file = within(folder(&origin.file), Path::new(&base.value));
                if from.iter().any(|earlier| is_same(earlier, &file)) {
                    problems.add(base.at, format!("`{}` extends this file", base.value));
                    continue;
                }
                match fs::read_to_string(&file) {
                    Ok(text) => self.add(Origin { file, text }, &from, mistakes),
                    Err(why) => problems.add(base.at, format!("failed to read `{}`: {why}", file.display())),
                }
            }
            read::add(self, keys, &origin, &mut problems);
        }
        mistakes.extend(problems.into_diagnostics());
    }
}

fn is_same(one: &Path, other: &Path) -> bool {
    one == other || matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

/// A path of the file, as seen from the working directory.
fn within(directory: &Path, path: &Path) -> PathBuf {
    if directory == Path::new(".") { path.to_owned() } else { directory.join(path) }
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
