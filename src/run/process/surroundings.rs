//! The environment that the program runs in.

use std::{env, ffi::OsString, path::PathBuf};

use crate::{config::Environment, error::Error};

/// Everything that the program reads from its environment. It is read at the start and passed down.
#[derive(Clone, Debug)]
pub struct Surroundings {
    pub color: bool,
    /// Whether the terminal opens links in the text.
    pub links: bool,
    pub width: usize,
    /// The width of the terminal that shows progress, if any.
    pub status: Option<usize>,
    /// The working directory.
    pub directory: Option<PathBuf>,
    pub environment: Environment,
    /// The program itself, for `--reference`.
    pub program: Option<PathBuf>,
}

impl Surroundings {
    /// The surroundings of this process, with output of this width.
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

    /// The path of this program, which it starts in other roles.
    pub fn itself(&self) -> Result<PathBuf, Error> {
        self.program.clone().ok_or_else(|| Error::usage("this program cannot find itself"))
    }
}
