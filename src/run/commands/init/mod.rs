//! `mcp-conform init`: sets up a project. Existing files are not changed.

mod looking;
mod project;

use std::{
    fs::{self, OpenOptions},
    io::{ErrorKind, Write},
    path::Path,
};

use clap::Parser;

use self::{looking::Shown, project::Project};
use super::run;
use crate::{
    cli::{Cli, Command, InitArgs, Pipeline},
    config,
    error::{Error, exit},
    outcome::Status,
    run::process::{Surroundings, console, interrupts::Interrupts},
};

const SUITE: &str = include_str!("house.yaml");
/// The schema that the first line of the configuration names, for editors.
const SCHEMA: &str = "mcp-conform.schema.json";
const IGNORE: &str = ".gitignore";
/// The directory in which `generate` keeps calls that failed.
const STORED: &str = ".mcp-conform";
const INCLUDE: &str = ".gitlab-ci.yml";

pub fn init(args: &InitArgs, surroundings: &Surroundings) -> Result<u8, Error> {
    let directory = &args.directory;
    if !directory.is_dir() {
        return Err(Error::usage(format!("`{}` is not a directory", directory.display())));
    }
    let shown = if args.argv.is_empty() { None } else { Some(looking::look(&args.argv)?) };
    let project = match &shown {
        Some(shown) => Some(Project::started_by(&args.argv, shown.name.as_deref())),
        None => project::look(directory),
    };
    match (&project, &shown) {
        (_, Some(shown)) => console::say(&format!("the server lists {}", shown.listed)),
        (Some(project), _) => console::say(&format!("{} contains the start command: {}", project.file, project.line())),
        _ if directory.join(config::FILE).exists() => {}
        _ => console::say("no start command was found: fill it in"),
    }
    let is_new = write(directory, config::FILE, &configuration(project.as_ref(), shown.as_ref()))?;
    write(directory, SCHEMA, &format!("{:#}\n", config::json_schema()))?;
    // In the directory of tests, where no build tool takes the directory for a package.
    write(directory, "tests/conformance/house.yaml", SUITE)?;
    let mut edits = Vec::new();
    edits.extend(ignore_stored_calls(directory)?);
    if project.is_none() && is_new {
        edits.push(format!("set the start command in {}", config::FILE));
    }
    if let Some(pipeline) = args.ci {
        let (path, text) = described(pipeline, project.as_ref());
        write(directory, path, &text)?;
        if repository().is_none() {
            edits.push(format!("set in {path} where mcp-conform is installed from"));
        }
        if pipeline == Pipeline::Gitlab && !write(directory, INCLUDE, &format!("include: {path}\n"))? {
            edits.push(format!("add `include: {path}` to {INCLUDE}"));
        }
    }
    if let (true, Some(_)) = (is_new, &shown) {
        console::say(&compared(args, surroundings)?);
    }
    console::say(&format!("\nnext\n{}", next(project.as_ref(), &edits)));
    Ok(exit::CONFORMING)
}

/// Writes a file unless it exists; the value says whether it was written.
fn write(directory: &Path, name: &str, text: &str) -> Result<bool, Error> {
    let path = directory.join(name);
    let failed = |source| console::failed(&path, "write", source);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(failed)?;
    }
    match OpenOptions::new().write(true).create_new(true).open(&path) {
        Ok(mut file) => {
            file.write_all(text.as_bytes()).map_err(failed)?;
            console::say(&format!("  wrote  {name}"));
            Ok(true)
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            console::say(&format!("  kept   {name}, as it was there"));
            Ok(false)
        }
        Err(error) => Err(failed(error)),
    }
}

/// Keeps what `generate` writes out of the repository. The value is what the user has to do.
fn ignore_stored_calls(directory: &Path) -> Result<Option<String>, Error> {
    let ignored = fs::read_to_string(directory.join(IGNORE)).unwrap_or_default();
    let is_ignored = ignored.lines().any(|line| line.trim().trim_matches('/') == STORED);
    if is_ignored || write(directory, IGNORE, &format!("/{STORED}/\n"))? {
        return Ok(None);
    }
    Ok(Some(format!("add `/{STORED}/` to {IGNORE}: `mcp-conform generate` writes calls that failed there")))
}

