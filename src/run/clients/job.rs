//! Everything that a test of a client needs, from the options and the configuration.

use std::{path::PathBuf, sync::Arc, time::Duration};

use super::{command_lines, inside::Inside};
use crate::{
    config::Client,
    evidence::Recorder,
    run::{
        inputs::job::Revisions,
        process::{interrupts::Interrupts, progress::Counts},
    },
    suite::Action,
    target::command_line,
};

pub struct ClientJob {
    /// This program, which a client starts as its server over stdio.
    pub program: PathBuf,
    /// The name of the client in the configuration.
    pub named: Option<String>,
    pub client: Client,
    /// A client in this process, in place of the command.
    pub inside: Option<Arc<dyn Inside>>,
    pub revisions: Revisions,
    pub limits: Limits,
    pub strict: bool,
    pub scenarios: Arc<Counts>,
    pub interrupts: Interrupts,
}

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// For one start of the client, without its wait actions.
    pub start: Duration,
    /// For all starts together.
    pub run: Duration,
    pub memory_bytes: usize,
    pub disk_bytes: usize,
    pub record_messages: usize,
    pub evidence_frames: usize,
}

impl Limits {
    /// For the messages of a test.
    pub fn recorder(&self) -> Recorder {
        Recorder::new(self.memory_bytes, self.disk_bytes, self.record_messages)
    }
}

impl ClientJob {
    /// As a user would type it.
    pub fn command(&self) -> String {
        let command = &self.client.command;
        if command.is_empty() {
            return "a client".to_owned();
        }
        command_line(command)
    }

    /// The command lines for these actions, in order.
    pub fn lines(&self, drive: &[Action], target: &str) -> Vec<Vec<String>> {
        command_lines::lines(&self.client.command, &self.client.actions, drive, target)
    }
}
