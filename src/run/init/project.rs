//! How a project says that its server is started.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

/// A way to start the server of a project.
#[derive(Debug, PartialEq, Eq)]
pub struct Project {
    /// Where it stands.
    pub file: &'static str,
    pub name: String,
    pub argv: Vec<String>,
    /// What has to be done before.
    pub build: Option<&'static str>,
}

impl Project {
    fn new(file: &'static str, name: &str, argv: &[&str], build: Option<&'static str>) -> Self {
        let argv = argv.iter().map(|&word| word.to_owned()).collect();
        Self { file, name: name.to_owned(), argv, build }
    }

    /// As one would type it.
    pub fn line(&self) -> String {
        shlex::try_join(self.argv.iter().map(String::as_str)).unwrap_or_else(|_| self.argv.join(" "))
    }
}

/// The first that says it.
pub fn look(directory: &Path) -> Option<Project> {
    [rust, node, python, go].into_iter().find_map(|ask| ask(directory))
}

fn rust(directory: &Path) -> Option<Project> {
    let manifest = toml_of(&directory.join("Cargo.toml"))?;
    let package = &manifest["package"];
    let first = manifest.pointer("/bin/0/name").filter(|_| package["default-run"].is_null());
    let name = first.or(package.get("default-run")).or(package.get("name"))?.as_str()?;
    // Members of a workspace are built into the workspace, where the lock file is.
    let up = directory.canonicalize().ok()?;
    let depth = up.ancestors().position(|parent| parent.join("Cargo.lock").is_file()).unwrap_or_default();
    let program = format!("{}target/debug/{name}", "../".repeat(depth));
    let program = if depth == 0 { format!("./{program}") } else { program };
    Some(Project::new("Cargo.toml", name, &[&program], Some("cargo build")))
}

fn node(directory: &Path) -> Option<Project> {
    let manifest: Value = serde_json::from_str(&fs::read_to_string(directory.join("package.json")).ok()?).ok()?;
    let name = manifest["name"].as_str().map_or("server", |name| name.rsplit('/').next().unwrap_or(name));
    let first = manifest["bin"].as_object().and_then(|programs| programs.values().next());
    let script = first.or(manifest.get("bin")).or(manifest.get("main")).and_then(Value::as_str);
    let script = script.map(str::to_owned).or_else(|| there(directory, &["server.js", "server.mjs", "index.js"]))?;
    let build = if manifest["scripts"]["build"].is_string() { "npm ci && npm run build" } else { "npm ci" };
    Some(Project::new("package.json", name, &["node", &script], Some(build)))
}

fn python(directory: &Path) -> Option<Project> {
    let manifest = toml_of(&directory.join("pyproject.toml"));
    let manifest = manifest.as_ref().unwrap_or(&Value::Null);
    let managed = directory.join("uv.lock").is_file();
    let before: &[&str] = if managed { &["uv", "run"] } else { &[] };
    let build = if managed { "uv sync" } else { "pip install ." };
    if let Some((script, _)) = manifest["project"]["scripts"].as_object().and_then(|scripts| scripts.iter().next()) {
        return Some(Project::new("pyproject.toml", script, &[before, &[script]].concat(), Some(build)));
    }
    let script = there(directory, &["server.py", "main.py", "app.py"])?;
    let name = manifest["project"]["name"].as_str().unwrap_or("server");
    let file = if manifest.is_null() { "a Python file" } else { "pyproject.toml" };
    let build = (!manifest.is_null()).then_some(build);
    Some(Project::new(file, name, &[before, &["python", &script]].concat(), build))
}

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
        Some(command) => Some(Project::new("go.mod", name, &["go", "run", &format!("./cmd/{command}")], None)),
        None => Some(Project::new("go.mod", name, &["go", "run", "."], None)),
    }
}

fn there(directory: &Path, names: &[&str]) -> Option<String> {
    names.iter().find(|name| directory.join(name).is_file()).map(|&name| name.to_owned())
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
        let cases: [Case; 10] = [
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
