//! One process of the client: started in its own process group, watched, and killed with all its children.

use std::{process::ExitStatus, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncReadExt},
    time::{Instant, sleep, timeout},
};

use crate::{
    error::Error,
    target::Program,
    wire::process::{Piped, Process, group::Signal},
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

/// Runs the process until it exits or `limit` passes. Its stdin is empty, and closed by the wait.
pub async fn run(program: &Program, limit: Duration) -> Result<Ran, Error> {
    let began = Instant::now();
    // Dropping it kills the rest of the process group.
    let mut process = Process::start(program, Piped::All).map_err(|failure| failure.of("client"))?;
    let (stdout, stderr) = (process.child.stdout.take(), process.child.stderr.take());
    let mut reading = tokio::spawn(async move { tokio::join!(tail(stdout), tail(stderr)).1 });
    let waited = timeout(limit, process.child.wait()).await;
    let hung = waited.is_err();
    let status = match waited {
        Ok(status) => status.ok(),
        Err(_) => process.stop(GRACE).await,
    };
    let took = began.elapsed();
    // A child process may hold the pipe open.
    let stderr = if let Ok(text) = timeout(LAST, &mut reading).await {
        text.unwrap_or_default()
    } else {
        process.group.signal(Signal::Kill);
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
