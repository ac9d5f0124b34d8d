//! What a test of a client needs, read from what was typed.

use std::{path::PathBuf, sync::Arc, time::Duration};

use super::inside::Inside;
use crate::{
    evidence::Transport,
    run::{inputs::job::Revisions, process::interrupts::Interrupts},
};

pub struct ClientJob {
    /// This program, which a client starts as its server over stdio.
    pub program: PathBuf,
    /// The program and its arguments, which may hold `{url}` or `{stub}`; otherwise that is added as the last argument.
    pub command: Vec<String>,
    pub env: Vec<(String, String)>,
    pub cwd: Option<PathBuf>,
    /// A client in this process, in place of the command.
    pub inside: Option<Arc<dyn Inside>>,
    pub transport: Transport,
    pub revisions: Revisions,
    pub limits: Limits,
    pub strict: bool,
    pub interrupts: Interrupts,
}

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Of one start of the client, without the time of its wait actions.
    pub start: Duration,
    /// Of all starts together.
    pub run: Duration,
    pub memory_bytes: usize,
    pub disk_bytes: usize,
    pub record_messages: usize,
    pub evidence_frames: usize,
}

impl ClientJob {
    /// As a user would type it.
    pub fn name(&self) -> String {
        shlex::try_join(self.command.iter().map(String::as_str)).unwrap_or_else(|_| self.command.join(" "))
    }
}
