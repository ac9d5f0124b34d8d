//! Writes the lists of built-in suites, shapes, faults, variations and pages, so that adding one is adding a file.

use std::{
    env,
    fmt::Write,
    fs, io,
    path::{Path, PathBuf},
};

use conform_source::{diagnostic::Problems, pack, yaml};

#[path = "src/folder.rs"]
mod folder;

/// Few runs read these texts. They take a quarter of their size, and are compressed once per build.
const SMALLEST: u8 = 10;

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    if env::var_os("CARGO_CFG_DEBUG_ASSERTIONS").is_some() {
        // Read from the checkout when the program runs.
        return Ok(());
    }
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let root = package.join("../..").canonicalize()?;
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let (mut texts, mut suites) = ("&[\n".to_owned(), "&[\n".to_owned());
    for folder in ["crates/reference-server/src/faults", "crates/reference-server/src/variations", "suites"] {
        println!("cargo:rerun-if-changed={}", root.join(folder).display());
        for file in folder::yaml_files(&root.join(folder))? {
            let shown = file.strip_prefix(&root).unwrap_or(&file).to_string_lossy().replace('\\', "/");
            let is_suite = folder::is_suite(&shown);
            if folder == "suites" && is_suite {
                let packed = out.join(shown.replace('/', "-"));
                fs::write(&packed, packed_suite(&file, &shown)?)?;
                let _ = writeln!(suites, "    ({shown:?}, include_bytes!({:?})),", packed.to_string_lossy());
            }
            let deflated = out.join(format!("{}.deflate", shown.replace('/', "-")));
            let text = if is_suite { fs::read(&file)? } else { as_json(&file, &shown)? };
            fs::write(&deflated, miniz_oxide::deflate::compress_to_vec(&text, SMALLEST))?;
            let _ = writeln!(texts, "    ({shown:?}, include_bytes!({:?})),", deflated.to_string_lossy());
        }
    }
    println!("cargo:rerun-if-changed={}", root.join("docs").display());
    for file in folder::pages(&root)? {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let deflated = out.join(format!("docs-{name}.deflate"));
        fs::write(&deflated, miniz_oxide::deflate::compress_to_vec(&fs::read(&file)?, SMALLEST))?;
        let _ =
            writeln!(texts, "    ({:?}, include_bytes!({:?})),", format!("docs/{name}"), deflated.to_string_lossy());
    }
    fs::write(out.join("texts.rs"), texts + "]")?;
    fs::write(out.join("suites.rs"), suites + "]")
}

fn packed_suite(file: &Path, shown: &str) -> io::Result<Vec<u8>> {
    let text = fs::read_to_string(file)?;
    let mut problems = Problems::new(shown, &text);
    let Some(tree) = yaml::parse(&text, &mut problems) else {
        let mistakes: String = problems.into_diagnostics().iter().map(|mistake| mistake.render(false)).collect();
        panic!("{mistakes}");
    };
    Ok(pack::pack(&tree))
}

/// The fields stay in their order.
fn as_json(file: &Path, shown: &str) -> io::Result<Vec<u8>> {
    let text = fs::read_to_string(file)?;
    let tree: serde_json::Value = serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{shown}: {error}"));
    Ok(tree.to_string().into_bytes())
}
