//! Finds out how the server of a project is started.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::target::command_line;

/// A way to start the server of a project.
#[derive(Debug, PartialEq, Eq)]
pub struct Project {
    /// The file that shows it.
    pub file: &'static str,
    pub name: String,
    pub argv: Vec<String>,
    /// The command that builds the server.
    pub build: Option<String>,
    /// A container image with the required tools.
    pub image: &'static str,
}

impl Project {
    fn new(file: &'static str, name: &str, argv: &[&str], build: Option<String>, image: &'static str) -> Self {
        let argv = argv.iter().map(|&word| word.to_owned()).collect();
        Self { file, name: name.to_owned(), argv, build, image }
    }

    /// The server that the user starts with this command.
    pub fn started_by(argv: &[String], name: Option<&str>) -> Self {
        let words: Vec<&str> = argv.iter().map(String::as_str).collect();
        Self::new("the command line", name.unwrap_or("server"), &words, None, "debian:bookworm")
    }

    /// The command line for a shell.
    pub fn line(&self) -> String {
        command_line(&self.argv)
    }
}

/// The first kind of project that is recognized.
pub fn look(directory: &Path) -> Option<Project> {
    [rust, node, python, go].into_iter().find_map(|ask| ask(directory))
}

fn rust(directory: &Path) -> Option<Project> {
    let manifest = toml_of(&directory.join("Cargo.toml"))?;
    let package = &manifest["package"];
    let first = manifest.pointer("/bin/0/name").filter(|_| package["default-run"].is_null());
    let name = first.or(package.get("default-run")).or(package.get("name"))?.as_str()?;
    // Packages of a workspace are built into the target directory of the workspace, where the lock file is.
    let up = directory.canonicalize().ok()?;
    let depth = up.ancestors().position(|parent| parent.join("Cargo.lock").is_file()).unwrap_or_default();
    let program = format!("{}target/debug/{name}", "../".repeat(depth));
    let program = if depth == 0 { format!("./{program}") } else { program };
    Some(Project::new("Cargo.toml", name, &[&program], Some("cargo build".to_owned()), "rust:1-bookworm"))
}

fn node(directory: &Path) -> Option<Project> {
    let manifest: Value = serde_json::from_str(&fs::read_to_string(directory.join("package.json")).ok()?).ok()?;
    let name = manifest["name"].as_str().map_or("server", |name| name.rsplit('/').next().unwrap_or(name));
    let first = manifest["bin"].as_object().and_then(|programs| programs.values().next()).or(manifest.get("bin"));
    let started = manifest["scripts"]["start"].as_str().and_then(|line| line.strip_prefix("node "));
    let started = started.filter(|line| !line.contains(['&', '|', ';', '$', '"', '\'']));
    let started = started.map(|line| line.split_whitespace().collect());
    let one = |script| vec![script];
    let said = [first.and_then(Value::as_str).map(one), started, manifest["main"].as_str().map(one)];
    let said: Vec<Vec<&str>> = said.into_iter().flatten().collect();
    let is_there = |words: &&Vec<&str>| words.iter().any(|word| directory.join(word).is_file());
    let found = there(directory, &["server.js", "server.mjs", "index.js"]).map(|script| vec![script]);
    // A file that does not exist may have to be built.
    let words = said.iter().find(is_there).cloned().or(found).or(said.first().cloned())?;
    let argv = [vec!["node"], words].concat();
    let build = if manifest["scripts"]["build"].is_string() { "npm ci && npm run build" } else { "npm ci" };
    Some(Project::new("package.json", name, &argv, Some(build.to_owned()), "node:22-bookworm"))
}

fn python(directory: &Path) -> Option<Project> {
    let manifest = toml_of(&directory.join("pyproject.toml"));
    let manifest = manifest.as_ref().unwrap_or(&Value::Null);
    let is_there = |name: &str| directory.join(name).exists();
    let is_package = is_there("pyproject.toml");
    let needs = [("pyproject.toml", "."), ("requirements.txt", "-r requirements.txt")];
    let needs = needs.into_iter().find(|(file, _)| is_there(file)).map(|(_, needs)| needs);
    let install = |pip: &str| needs.map(|needs| format!("{pip} install {needs}"));
    let (before, folder, build): (&[&str], _, _) = if is_there("uv.lock") {
        (&["uv", "run"], "", Some("pip install uv && uv sync".to_owned()))
    } else if is_there(".venv/bin/python") {
        (&[], ".venv/bin/", install("python3 -m venv .venv && .venv/bin/pip"))
    } else {
        (&[], "", install("pip"))
    };
    let new = |file, name: &str, argv: &[&str]| {
        Project::new(file, name, &[before, argv].concat(), build.clone(), "python:3-bookworm")
    };
    if let Some((script, _)) = manifest["project"]["scripts"].as_object().and_then(|scripts| scripts.iter().next()) {
        return Some(new("pyproject.toml", script, &[&format!("{folder}{script}")]));
    }
    let script = there(directory, &["server.py", "main.py", "app.py"])?;
    let name = manifest["project"]["name"].as_str().unwrap_or("server");
    let file = if is_package { "pyproject.toml" } else { "a Python file" };
    Some(new(file, name, &[&format!("{folder}python"), script]))
}

