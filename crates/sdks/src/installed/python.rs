//! Packages of Python, found by the environment of the interpreter.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
};

/// The first line of a script is not longer.
const SHEBANG: u64 = 4096;

/// Folders with the packages of the interpreter that runs: the program itself, or what the first line of a script names.
/// `uv run` uses the environment of the project, which is near one of these places.
pub fn environments(program: &Path, places: &[PathBuf]) -> Vec<PathBuf> {
    let stem = program.file_stem().unwrap_or_default().to_string_lossy();
    let is_python = stem.starts_with("python") || stem == "pypy3";
    let interpreters = if is_python { vec![program.to_owned()] } else { interpreter(program).into_iter().collect() };
    let mut prefixes: Vec<PathBuf> =
        interpreters.iter().filter_map(|python| Some(python.parent()?.parent()?.to_owned())).collect();
    if stem == "uv" {
        let near = places.iter().flat_map(|place| place.ancestors()).map(|folder| folder.join(".venv"));
        prefixes.extend(near.filter(|environment| environment.is_dir()).take(1));
    }
    prefixes.iter().flat_map(|prefix| packages(prefix)).collect()
}

/// The Python of the first line of a script.
fn interpreter(script: &Path) -> Option<PathBuf> {
    let mut line = Vec::new();
    BufReader::new(File::open(script).ok()?.take(SHEBANG)).read_until(b'\n', &mut line).ok()?;
    let line = String::from_utf8(line).ok()?;
    let named = line.strip_prefix("#!")?.split_whitespace().next().map(PathBuf::from)?;
    named.file_name()?.to_string_lossy().starts_with("python").then_some(named)
}

fn packages(prefix: &Path) -> Vec<PathBuf> {
    let lib = prefix.join("lib");
    let versions = fs::read_dir(&lib).into_iter().flatten().flatten().map(|entry| entry.path());
    let pythons =
        versions.filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("python3")));
    let kinds = pythons.flat_map(|python| ["site-packages", "dist-packages"].map(|kind| python.join(kind)));
    kinds.chain([prefix.join("Lib").join("site-packages")]).filter(|folder| folder.is_dir()).collect()
}

/// The version of an installed package, by the name of the folder that describes it.
pub fn version(packages: &Path, package: &str) -> Option<String> {
    let begin = format!("{}-", package.replace('-', "_"));
    let mut names =
        fs::read_dir(packages).ok()?.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.find_map(|name| Some(name.strip_suffix(".dist-info")?.strip_prefix(&begin)?.to_owned()))
}
