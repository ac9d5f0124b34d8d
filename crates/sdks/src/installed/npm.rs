//! Packages of Node, found as `import` finds them.

use std::{
    env, fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use serde::Deserialize;

#[derive(Deserialize)]
struct Package {
    version: String,
}

/// What `npx` would start: the package as it was installed last.
pub fn started_by_npx(program: &Path, argv: &[String]) -> Option<PathBuf> {
    if !matches!(program.file_stem()?.to_str()?, "npx" | "bunx" | "pnpx") {
        return None;
    }
    let home = env::var_os("HOME").or_else(|| env::var_os("USERPROFILE"))?;
    let cache = env::var_os("npm_config_cache").map_or_else(|| Path::new(&home).join(".npm"), PathBuf::from);
    installed_last(&cache.join("_npx"), argv.iter().find(|word| !word.starts_with('-'))?)
}

/// The description of the project whose script a package manager runs: in the first of these folders that has one.
pub fn project(program: &Path, folders: &[PathBuf]) -> Option<PathBuf> {
    if !matches!(program.file_stem()?.to_str()?, "npm" | "pnpm" | "yarn" | "bun" | "deno") {
        return None;
    }
    folders.iter().map(|folder| folder.join("package.json")).find(|path| path.is_file())
}

/// `package` may end with a version.
fn installed_last(cache: &Path, package: &str) -> Option<PathBuf> {
    let name = package.rsplit_once('@').map_or(package, |(name, _)| if name.is_empty() { package } else { name });
    let folders = fs::read_dir(cache).ok()?.flatten();
    let described = folders.map(|folder| folder.path().join("node_modules").join(name).join("package.json"));
    let changed = |path: &PathBuf| path.metadata().and_then(|about| about.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    described.filter(|path| path.is_file()).max_by_key(changed)
}

/// The version that a script would import: that of the nearest `node_modules` with the package.
pub fn version(script: &Path, package: &str) -> Option<String> {
    // The command of a package is a link into it.
    let script = fs::canonicalize(script).ok()?;
    script.ancestors().skip(1).find_map(|folder| {
        let text = fs::read_to_string(folder.join("node_modules").join(package).join("package.json")).ok()?;
        serde_json::from_str(&text).ok().map(|Package { version }| version)
    })
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
            assert_eq!(installed_last(cache.path(), package), Some(folder.join("package.json")), "{package}");
        }
        assert_eq!(installed_last(cache.path(), "@scope/other"), None);
    }
}
