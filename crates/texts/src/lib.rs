//! The built-in suites, shapes, faults and variations, what is known of SDKs, and the pages of docs/: their paths in the repository and their
//! texts, ordered by path.
//!
//! A release build contains them, so that the binary needs no files; the build script also packs the parsed suites. A
//! debug build reads them from the checkout, so that a changed rule needs no compilation.
//!
//! It uses `conform-source` when it is built.

mod checkout;
mod folder;

use std::sync::LazyLock;

pub use checkout::in_checkout;

/// The path in the repository, and the content.
pub type Text = (&'static str, &'static str);

pub static SUITES: LazyLock<Vec<Text>> = LazyLock::new(|| {
    let suites = texts("suites").into_iter();
    suites.filter(|(path, _)| folder::is_suite(path)).collect()
});
/// The suites, parsed at build time.
#[cfg(not(debug_assertions))]
pub const PACKED_SUITES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/suites.rs"));
pub static SHAPES: LazyLock<Vec<Text>> = LazyLock::new(|| texts("suites/shapes"));
pub static SDKS: LazyLock<Vec<Text>> = LazyLock::new(|| texts("suites/sdks"));
pub static FAULTS: LazyLock<Vec<Text>> = LazyLock::new(|| texts("crates/reference-server/src/faults"));
pub static VARIATIONS: LazyLock<Vec<Text>> = LazyLock::new(|| texts("crates/reference-server/src/variations"));
pub static PAGES: LazyLock<Vec<Text>> = LazyLock::new(|| texts("docs"));

#[cfg(not(debug_assertions))]
fn texts(folder: &str) -> Vec<Text> {
    const DEFLATED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/texts.rs"));
    let text = |(path, bytes): &(&'static str, &[u8])| -> Text {
        let text = miniz_oxide::inflate::decompress_to_vec(bytes).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        (path, text.unwrap_or_else(|| panic!("{path} was not compiled in as it is")).leak())
    };
    DEFLATED.iter().filter(|(path, _)| path.starts_with(folder)).map(text).collect()
}

#[cfg(debug_assertions)]
fn texts(folder: &str) -> Vec<Text> {
    in_checkout(folder)
}
