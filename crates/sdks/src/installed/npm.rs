//! Packages of Node, found as `import` finds them.

use std::{
    collections::{BTreeMap, HashMap, HashSet, VecDeque},
    env, fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use serde::Deserialize;
use walkdir::{DirEntry, WalkDir};

/// Files of a platform package that are looked at.
const FILES: usize = 200;

/// Packages that are looked at of those that a script needs.
const PACKAGES: usize = 2000;

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Package {
    name: Option<String>,
    version: Option<String>,
    dependencies: BTreeMap<String, String>,
    dev_dependencies: BTreeMap<String, String>,
    optional_dependencies: BTreeMap<String, String>,
    peer_dependencies: BTreeMap<String, String>,
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

/// What a script, or a package that it needs, would import. What only happens to be installed next to them does not count.
pub struct Imports {
    script: PathBuf,
    /// The versions of the packages; `None` for a script that belongs to no package.
    needed: Option<HashMap<String, Option<String>>>,
}

impl Imports {
    pub fn of(script: &Path) -> Option<Self> {
        // The command of a package is a link into it.
        let script = fs::canonicalize(script).ok()?;
        let needed = package_of(&script).map(|(folder, package)| needed(folder, &package));
        Some(Self { script, needed })
    }

    pub fn version(&self, package: &str) -> Option<String> {
        match &self.needed {
            Some(needed) => needed.get(package)?.clone(),
            None => described(&installed(&self.script, package)?)?.version,
        }
    }
}

/// The packages that this one needs, itself or through others. Of several versions the nearest counts.
fn needed(folder: PathBuf, package: &Package) -> HashMap<String, Option<String>> {
    let first = package.dev_dependencies.keys().cloned().chain(package.needs()).collect();
    let mut ahead: VecDeque<(PathBuf, Vec<String>)> = VecDeque::from([(folder, first)]);
    let (mut seen, mut needed) = (HashSet::new(), HashMap::new());
    while let Some((folder, names)) = ahead.pop_front() {
        for name in names {
            let Some(folder) = installed(&folder, &name) else { continue };
            if seen.len() >= PACKAGES || !seen.insert(folder.clone()) {
                continue;
            }
            let Some(described) = described(&folder) else { continue };
            ahead.push_back((folder, described.needs().collect()));
            needed.entry(name).or_insert(described.version);
        }
    }
    needed
}

impl Package {
    fn needs(&self) -> impl Iterator<Item = String> {
        let of = [&self.dependencies, &self.peer_dependencies, &self.optional_dependencies];
        of.into_iter().flat_map(BTreeMap::keys).cloned()
    }
}

/// The package that a script belongs to. A compiler may write descriptions without a name for some of its folders.
fn package_of(script: &Path) -> Option<(PathBuf, Package)> {
    let mut described = script.ancestors().skip(1).filter_map(|folder| Some((folder.to_owned(), described(folder)?)));
    described.find(|(_, package)| package.name.is_some())
}

fn described(folder: &Path) -> Option<Package> {
    serde_json::from_str(&fs::read_to_string(folder.join("package.json")).ok()?).ok()
}

/// The folder of a package as it would be imported from this place.
fn installed(from: &Path, package: &str) -> Option<PathBuf> {
    let folders = from.ancestors().map(|folder| folder.join("node_modules").join(package));
    folders.into_iter().find(|folder| folder.is_dir())
}

/// The files of the packages for one platform that belong to the package of a script. Such a script only starts the program
/// that one of them has; all are optional, since no machine needs more than one.
pub fn platform_files(script: &Path) -> Vec<PathBuf> {
    let Ok(script) = fs::canonicalize(script) else { return Vec::new() };
    let names = package_of(&script).map(|(_, package)| package.optional_dependencies).unwrap_or_default().into_keys();
    let folders: Vec<PathBuf> = names.filter_map(|name| installed(&script, &name)).collect();
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
