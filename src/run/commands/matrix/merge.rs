//! `mcp-conform matrix merge`: a fold over files. One report is in memory at a time, so that a million of them can be.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{results, row, settle::settle, style};
use crate::{
    error::Error,
    report::{self, matrix::Fold},
    run::{
        process::{
            Surroundings,
            console::{complain, failed},
        },
        results::outputs,
    },
};

pub fn merge(directories: &[PathBuf], out: &Path, report: &[String], surroundings: &Surroundings) -> Result<u8, Error> {
    let outputs = outputs::of_matrix(report)?;
    let mut fold = Fold::default();
    for directory in directories {
        let entries = fs::read_dir(directory).map_err(|source| failed(directory, "read", source))?;
        for entry in entries {
            let path = entry.map_err(|source| failed(directory, "read", source))?.path();
            let Some(name) = path.file_name().and_then(results::name) else { continue };
            match fs::read_to_string(&path).map_err(|why| why.to_string()).and_then(|text| report::read(&text)) {
                Ok(report) => {
                    // A relative link works only for files in the directory of the matrix, if both are moved.
                    let file = path.strip_prefix(out).ok().map(|file| file.display().to_string());
                    fold.add(row(&name, file, &report, &outputs), &report);
                }
                Err(why) => {
                    complain(&format!("note: `{}` is skipped: {why}", path.display()));
                    fold.add_unreadable();
                }
            }
        }
    }
    if fold.is_empty() {
        return Err(Error::Usage {
            message: "there are no results in these directories".into(),
            help: Some("`mcp-conform matrix targets.toml --out DIR` writes them".into()),
        });
    }
    fs::create_dir_all(out).map_err(|source| failed(out, "write", source))?;
    settle(fold, Some(out), &outputs, &style(surroundings))
}
