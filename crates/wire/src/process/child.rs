//! A started process: waits for it, describes how it ended, and stops it.
//!
//! One task owns the process, so no signal can reach a process id that the system has reused.

use std::{process::ExitStatus, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    process,
    sync::watch,
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};

use crate::{
    OpenError,
    process::{
        Piped, Process,
        group::{Group, Signal},
    },
    target::{Program, command_line, inside::Running},
    unread::Unread,
};
use conform_model::evidence::{Ended, Exit};

/// How often to check whether the rest of a process group has exited. A guess.
const LOOK: Duration = Duration::from_millis(10);

/// The exit may take this many times as long as the start.
const SLOWER: u32 = 2;
/// The maximum, as a multiple of the usual grace period: an exit after more than 16 s was observed where starts took 19
/// s.
const PATIENCE: u32 = 16;
/// The first process that does not exit in time gets this multiple of the usual grace period: a machine that is busy for a
/// moment delays an exit, too. A server that exited in time in seven runs of eight needed more than 3 s in the other one.
const CONFIRMED: u32 = 5;

pub struct Child {
    /// How the process exited, once it has.
    pub exit: watch::Receiver<Option<Exit>>,
    orders: watch::Sender<Option<Signal>>,
    owner: JoinHandle<()>,
    grace: Duration,
}

/// How a process ended, and after what.
pub struct Finish {
    pub how: String,
    pub ended: Ended,
    pub exit: Exit,
}

pub type Writable = Box<dyn AsyncWrite + Send + Unpin>;
pub type Readable = Box<dyn AsyncRead + Send + Unpin>;

pub struct Pipes {
    pub stdin: Writable,
    /// Counts unread bytes of stdin.
    pub unread: Unread,
    pub stdout: Readable,
    pub stderr: Readable,
}

