//! One process of the client: started in its own process group, watched, and killed with all its children.

use std::{process::ExitStatus, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncReadExt},
    time::{Instant, sleep, timeout},
};

use super::oauth::{Login, Printed};
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
    /// It was ended because its world was over.
    pub stopped: bool,
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

/// Runs the process until it exits, `limit` passes or the world is `over`. Its stdin is empty, and closed by the wait. A
/// login looks for URLs in its output.
pub async fn run(
    program: &Program,
    limit: Duration,
    login: Option<&Login>,
    over: impl Future<Output = ()>,
) -> Result<Ran, Error> {
    let began = Instant::now();
    // Dropping it kills the rest of the process group.
    let mut process = Process::start(program, Piped::All).map_err(|failure| failure.of("client"))?;
    let (stdout, stderr) = (process.child.stdout.take(), process.child.stderr.take());
    let (said, complained) = (login.map(Login::printed), login.map(Login::printed));
    let mut reading = tokio::spawn(async move { tokio::join!(tail(stdout, said), tail(stderr, complained)).1 });
    let waited = tokio::select! {
        waited = timeout(limit, process.child.wait()) => waited.map_or(End::Hung, |status| End::Exited(status.ok())),
        () = over => End::Stopped,
    };
    let (hung, stopped) = (matches!(waited, End::Hung), matches!(waited, End::Stopped));
    let status = match waited {
        End::Exited(status) => status,
        End::Hung | End::Stopped => process.stop(GRACE).await,
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
    Ok(Ran { hung, stopped, status, stderr, took })
}

enum End {
    Exited(Option<ExitStatus>),
    Hung,
    Stopped,
}

/// The last bytes of the output.
async fn tail(pipe: Option<impl AsyncRead + Unpin>, mut printed: Option<Printed>) -> String {
    let (mut kept, mut piece) = (Vec::new(), vec![0; KEPT]);
    let Some(mut pipe) = pipe else { return String::new() };
    while let Ok(length @ 1..) = pipe.read(&mut piece).await {
        kept.extend_from_slice(&piece[..length]);
        if let Some(printed) = &mut printed {
            printed.feed(&piece[..length]);
        }
        let surplus = kept.len().saturating_sub(KEPT);
        kept.drain(..surplus);
    }
    String::from_utf8_lossy(&kept).into_owned()
}
