//! Starts processes, and stops them with their children.

use std::{
    process::{ExitStatus, Stdio},
    time::Duration,
};

use tokio::{
    process::{Child, Command},
    time::timeout,
};

use super::{
    group::{Group, Signal},
    start_failure::start_failure,
};
use crate::{OpenError, target::Program};

/// Which standard streams of a process are pipes to this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piped {
    All,
    /// It has no input.
    Outputs,
    /// It keeps our stderr, gets the signals of our terminal, and may outlive us.
    Between,
}

/// The leader of a process group, unless it is only `Between`. Dropping it kills the group.
pub struct Process {
    pub child: Child,
    pub group: Group,
}

impl Process {
    pub fn start(Program { argv, env, cwd }: &Program, piped: Piped) -> Result<Self, OpenError> {
        let (program, arguments) = argv.split_first().ok_or_else(|| OpenError {
            tried: "to start a program".to_owned(),
            came: "the command is empty".to_owned(),
            help: "name a program".to_owned(),
            cause: None,
        })?;
        let mut command = Command::new(program);
        command.args(arguments).envs(env.iter().map(|(name, value)| (name, value)));
        if let Some(cwd) = cwd {
            command.current_dir(cwd);
        }
        command.stdin(if piped == Piped::Outputs { Stdio::null() } else { Stdio::piped() }).stdout(Stdio::piped());
        if piped != Piped::Between {
            command.stderr(Stdio::piped()).kill_on_drop(true);
            Group::prepare(&mut command);
        }
        let child = command.spawn().map_err(|why| start_failure(program, cwd.as_deref(), &why))?;
        let group = Group::of(child.id().filter(|_| piped != Piped::Between));
        Ok(Self { child, group })
    }

    /// Sends SIGTERM, and SIGKILL if it is still running after this time.
    pub async fn stop(&mut self, grace: Duration) -> Option<ExitStatus> {
        self.group.signal(Signal::Term);
        if let Ok(status) = timeout(grace, self.child.wait()).await {
            return status.ok();
        }
        self.group.signal(Signal::Kill);
        timeout(grace, self.child.wait()).await.ok()?.ok()
    }
}
