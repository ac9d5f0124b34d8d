//! One process of the client: started in its own process group, watched, and killed with all its children.

use std::{
    path::Path,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt},
    process::Command,
    time::{Instant, sleep, timeout},
};

use crate::{
    error::Error,
    wire::{
        process::group::{Group, Signal},
        start_failure,
    },
};

/// How much of stderr is kept, counted from its end.
const KEPT: usize = 4 << 10;
/// From SIGTERM to SIGKILL. A guess.
const GRACE: Duration = Duration::from_secs(5);
/// How long the last output is read after the client has exited. A guess.
const LAST: Duration = Duration::from_millis(200);
/// How unhandled exceptions and panics begin in common languages.
const TRACES: [&str; 9] = [
    "Traceback (most recent call last)",
    "panicked at ",
    "Uncaught ",
    "UnhandledPromiseRejection",
    "Unhandled exception",
    "Exception in thread",
    "goroutine 1 [running]",
    "Fatal error: ",
    "\n    at ",
];

/// How the process ended.
pub struct Ran {
    pub hung: bool,
    pub status: Option<ExitStatus>,
    pub stderr: String,
    pub took: Duration,
}

impl Ran {
    /// Whether stderr shows an unhandled exception or a panic.
    pub fn shows_trace(&self) -> bool {
        TRACES.iter().any(|trace| self.stderr.contains(trace))
    }

    pub fn signal(&self) -> Option<i32> {
        #[cfg(unix)]
        {
            use std::os::unix::process::ExitStatusExt;
            self.status.and_then(|status| status.signal())
        }
        #[cfg(not(unix))]
        None
    }
}

/// Runs the process until it exits or `limit` passes.
pub async fn run(argv: &[String], env: &[(String, String)], cwd: Option<&Path>, limit: Duration) -> Result<Ran, Error> {
    let Some((program, arguments)) = argv.split_first() else { return Err(Error::usage("the command is empty")) };
    let mut command = Command::new(program);
    command.args(arguments).envs(env.iter().map(|(name, value)| (name, value)));
    // stdin stays open and empty: some clients exit when stdin closes.
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    if let Some(cwd) = cwd {
        command.current_dir(cwd);
    }
    Group::prepare(&mut command);
    let began = Instant::now();
    let mut child = command.spawn().map_err(|why| {
        let failure = start_failure(program, cwd, &why);
        Error::Party { party: "client", tried: failure.tried, came: failure.came, help: failure.help }
    })?;
    // Dropped last: this kills the rest of the process group.
    let group = Group::of(child.id());
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let mut reading = tokio::spawn(async move { tokio::join!(tail(stdout), tail(stderr)).1 });
    let waited = timeout(limit, child.wait()).await;
    let hung = waited.is_err();
    let status = if let Ok(status) = waited {
        status.ok()
    } else {
        group.signal(Signal::Term);
        if let Ok(status) = timeout(GRACE, child.wait()).await {
            status.ok()
        } else {
            group.signal(Signal::Kill);
            child.wait().await.ok()
        }
    };
    let took = began.elapsed();
    // A child process may hold the pipe open.
    let stderr = if let Ok(text) = timeout(LAST, &mut reading).await {
        text.unwrap_or_default()
    } else {
        group.signal(Signal::Kill);
        sleep(LAST).await;
        timeout(LAST, reading).await.ok().and_then(Result::ok).unwrap_or_default()
    };
    Ok(Ran { hung, status, stderr, took })
}

/// The last bytes of the output.
async fn tail(pipe: Option<impl AsyncRead + Unpin>) -> String {
    let (mut kept, mut piece) = (Vec::new(), vec![0; KEPT]);
    let Some(mut pipe) = pipe else { return String::new() };
    while let Ok(length @ 1..) = pipe.read(&mut piece).await {
        kept.extend_from_slice(&piece[..length]);
        let surplus = kept.len().saturating_sub(KEPT);
        kept.drain(..surplus);
    }
    String::from_utf8_lossy(&kept).into_owned()
}
