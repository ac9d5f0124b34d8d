//! Signals to a process and its children, on systems that have process groups.

use tokio::process::Command;

/// The signals in order of force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    Term,
    Kill,
}

/// The process group of a started process. Dropping it kills the remaining processes.
pub struct Group {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
}

#[cfg(unix)]
impl Group {
    pub fn prepare(command: &mut Command) {
        command.process_group(0);
    }

    pub fn of(id: Option<u32>) -> Self {
        let leader = id.and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
        Self { leader }
    }

    /// Returns whether a process was left to receive it.
    pub fn signal(&self, signal: Signal) -> bool {
        let signal = match signal {
            Signal::Term => rustix::process::Signal::TERM,
            Signal::Kill => rustix::process::Signal::KILL,
        };
        self.leader.is_some_and(|leader| rustix::process::kill_process_group(leader, signal).is_ok())
    }

    pub fn is_empty(&self) -> bool {
        self.leader.is_none_or(|leader| rustix::process::test_kill_process_group(leader).is_err())
    }

    /// Nothing is left, and its id may be reused soon.
    pub fn forget(&mut self) {
        self.leader = None;
    }
}

#[cfg(not(unix))]
impl Group {
    pub fn prepare(_: &mut Command) {}

    pub fn of(_: Option<u32>) -> Self {
        Self {}
    }

    pub fn signal(&self, _: Signal) -> bool {
        false
    }

    pub fn is_empty(&self) -> bool {
        true
    }

    pub fn forget(&mut self) {}
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::Kill);
    }
}