const GO: &str = "golang:1-bookworm";

fn go(directory: &Path) -> Option<Project> {
    let text = fs::read_to_string(directory.join("go.mod")).ok()?;
    let module = text.lines().find_map(|line| line.strip_prefix("module "))?.trim();
    let name = module.rsplit('/').next().unwrap_or(module);
    let mut commands: Vec<PathBuf> = fs::read_dir(directory.join("cmd"))
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    commands.sort();
    let command = commands.iter().find_map(|path| path.file_name()?.to_str());
    match command.filter(|_| !directory.join("main.go").is_file()) {
        Some(command) => Some(Project::new("go.mod", name, &["go", "run", &format!("./cmd/{command}")], None, GO)),
        None => Some(Project::new("go.mod", name, &["go", "run", "."], None, GO)),
    }
}

fn there(directory: &Path, names: &[&'static str]) -> Option<&'static str> {
    names.iter().copied().find(|name| directory.join(name).is_file())
}

fn toml_of(path: &Path) -> Option<Value> {
    toml::from_str(&fs::read_to_string(path).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Option<String> {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        look(directory.path()).map(|project| format!("{}: {}", project.name, project.line()))
    }

    #[test]
    fn reads_how_each_kind_of_project_starts_its_server() {
        type Case = (&'static [(&'static str, &'static str)], Option<&'static str>);
        let cases: [Case; 13] = [
            (&[("Cargo.toml", "[package]\nname = \"notes\"")], Some("notes: ./target/debug/notes")),
            (
                &[("Cargo.toml", "[package]\nname = \"notes\"\n[[bin]]\nname = \"serve\"\npath = \"x.rs\"")],
                Some("serve: ./target/debug/serve"),
            ),
            (&[("package.json", r#"{"name": "@us/notes", "main": "a.js"}"#)], Some("notes: node a.js")),
            (
                &[("package.json", r#"{"name": "n", "bin": {"n": "dist/n.js"}, "main": "a.js"}"#)],
                Some("n: node dist/n.js"),
            ),
            (&[("package.json", r#"{"name": "n"}"#), ("server.mjs", "")], Some("n: node server.mjs")),
            (
                &[("pyproject.toml", "[project]\nname = \"n\"\n[project.scripts]\nnotes = \"n:main\"")],
                Some("notes: notes"),
            ),
            (
                &[("pyproject.toml", "[project]\nname = \"n\""), ("uv.lock", ""), ("server.py", "")],
                Some("n: uv run python server.py"),
            ),
            (&[("server.py", "")], Some("server: python server.py")),
            (
                &[("package.json", r#"{"main": "index.js", "scripts": {"start": "node --trace-warnings dist/x.js"}}"#)],
                Some("server: node --trace-warnings dist/x.js"),
            ),
            (&[("package.json", r#"{"main": "gone.js"}"#), ("server.js", "")], Some("server: node server.js")),
            (&[("server.py", ""), (".venv/bin/python", "")], Some("server: .venv/bin/python server.py")),
            (&[("go.mod", "module example.com/notes\n"), ("cmd/notes/main.go", "")], Some("notes: go run ./cmd/notes")),
            (&[("README.md", "")], None),
        ];
        for (files, expected) in cases {
            assert_eq!(found(files).as_deref(), expected, "{files:?}");
        }
    }

    #[test]
    fn a_member_is_built_into_its_workspace() {
        let directory = tempfile::tempdir().unwrap();
        let member = directory.path().join("crates/notes");
        fs::create_dir_all(&member).unwrap();
        fs::write(directory.path().join("Cargo.lock"), "").unwrap();
        fs::write(member.join("Cargo.toml"), "[package]\nname = \"notes\"").unwrap();
        assert_eq!(look(&member).unwrap().line(), "../../target/debug/notes");
    }

    #[test]
    fn what_cannot_be_read_says_nothing() {
        for text in ["{", "[]", "{\"bin\": 3}", "{\"bin\": {}}"] {
            assert_eq!(found(&[("package.json", text)]), None, "{text}");
        }
    }
}
