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
