//! Writes the list of built-in suites, shapes and faults, so that adding one is adding a file.

use std::{env, fmt::Write, fs, io, path::PathBuf};

#[path = "src/embedded/folder.rs"]
mod folder;

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    if env::var_os("CARGO_CFG_DEBUG_ASSERTIONS").is_some() {
        // Read from the checkout when the program runs.
        return Ok(());
    }
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let mut code = "&[\n".to_owned();
    for folder in ["src/reference/faults", "suites"] {
        println!("cargo:rerun-if-changed={folder}");
        for file in folder::yaml_files(&root.join(folder))? {
            let shown = file.strip_prefix(&root).unwrap_or(&file).to_string_lossy().replace('\\', "/");
            let _ = writeln!(code, "    ({shown:?}, include_str!({:?})),", file.to_string_lossy());
        }
    }
    code.push(']');
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    fs::write(out.join("embedded.rs"), code)
}