fn configuration(project: Option<&Project>, shown: Option<&Shown>) -> String {
    let (name, start) = match project {
        Some(project) => (project.name.clone(), format!("stdio = {}", toml::Value::from(project.argv.clone()))),
        None => ("server".to_owned(), "stdio = [\"./server\"]              # the program and its arguments".to_owned()),
    };
    let name = if name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c)) && !name.is_empty() {
        name
    } else {
        toml::Value::from(name).to_string()
    };
    let text = include_str!("configuration.toml");
    let (head, rest) = text.split_once(FACTS).unwrap_or((text, ""));
    let (facts, levels) = rest.split_once(LEVELS).unwrap_or((rest, ""));
    let facts = match shown {
        Some(shown) => format!(
            "\n# Each of these lines lets more rules be tested. The other facts: `mcp-conform docs facts`.\n{}\n\n",
            shown.lines.join("\n")
        ),
        None => format!("{FACTS}{facts}"),
    };
    format!("{head}{facts}{LEVELS}{levels}").replace("{NAME}", &name).replace("{START}", &start)
}

/// The beginnings of two parts of the configuration.
const FACTS: &str = "\n# Each fact lets";
const LEVELS: &str = "# A rule that has another level";

/// How many more rules the written facts let be tested.
fn compared(args: &InitArgs, surroundings: &Surroundings) -> Result<String, Error> {
    let command = args.argv.iter().map(String::as_str);
    let bare: Vec<&str> = ["mcp-conform", "run", "--"].into_iter().chain(command).collect();
    let file = args.directory.join(config::FILE).display().to_string();
    let (before, after) =
        (tested(&bare, surroundings)?, tested(&["mcp-conform", "run", "--config", &file], surroundings)?);
    Ok(format!(
        "\na run tests {before} rules without these lines, and {after} with them; its report says what others need"
    ))
}

/// The number of rules that a run tests.
fn tested(line: &[&str], surroundings: &Surroundings) -> Result<usize, Error> {
    let Ok(Cli { command: Command::Run(args), .. }) = Cli::try_parse_from(line) else {
        return Err(Error::usage(format!("`{}` is no run", line.join(" "))));
    };
    let report = run::tested(&args, surroundings, &Interrupts::listen())?.report;
    let is_tested = |status| !matches!(status, Status::NotApplicable | Status::NotExercised);
    Ok(report.rules.iter().filter(|rule| is_tested(rule.status)).count())
}

fn described(pipeline: Pipeline, project: Option<&Project>) -> (&'static str, String) {
    let (path, template, indent) = match pipeline {
        Pipeline::Github => (".github/workflows/conformance.yml", include_str!("github.yml"), 6),
        Pipeline::Gitlab => (".gitlab-ci.conformance.yml", include_str!("gitlab.yml"), 4),
    };
    let build = match (project.and_then(|project| project.build.as_ref()), pipeline) {
        (None, _) => String::new(),
        (Some(command), Pipeline::Github) => format!("{:indent$}- run: {command}\n", ""),
        (Some(command), Pipeline::Gitlab) => format!("{:indent$}- {command}\n", ""),
    };
    // Each of these images has the libraries that the program of the first job is linked with.
    let image = project.map_or("debian:bookworm", |project| project.image);
    let text = template.replace("{BUILD}", &build).replace("{IMAGE}", image);
    (path, text.replace("{INSTALL}", &install()).replace("{VERSION}", env!("CARGO_PKG_VERSION")))
}

/// The command that installs the program in a pipeline.
fn install() -> String {
    format!("cargo install --locked --git {} mcp-conform", repository().unwrap_or("THE_REPOSITORY_OF_MCP_CONFORM"))
}

/// The URL of the repository, if Cargo.toml names it.
fn repository() -> Option<&'static str> {
    Some(env!("CARGO_PKG_REPOSITORY")).filter(|url| !url.is_empty())
}

fn next(project: Option<&Project>, edits: &[String]) -> String {
    let edits = edits.iter().map(|edit| format!("({edit})"));
    let build = project.and_then(|project| project.build.clone());
    let run = ["mcp-conform run", "mcp-conform run --write-baseline known.toml   # to accept the current failures"];
    let lines = edits.chain(build).chain(run.map(str::to_owned));
    lines.map(|line| format!("  {line}\n")).collect::<String>().trim_end().to_owned()
}
