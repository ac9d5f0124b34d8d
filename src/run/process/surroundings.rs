//! Where the program runs.

use std::{env, ffi::OsString, path::PathBuf};

use crate::config::Environment;

/// What the program knows of where it runs. Read at the start, passed down from there.
#[derive(Clone, Debug)]
pub struct Surroundings {
    pub color: bool,
    /// Whether the terminal opens links in the text.
    pub links: bool,
    pub width: usize,
    /// The columns of a terminal that may show what a run waits for.
    pub status: Option<usize>,
    /// Where it was started.
    pub directory: Option<PathBuf>,
    pub environment: Environment,
    /// The program itself, for `--reference`.
    pub program: Option<PathBuf>,
}

impl Surroundings {
    /// Those of this process, written for in so many columns.
    pub fn of_process(color: bool, width: usize) -> Self {
        let text = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
        Self {
            color,
            links: false,
            width,
            status: None,
            directory: env::current_dir().ok(),
            environment: env::vars_os().filter_map(text).collect(),
            program: env::current_exe().ok(),
        }
    }
}
