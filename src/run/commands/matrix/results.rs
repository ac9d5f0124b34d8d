//! The directory of results: a JSON report for each server, under a name that identifies what was tested.
//!
//! `NAME.FINGERPRINT.json`: the fingerprint changes with the definition of the server, the options and the version of
//! this program. So an old result is never taken for that of something else. A result is written elsewhere and then
//! renamed, so a file is always complete.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use tempfile::TempDir;

use super::targets::Entry;
use crate::{error::Error, outcome::RunReport, report, run::process::console::failed};

/// Characters that every file system allows in a name.
const SAFE: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');
/// Hexadecimal digits of a fingerprint.
const DIGITS: usize = 16;

pub struct Results {
    directory: PathBuf,
    /// In the same file system, and deleted at the end.
    scratch: TempDir,
}

impl Results {
    pub fn open(directory: &Path) -> Result<Self, Error> {
        let scratch = fs::create_dir_all(directory)
            .and_then(|()| tempfile::Builder::new().prefix(".running-").tempdir_in(directory));
        let scratch = scratch.map_err(|source| failed(directory, "write", source))?;
        Ok(Self { directory: directory.to_owned(), scratch })
    }

    pub fn shown(&self) -> String {
        self.directory.display().to_string()
    }

    /// Where results are written before they are kept.
    pub fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// The existing result, if it can be read. A result that only says that the server could not be tested does not
    /// count: the cause may be fixed by now.
    pub fn standing(&self, entry: &Entry) -> Option<RunReport> {
        let report = report::read(&fs::read_to_string(self.directory.join(&entry.file)).ok()?).ok()?;
        report.cause().is_none().then_some(report)
    }

    /// Moves a result to its place, and deletes outdated ones.
    pub fn keep(&self, entry: &Entry) -> Result<(), Error> {
        let place = self.directory.join(&entry.file);
        fs::rename(self.scratch().join(&entry.file), &place).map_err(|source| failed(&place, "write", source))?;
        for old in entry.outdated.iter().map(|file| self.directory.join(file)) {
            fs::remove_file(&old).map_err(|source| failed(&old, "remove", source))?;
        }
        Ok(())
    }
}

/// The file of a result.
pub fn file(name: &str, fingerprint: u64) -> String {
    format!("{}.{fingerprint:0DIGITS$x}.json", utf8_percent_encode(name, SAFE))
}

/// The name of the server that this file is a result of; `None` if it is not a result. Any JSON report counts, whichever
/// program wrote it.
pub fn name(file: &OsStr) -> Option<String> {
    let stem = file.to_str()?.strip_suffix(".json").filter(|stem| *stem != "matrix" && !stem.is_empty())?;
    let is_fingerprint = |text: &str| text.len() == DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let encoded = stem.rsplit_once('.').filter(|(_, last)| is_fingerprint(last)).map_or(stem, |(first, _)| first);
    Some(percent_decode_str(encoded).decode_utf8_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_becomes_a_file_and_comes_back() {
        for text in
            ["plain", "io.github.me/server", "../up", "a b|\u{202e}é", ".json", "a.0123456789abcdef", "%41", "."]
        {
            let file = file(text, 7);
            assert!(file.ends_with(".0000000000000007.json") && !file.contains(['/', ' ', '\\', ':']), "{file}");
            assert_eq!(name(OsStr::new(&file)).as_deref(), Some(text));
        }
        assert_eq!(name(OsStr::new("nightly.json")).as_deref(), Some("nightly"));
        assert_eq!(["matrix.json", "matrix.html", ".json"].map(|file| name(OsStr::new(file))), [None, None, None]);
    }
}
