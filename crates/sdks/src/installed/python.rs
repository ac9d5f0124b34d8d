//! Packages of Python, found by the environment of the interpreter.

use std::{
    env,
    fs::{self, File},
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    time::SystemTime,
};

/// The first line of a script is not longer.
const SHEBANG: u64 = 4096;

/// Folders with the packages of the interpreter that runs: the program itself, or what the first line of a script names.
/// `uv run` uses the environment of the project, which is near one of these places.
pub fn environments(program: &Path, argv: &[String], places: &[PathBuf]) -> Vec<PathBuf> {
    let stem = program.file_stem().unwrap_or_default().to_string_lossy();
    let is_python = stem.starts_with("python") || stem == "pypy3";
    let interpreters = if is_python { vec![program.to_owned()] } else { interpreter(program).into_iter().collect() };
    let mut prefixes: Vec<PathBuf> =
        interpreters.iter().filter_map(|python| Some(python.parent()?.parent()?.to_owned())).collect();
    if stem == "uv" {
        let near = places.iter().flat_map(|place| place.ancestors()).map(|folder| folder.join(".venv"));
        prefixes.extend(near.filter(|environment| environment.is_dir()).take(1));
    }
    if stem == "uvx" || stem == "uv" && argv.starts_with(&["tool".to_owned(), "run".to_owned()]) {
        prefixes.extend(cache().and_then(|cache| installed_last(&cache.join("archive-v0"), argv)));
    }
    prefixes.iter().flat_map(|prefix| packages(prefix)).collect()
}

/// Where uv keeps the environments of what `uvx` starts.
fn cache() -> Option<PathBuf> {
    let named = env::var_os("UV_CACHE_DIR").map(PathBuf::from);
    let of_user = || env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let of_home = || Some(Path::new(&env::var_os("HOME")?).join(".cache"));
    named.or_else(|| Some(of_user().or_else(of_home)?.join("uv")))
}

/// The newest of these environments with a package that one of the words names. A word may end with a version or extras.
fn installed_last(environments: &Path, words: &[String]) -> Option<PathBuf> {
    let known: Vec<(PathBuf, Vec<PathBuf>)> = fs::read_dir(environments)
        .ok()?
        .flatten()
        .map(|entry| (entry.path(), packages(&entry.path())))
        .filter(|(_, packages)| !packages.is_empty())
        .collect();
    let changed = |path: &Path| path.metadata().and_then(|about| about.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    words.iter().find_map(|word| {
        let name = word.split(['@', '[', '=', '<', '>', '~', '!']).next()?.replace('.', "-").to_lowercase();
        let holding = known.iter().filter(|(_, packages)| packages.iter().any(|at| version(at, &name).is_some()));
        holding.map(|(environment, _)| environment).max_by_key(|environment| changed(environment)).cloned()
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_of_what_uvx_starts_is_the_one_with_the_package() {
        let place = tempfile::tempdir().expect("a folder");
        let packages_of = |environment: &str| place.path().join(environment).join("lib/python3.12/site-packages");
        for (environment, package) in [("a1", "my_server-1.2.0"), ("b2", "other-3.0.0")] {
            fs::create_dir_all(packages_of(environment).join(format!("{package}.dist-info"))).expect("folders");
        }
        // A wheel without an environment.
        fs::create_dir_all(place.path().join("c3/my_server-1.2.0.dist-info")).expect("folders");
        for words in [
            vec!["my-server"],
            vec!["--python", "3.12", "My.Server[cli]==1.2.0"],
            vec!["--from", "my-server@latest", "serve"],
        ] {
            let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
            assert_eq!(installed_last(place.path(), &words), Some(place.path().join("a1")), "{words:?}");
        }
        assert_eq!(installed_last(place.path(), &["unknown".to_owned()]), None);
    }
}
