//! Writes the lists of built-in suites and shapes, so that adding one is adding a file.

use std::{
    env,
    fmt::Write,
    fs, io,
    path::{Path, PathBuf},
};

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=suites");

    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    yaml_files(&root.join("suites"), &mut files)?;
    files.sort();
    let shapes = root.join("suites").join("shapes");
    let (shapes, suites): (Vec<_>, Vec<_>) = files.into_iter().partition(|file| file.starts_with(&shapes));

    let mut code = String::new();
    for (name, about, files) in [
        ("SUITES", "Every built-in suite: its path in the repository and its text, ordered by path.", suites),
        ("SHAPES", "Every file of shapes: its path in the repository and its text, ordered by path.", shapes),
    ] {
        let _ = writeln!(code, "/// {about}\npub const {name}: &[(&str, &str)] = &[");
        for file in files {
            let shown = file.strip_prefix(&root).unwrap_or(&file).to_string_lossy().replace('\\', "/");
            let _ = writeln!(code, "    ({shown:?}, include_str!({:?})),", file.to_string_lossy());
        }
        code.push_str("];\n");
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    fs::write(out.join("embedded.rs"), code)
}

fn yaml_files(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            yaml_files(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            found.push(path);
        }
    }
    Ok(())
}
