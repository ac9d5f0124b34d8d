//! The servers of a matrix, or of a part of it: all mistakes are reported before the first server is tested.

use std::{
    collections::HashMap,
    fs,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    path::{Path, PathBuf},
};

use super::{
    results,
    worker::{limit, options},
};
use crate::{
    cli::MatrixArgs,
    config::{self, Config},
    embedded::{SHAPES, SUITES},
    error::Error,
    evidence::Transport,
    plan::{Extensions, Filter, Proposals},
    run::{
        inputs::{job::Revisions, suites::read},
        process::Surroundings,
    },
    suite::Suite,
    target::Target,
};

/// Length of a file name that every file system allows, with room for a prefix.
const LONGEST: usize = 200;

/// A server to test.
pub struct Entry {
    pub name: String,
    /// The configuration that defines the server.
    pub config: PathBuf,
    /// The command line or URL, and the transport, for a server without a report of its own.
    pub shown: String,
    pub transport: Transport,
    /// The file of its result, in the directory of results.
    pub file: String,
    /// Results of earlier definitions of this server.
    pub outdated: Vec<String>,
}

pub fn wanted(args: &MatrixArgs, suites: &[Suite], surroundings: &Surroundings) -> Result<Vec<Entry>, Error> {
    Filter::new(&args.scope.select.terms(), suites)?;
    Proposals::new(&args.scope.proposal, suites)?;
    Extensions::new(&args.scope.extension, suites)?;
    args.scope.revision.parse::<Revisions>()?;
    limit(args)?;
    let found = || surroundings.directory.as_deref().and_then(config::find);
    let path = args.targets.clone().or_else(found).ok_or_else(|| Error::Usage {
        message: format!("no servers to test: no {} in this directory or a parent", config::FILE),
        help: Some("name a file with a table [targets.NAME] for each: `mcp-conform matrix targets.toml`".into()),
    })?;
    let config = config::load(&path, surroundings.color)?;
    let all = config.names().count();
    let taken = |(place, name): &(usize, &str)| args.partition.is_none_or(|part| part.takes(name, *place, all));
    let names: Vec<&str> = config.names().enumerate().filter(taken).map(|(_, name)| name).collect();
    if config.names().next().is_none() {
        return Err(Error::Usage {
            message: format!("{} has no targets", path.display()),
            help: Some("give each server a table: [targets.NAME] with `stdio`, `http` or `sse`".into()),
        });
    }
    let basis = basis(args)?;
    let kept = kept(&args.out);
    names.into_iter().map(|name| entry(name, &path, &config, &basis, &kept, surroundings)).collect()
}

fn entry(
    name: &str,
    path: &Path,
    config: &Config,
    basis: &DefaultHasher,
    kept: &HashMap<String, Vec<String>>,
    surroundings: &Surroundings,
) -> Result<Entry, Error> {
    let target = config.target(Some(name), &surroundings.environment, surroundings.color)?;
    let Target { name: shown, start, .. } =
        target.ok_or_else(|| Error::usage(format!("{} has no target `{name}`", path.display())))?;
    let mut hasher = basis.clone();
    (name, config.definition(name)?.to_string()).hash(&mut hasher);
    let file = results::file(name, hasher.finish());
    if file.len() > LONGEST {
        return Err(Error::Usage {
            message: format!("the name of the target `{name}` is too long for a file"),
            help: Some(format!("use at most {} characters", LONGEST / 2)),
        });
    }
    Ok(Entry {
        name: name.to_owned(),
        config: path.to_owned(),
        shown,
        transport: start.transport(),
        // A file without a fingerprint was not written by this command.
        outdated: kept
            .get(name)
            .into_iter()
            .flatten()
            .filter(|old| **old != file && old.len() == file.len())
            .cloned()
            .collect(),
        file,
    })
}

/// What every result depends on besides the server: this version, its suites, those of the user, and the options.
fn basis(args: &MatrixArgs) -> Result<DefaultHasher, Error> {
    let mut hasher = DefaultHasher::new();
    env!("CARGO_PKG_VERSION").hash(&mut hasher);
    (&*SUITES, &*SHAPES).hash(&mut hasher);
    read(&args.scope.select.suite)?.hash(&mut hasher);
    options(args).hash(&mut hasher);
    Ok(hasher)
}

/// The results in the directory, by server.
fn kept(directory: &Path) -> HashMap<String, Vec<String>> {
    let mut kept: HashMap<String, Vec<String>> = HashMap::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let file = entry.file_name();
        if let (Some(name), Some(file)) = (results::name(&file), file.to_str()) {
            kept.entry(name).or_default().push(file.to_owned());
        }
    }
    kept
}
