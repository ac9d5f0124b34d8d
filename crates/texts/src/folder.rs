//! The build script uses this file too, so that compiled-in files and those in the checkout are the same.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Every YAML file below `folder`, ordered by path.
pub fn yaml_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(yaml_files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Whether a file below `suites` is a suite: two of its folders have other data.
pub fn is_suite(path: &str) -> bool {
    !path.starts_with("suites/shapes/") && !path.starts_with("suites/sdks/")
}

/// The pages for users, without those of the rules: `mcp-conform explain` has their content.
pub fn pages(root: &Path) -> io::Result<Vec<PathBuf>> {
    let files = fs::read_dir(root.join("docs"))?.map(|entry| Ok(entry?.path()));
    let mut found: Vec<PathBuf> = files.collect::<io::Result<_>>()?;
    found.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    found.sort();
    Ok(found)
}