impl Child {
    pub fn start(program: &Program, grace: Duration) -> Result<(Self, Pipes), OpenError> {
        let Process { mut child, group } = Process::start(program, Piped::All)?;
        let (Some(stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(OpenError {
                tried: format!("to start {}", command_line(&program.argv)),
                came: "it has no pipes".to_owned(),
                help: String::new(),
                cause: None,
            });
        };
        let (told, exit) = watch::channel(None);
        let (orders, ordered) = watch::channel(None);
        let owner = tokio::spawn(own(child, group, ordered, told, grace));
        let unread = Unread::of(&stdin);
        let pipes = Pipes { stdin: Box::new(stdin), unread, stdout: Box::new(stdout), stderr: Box::new(stderr) };
        Ok((Self { exit, orders, owner, grace }, pipes))
    }

    /// Something inside this process is handled like a process.
    pub fn inside(running: Running, grace: Duration) -> (Self, Pipes) {
        let Running { stdin, stdout, stderr, work } = running;
        let (told, exit) = watch::channel(None);
        let (orders, mut ordered) = watch::channel(None);
        let owner = tokio::spawn(async move {
            let exit = tokio::select! {
                biased;
                status = work => Exit::Status(status.into()),
                Ok(()) = ordered.changed() => match *ordered.borrow() {
                    Some(Signal::Kill) => Exit::Signal("SIGKILL".to_owned()),
                    _ => Exit::Signal("SIGTERM".to_owned()),
                },
            };
            told.send_replace(Some(exit));
        });
        let unread = Unread::Inside(stdin.unread.clone());
        let pipes = Pipes { stdin: Box::new(stdin), unread, stdout: Box::new(stdout), stderr: Box::new(stderr) };
        (Self { exit, orders, owner, grace }, pipes)
    }

    pub fn exited(&self) -> Option<Exit> {
        self.exit.borrow().clone()
    }

    /// Waits until the process exits, then sends SIGTERM, then SIGKILL. Its stdin must be closed or closing. A process
    /// that started slowly, for example on a busy machine, may exit slowly. The machine may have become busy since, as
    /// `slowest` shows. Once a process of this server is known to outlive its stdin, the others get less time.
    pub async fn end(&mut self, started: Duration, slowest: Duration, outlives: bool) -> Finish {
        let grace = self.grace;
        let needed = (started * SLOWER).max(slowest);
        let patience = grace.max(Duration::from_secs(needed.as_secs())).min(grace * PATIENCE);
        let patience = if outlives { patience } else { patience.max(grace * CONFIRMED) };
        if let Some(exit) = self.within(patience).await {
            return Finish { how: format!("{exit} when stdin was closed"), ended: Ended::StdinClosed, exit };
        }
        self.orders.send_replace(Some(Signal::Term));
        if let Some(exit) = self.within(grace).await {
            let how = format!("still ran {patience:?} after stdin was closed; then {exit}");
            return Finish { how, ended: Ended::Terminated, exit };
        }
        self.orders.send_replace(Some(Signal::Kill));
        let (how, exit) = match self.within(grace).await {
            Some(exit) => {
                (format!("still ran {patience:?} after stdin was closed and {grace:?} after SIGTERM; was killed"), exit)
            }
            None => ("could not be killed".to_owned(), Exit::Unknown("it could not be killed".to_owned())),
        };
        Finish { how, ended: Ended::Killed, exit }
    }

    /// Stops a process that is no longer used.
    pub async fn kill(&self) {
        for signal in [Signal::Term, Signal::Kill] {
            self.orders.send_replace(Some(signal));
            if timeout(self.grace, self.exit.clone().wait_for(Option::is_some)).await.is_ok() {
                return;
            }
        }
    }

    /// Waits until its child processes have exited too.
    pub async fn gone(&mut self) {
        let _ = timeout(2 * self.grace, &mut self.owner).await;
    }

    async fn within(&mut self, time: Duration) -> Option<Exit> {
        timeout(time, self.exit.wait_for(Option::is_some)).await.ok()?.ok()?.clone()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.owner.abort();
    }
}

async fn own(
    mut process: process::Child,
    mut group: Group,
    mut ordered: watch::Receiver<Option<Signal>>,
    told: watch::Sender<Option<Exit>>,
    grace: Duration,
) {
    let exit = loop {
        tokio::select! {
            status = process.wait() => break status.map_or_else(|error| Exit::Unknown(error.to_string()), exit),
            Ok(()) = ordered.changed() => {
                let signal = *ordered.borrow_and_update();
                let reached = signal.is_some_and(|signal| group.signal(signal));
                if !reached || signal == Some(Signal::Kill) {
                    let _ = process.start_kill();
                }
            }
        }
    };
    told.send_replace(Some(exit));
    // Remaining child processes would keep its pipes and ports open.
    if group.signal(Signal::Term) {
        let deadline = Instant::now() + grace;
        while !group.is_empty() && Instant::now() < deadline {
            sleep(LOOK).await;
        }
        group.signal(Signal::Kill);
    }
    group.forget();
}

pub fn exit(status: ExitStatus) -> Exit {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return Exit::Signal(signal_name(signal));
    }
    status.code().map_or_else(|| Exit::Unknown("it has no status".to_owned()), Exit::Status)
}

#[cfg(unix)]
fn signal_name(signal: i32) -> String {
    use rustix::process::Signal;
    let known = [
        (Signal::HUP, "SIGHUP"),
        (Signal::INT, "SIGINT"),
        (Signal::QUIT, "SIGQUIT"),
        (Signal::ILL, "SIGILL"),
        (Signal::TRAP, "SIGTRAP"),
        (Signal::ABORT, "SIGABRT"),
        (Signal::BUS, "SIGBUS"),
        (Signal::FPE, "SIGFPE"),
        (Signal::KILL, "SIGKILL"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::TERM, "SIGTERM"),
    ];
    known
        .iter()
        .find(|(known, _)| known.as_raw() == signal)
        .map_or_else(|| format!("signal {signal}"), |(_, name)| (*name).to_owned())
}
