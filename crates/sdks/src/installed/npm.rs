//! Packages of Node, found as `import` finds them.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use serde::Deserialize;
use walkdir::{DirEntry, WalkDir};

/// Files of a platform package that are looked at.
const FILES: usize = 200;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Package {
    version: String,
    #[serde(default)]
    optional_dependencies: BTreeMap<String, String>,
}

/// What `npx` would start: the package of the project, or else as it was installed last.
pub fn started_by_npx(program: &Path, argv: &[String], directory: &Path) -> Option<PathBuf> {
    if !matches!(program.file_stem()?.to_str()?, "npx" | "bunx" | "pnpx") {
        return None;
    }
    let name = without_version(argv.iter().find(|word| !word.starts_with('-'))?);
    let of_project = directory.ancestors().map(|folder| folder.join("node_modules").join(name).join("package.json"));
    let home = env::var_os("HOME").or_else(|| env::var_os("USERPROFILE"))?;
    let cache = env::var_os("npm_config_cache").map_or_else(|| Path::new(&home).join(".npm"), PathBuf::from);
    of_project.into_iter().find(|path| path.is_file()).or_else(|| installed_last(&cache.join("_npx"), name))
}

fn without_version(package: &str) -> &str {
    package.rsplit_once('@').map_or(package, |(name, _)| if name.is_empty() { package } else { name })
}

/// The description of the project whose script a package manager runs: in the first of these folders that has one.
pub fn project(program: &Path, folders: &[PathBuf]) -> Option<PathBuf> {
    if !matches!(program.file_stem()?.to_str()?, "npm" | "pnpm" | "yarn" | "bun" | "deno") {
        return None;
    }
    folders.iter().map(|folder| folder.join("package.json")).find(|path| path.is_file())
}

fn installed_last(cache: &Path, name: &str) -> Option<PathBuf> {
    let folders = fs::read_dir(cache).ok()?.flatten();
    let described = folders.map(|folder| folder.path().join("node_modules").join(name).join("package.json"));
    let changed = |path: &PathBuf| path.metadata().and_then(|about| about.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    described.filter(|path| path.is_file()).max_by_key(changed)
}

/// The version that a script would import: that of the nearest `node_modules` with the package.
pub fn version(script: &Path, package: &str) -> Option<String> {
    // The command of a package is a link into it.
    let script = fs::canonicalize(script).ok()?;
    let nearest = script.ancestors().skip(1).find_map(|folder| described(&folder.join("node_modules").join(package)));
    nearest.map(|package| package.version)
}

fn described(folder: &Path) -> Option<Package> {
    serde_json::from_str(&fs::read_to_string(folder.join("package.json")).ok()?).ok()
}

/// The files of the packages for one platform that belong to the package of a script. Such a script only starts the program
/// that one of them has; all are optional, since no machine needs more than one.
pub fn platform_files(script: &Path) -> Vec<PathBuf> {
    let Ok(script) = fs::canonicalize(script) else { return Vec::new() };
    let package = script.ancestors().skip(1).find_map(described);
    let names = package.map(|package| package.optional_dependencies).unwrap_or_default().into_keys();
    let folder = |name: &String| {
        script.ancestors().map(|folder| folder.join("node_modules").join(name)).find(|folder| folder.is_dir())
    };
    let folders: Vec<PathBuf> = names.filter_map(|name| folder(&name)).collect();
    let files = folders.iter().flat_map(|folder| WalkDir::new(folder).max_depth(3)).flatten();
    files.filter(|entry| entry.file_type().is_file()).take(FILES).map(DirEntry::into_path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_found_where_npx_keeps_it() {
        let cache = tempfile::tempdir().expect("a folder");
        let folder = cache.path().join("0a1b/node_modules/@scope/server");
        fs::create_dir_all(&folder).expect("folders");
        fs::write(folder.join("package.json"), r#"{"version": "2.0.0"}"#).expect("a file");
        for package in ["@scope/server", "@scope/server@latest"] {
            let found = installed_last(cache.path(), without_version(package));
            assert_eq!(found, Some(folder.join("package.json")), "{package}");
        }
        assert_eq!(installed_last(cache.path(), "@scope/other"), None);
    }
}
