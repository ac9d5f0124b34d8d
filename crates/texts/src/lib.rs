//! The built-in suites, shapes, faults and variations, and the pages of docs/: their paths in the repository and their
//! texts, ordered by path.
//!
//! A release build contains them, so that the binary needs no files; the build script also packs the parsed suites. A
//! debug build reads them from the checkout, so that a changed rule needs no compilation.

#[cfg(debug_assertions)]
mod folder;

use std::sync::LazyLock;

#[cfg(not(debug_assertions))]
use miniz_oxide::inflate;

pub type Text = (&'static str, &'static str);

pub static SUITES: LazyLock<Vec<Text>> = LazyLock::new(|| {
    let suites = texts("suites").into_iter();
    suites.filter(|(path, _)| !path.starts_with("suites/shapes/")).collect()
});
/// The suites, parsed at build time.
#[cfg(not(debug_assertions))]
pub const PACKED_SUITES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/suites.rs"));
pub static SHAPES: LazyLock<Vec<Text>> = LazyLock::new(|| texts("suites/shapes"));
pub static FAULTS: LazyLock<Vec<Text>> = LazyLock::new(|| texts("crates/reference-server/src/faults"));
pub static VARIATIONS: LazyLock<Vec<Text>> = LazyLock::new(|| texts("crates/reference-server/src/variations"));
pub static CLIENT_FAULTS: LazyLock<Vec<Text>> = LazyLock::new(|| texts("crates/reference-client/src/faults"));
pub static GATEWAY_FAULTS: LazyLock<Vec<Text>> = LazyLock::new(|| texts("crates/reference-gateway/src/faults"));
pub static PAGES: LazyLock<Vec<Text>> = LazyLock::new(pages);

#[cfg(not(debug_assertions))]
fn texts(folder: &str) -> Vec<Text> {
    const DEFLATED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/texts.rs"));
    let text = |(path, bytes): &(&'static str, &[u8])| -> Text {
        let text = inflate::decompress_to_vec(bytes).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        (path, text.unwrap_or_else(|| panic!("{path} was not compiled in as it is")).leak())
    };
    DEFLATED.iter().filter(|(path, _)| path.starts_with(folder)).map(text).collect()
}

#[cfg(debug_assertions)]
fn texts(folder: &str) -> Vec<Text> {
    let root = root();
    let files = folder::yaml_files(&root.join(folder)).unwrap_or_else(|why| panic!("{folder}: {why}"));
    files.into_iter().map(|file| read(&root, &file)).collect()
}

#[cfg(not(debug_assertions))]
fn pages() -> Vec<Text> {
    texts("docs/")
}

#[cfg(debug_assertions)]
fn pages() -> Vec<Text> {
    let root = root();
    let files = folder::pages(&root).unwrap_or_else(|why| panic!("docs: {why}"));
    files.into_iter().map(|file| read(&root, &file)).collect()
}

/// The checkout.
#[cfg(debug_assertions)]
fn root() -> std::path::PathBuf {
    let package = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    package.ancestors().nth(2).unwrap_or(package).to_owned()
}

#[cfg(debug_assertions)]
fn read(root: &std::path::Path, file: &std::path::Path) -> Text {
    let text = std::fs::read_to_string(file).unwrap_or_else(|why| panic!("{}: {why}", file.display()));
    let path = file.strip_prefix(root).unwrap_or(file).to_string_lossy().replace('\\', "/");
    (path.leak(), text.leak())
}
