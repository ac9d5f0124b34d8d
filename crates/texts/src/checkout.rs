//! Texts that are read from the checkout when the program runs.

use std::{fs, path::Path};

use crate::{Text, folder};

/// The YAML files below a folder of the checkout, or the pages of `docs`. The program that is installed reads none.
pub fn in_checkout(folder: &str) -> Vec<Text> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = package.ancestors().nth(2).unwrap_or(package);
    let files = if folder == "docs" { folder::pages(root) } else { folder::yaml_files(&root.join(folder)) };
    let files = files.unwrap_or_else(|why| panic!("{folder}: {why}"));
    files.iter().map(|file| read(root, file)).collect()
}

fn read(root: &Path, file: &Path) -> Text {
    let text = fs::read_to_string(file).unwrap_or_else(|why| panic!("{}: {why}", file.display()));
    let path = file.strip_prefix(root).unwrap_or(file).to_string_lossy().replace('\\', "/");
    (path.leak(), text.leak())
}
