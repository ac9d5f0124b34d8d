//! The suites of a run: the built-in ones, and those of the user.

use std::{fs, path::PathBuf};

use indexmap::IndexMap;

use crate::{
    error::{Error, Mistakes},
    evidence::Side,
    judge::checks::CHECKS,
    reference,
    run::process::console::failed,
    suite::{self, Diagnostic, Known, Origin, Suite, shape},
};

/// The built-in suites about servers.
pub fn built_in() -> Result<Vec<Suite>, Error> {
    load(&[Side::Server], &[], false)
}

/// The built-in suites that judge these sides and, after them, those under `paths`.
pub fn load(subjects: &[Side], paths: &[PathBuf], color: bool) -> Result<Vec<Suite>, Error> {
    load_texts(subjects, &read(paths)?, color)
}

/// The same with suites of the user that were read already: paths and texts.
pub fn load_texts(subjects: &[Side], own: &[(String, String)], color: bool) -> Result<Vec<Suite>, Error> {
    let refused = |mistakes: Vec<Diagnostic>| refused(&mistakes, color);
    let mut suites = Vec::new();
    for subject in subjects {
        suites.extend(suite::built_in(*subject, known).map_err(refused)?);
    }
    if !own.is_empty() {
        let known = Known { ids: suites.iter().flat_map(ids).collect(), survey: survey(&suites), ..known() };
        let own = suite::load(own, &known, Origin::User).map_err(refused)?;
        if let Some(other) = own.iter().find(|suite| !subjects.contains(&suite.subject)) {
            let (about, command) = match other.subject {
                Side::Server => ("servers", "run"),
                Side::Client => ("clients", "client"),
                Side::Gateway => ("gateways", "gateway"),
                Side::AuthorizationServer => ("authorization servers", "auth-server"),
            };
            return Err(Error::Usage {
                message: format!("`{}` is a suite about {about}", other.file),
                help: Some(format!("`mcp-conform {command} --suite {}` uses it", other.file)),
            });
        }
        suites.extend(own);
    }
    Ok(suites)
}

/// Every name that a suite may use besides its own.
pub fn known() -> Known {
    let given = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Known {
        faults: reference::server::faults().into_iter().map(|fault| fault.name).collect(),
        worlds: worlds().into_iter().map(|world| world.name).collect(),
        checks: CHECKS.iter().map(|check| (check.name.to_owned(), given(check.given))).collect(),
        shapes: shape::names().map(str::to_owned).collect(),
        proposals: given(&reference::server::PROPOSALS),
        ..Known::default()
    }
}

/// What a client can be tested against: every world, variation and fault of the reference server.
pub fn worlds() -> Vec<reference::server::FaultInfo> {
    [reference::server::worlds(), reference::server::variations(), reference::server::faults()].concat()
}

fn ids(suite: &Suite) -> impl Iterator<Item = String> {
    let rules = suite.rules.iter().map(|rule| &rule.id).chain(suite.untested.iter().map(|row| &row.id));
    std::iter::once(&suite.id).chain(rules).cloned()
}

fn survey(suites: &[Suite]) -> Vec<String> {
    let survey = suites.iter().find(|suite| suite.id == crate::suite::SURVEY);
    survey.into_iter().flat_map(|suite| &suite.gather).filter_map(|step| step.save.clone()).collect()
}

/// The contents of the files, and of all YAML files in the directories.
pub fn read(paths: &[PathBuf]) -> Result<Vec<(String, String)>, Error> {
    let mut files = IndexMap::new();
    for path in paths {
        let mut found = Vec::new();
        collect(path, &mut found)?;
        if found.is_empty() {
            return Err(Error::usage(format!("no .yaml file in `{}`", path.display())));
        }
        // A file may be named twice, by the configuration and by `--suite`.
        let real = |file: &str| fs::canonicalize(file).unwrap_or_else(|_| file.into());
        for (file, text) in found {
            files.entry(real(&file)).or_insert((file, text));
        }
    }
    Ok(files.into_values().collect())
}

fn collect(path: &PathBuf, files: &mut Vec<(String, String)>) -> Result<(), Error> {
    if !path.is_dir() {
        let text = fs::read_to_string(path).map_err(|source| failed(path, "read", source))?;
        files.push((path.display().to_string(), text));
        return Ok(());
    }
    let entries = fs::read_dir(path).map_err(|source| failed(path, "read", source))?;
    let mut inside: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    inside.sort();
    for entry in inside {
        if entry.is_dir() || entry.extension().is_some_and(|extension| extension == "yaml" || extension == "yml") {
            collect(&entry, files)?;
        }
    }
    Ok(())
}

pub fn refused(mistakes: &[Diagnostic], color: bool) -> Error {
    let rendered: Vec<String> = mistakes.iter().map(|mistake| mistake.render(color)).collect();
    let short = mistakes.iter().map(ToString::to_string).collect();
    Error::Suites(Mistakes { rendered: rendered.join("\n\n"), short })
}
