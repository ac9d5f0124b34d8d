//! A server over stdio: started with pipes, and forwarded to stdin, stdout and stderr of the recording.

use std::{
    fs::File,
    io::{self, ErrorKind, Read, Write},
    process::ExitStatus,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use tokio::process::Child;

use super::{
    queue::{Queue, Seen},
    signals::{Passed, forward},
};
use crate::{
    error::Error,
    evidence::{Ended, Side},
    run::process::runtime::runtime,
    target::Program,
    wire::{
        self, OpenError,
        process::{Piped, Process},
    },
};

/// Capacity of a pipe on Linux.
const ONE_READ: usize = 64 << 10;
/// The last output of a server is forwarded after its exit. Processes that it left running may keep stdout open: after
/// this time without output, the exit is forwarded. A guess.
const REST: Duration = Duration::from_millis(100);
const MOMENT: Duration = Duration::from_millis(1);

/// The progress of one direction.
#[derive(Default)]
struct Progress {
    passed: AtomicU64,
    /// It waits for the writer, not for the reader.
    reads: AtomicBool,
    over: AtomicBool,
    /// The client closed its end.
    left: AtomicBool,
}

/// Starts the server, and passes everything on until it has exited.
pub fn pass(argv: &[String], queue: &Queue) -> Result<ExitStatus, Error> {
    let program = Program { argv: argv.to_vec(), ..Program::default() };
    runtime().block_on(async {
        let failed = |why: io::Error| {
            let tried = format!("to start {}", argv.first().map_or("a server", String::as_str));
            Error::Target { tried, came: why.to_string(), help: "try to start it by hand".to_owned(), refused: false }
        };
        let signals = Passed::listen().map_err(failed)?;
        let (input, output) = own_ends().map_err(failed)?;
        let mut child = Process::start(&program, Piped::Between).map_err(OpenError::of_target)?.child;
        let (to, from) = ends_of(&mut child).map_err(failed)?;
        let [inward, outward] = [Side::Client, Side::Server].map(|_| Arc::<Progress>::default());
        start(input, to, Side::Client, queue, &inward);
        start(from, output, Side::Server, queue, &outward);
        let (status, signalled) = until_exit(&mut child, signals, queue).await.map_err(failed)?;
        drained(&outward).await;
        let left = [&inward, &outward].iter().any(|progress| progress.left.load(Ordering::SeqCst));
        let (text, ended) = told(status, signalled, left);
        let exit = wire::exit(status);
        queue.note(Seen::Exited(text, ended, exit));
        Ok(status)
    })
}

async fn until_exit(child: &mut Child, mut signals: Passed, queue: &Queue) -> io::Result<(ExitStatus, bool)> {
    let mut signalled = false;
    loop {
        tokio::select! {
            biased;
            status = child.wait() => return Ok((status?, signalled)),
            signal = signals.next() => {
                signalled = true;
                queue.note(Seen::Note(Side::Client, format!("the client sent signal {signal}")));
                forward(child, signal);
            }
        }
    }
}

/// Waits until the client has read everything that the server wrote.
async fn drained(outward: &Progress) {
    let (mut before, mut waited) = (u64::MAX, Duration::ZERO);
    while !outward.over.load(Ordering::SeqCst) && waited < REST {
        let passed = outward.passed.load(Ordering::SeqCst);
        // Waits for a client that reads slowly: without the recording, the pipe would keep the rest for it.
        let idle = passed == before && outward.reads.load(Ordering::SeqCst);
        waited = if idle { waited + MOMENT } else { Duration::ZERO };
        before = passed;
        tokio::time::sleep(MOMENT).await;
    }
}

fn start(
    from: impl Read + Send + 'static,
    to: impl Write + Send + 'static,
    side: Side,
    queue: &Queue,
    progress: &Arc<Progress>,
) {
    let (queue, progress) = (queue.clone(), Arc::clone(progress));
    thread::spawn(move || {
        pump(from, to, side, &queue, &progress);
        queue.note(Seen::Finished(side));
        progress.over.store(true, Ordering::SeqCst);
    });
}

/// Forwards chunks as they arrive until one end is closed, then closes the other.
fn pump(mut from: impl Read, mut to: impl Write, side: Side, queue: &Queue, progress: &Progress) {
    let mut piece = vec![0; ONE_READ];
    loop {
        progress.reads.store(true, Ordering::SeqCst);
        let length = match from.read(&mut piece) {
            Ok(length) => length,
            Err(why) if may_go_on(&why) => continue,
            Err(_) => return,
        };
        progress.reads.store(false, Ordering::SeqCst);
        if length == 0 {
            return progress.left.store(side == Side::Client, Ordering::SeqCst);
        }
        // Recorded before it is forwarded: a response must not be recorded before its request.
        queue.note(Seen::Chunk(side, piece[..length].to_vec()));
        if write_all(&mut to, &piece[..length]).is_err() {
            queue.note(Seen::Note(side, "the other side reads no more".to_owned()));
            return progress.left.store(side == Side::Server, Ordering::SeqCst);
        }
        progress.passed.fetch_add(1, Ordering::SeqCst);
    }
}

fn write_all(to: &mut impl Write, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match to.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(length) => bytes = &bytes[length..],
            Err(why) if may_go_on(&why) => {}
            Err(why) => return Err(why),
        }
    }
    to.flush()
}

/// The parent may have made its end of the pipe non-blocking, which affects this end too.
fn may_go_on(why: &io::Error) -> bool {
    if why.kind() == ErrorKind::WouldBlock {
        thread::sleep(MOMENT);
    }
    matches!(why.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// How the process ended; `left` if the client closed stdin or stdout before.
fn told(status: ExitStatus, signalled: bool, left: bool) -> (String, Ended) {
    let when = match (status.code(), left) {
        (Some(_), true) => " when stdin was closed",
        (Some(_), false) => " before stdin was closed",
        (None, _) => "",
    };
    let text = format!("{}{when}", wire::exit(status));
    #[cfg(unix)]
    let stopped = {
        use std::os::unix::process::ExitStatusExt;
        // Another process may send these; a server does not send them to itself.
        status.signal().is_some_and(|signal| matches!(signal, 1 | 2 | 9 | 15))
    };
    #[cfg(not(unix))]
    let stopped = false;
    let ended = match () {
        () if signalled || stopped => Ended::Terminated,
        () if left => Ended::StdinClosed,
        () => Ended::Unasked,
    };
    (text, ended)
}

/// Stdin and stdout of this process, so that they can be closed: then the client notices what the server does.
#[cfg(unix)]
fn own_ends() -> io::Result<(File, File)> {
    use std::os::fd::AsFd;
    let input = io::stdin().as_fd().try_clone_to_owned()?;
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    Ok((input.into(), output.into()))
}

#[cfg(not(unix))]
fn own_ends() -> io::Result<(io::Stdin, io::Stdout)> {
    Ok((io::stdin(), io::stdout()))
}

#[cfg(unix)]
fn ends_of(child: &mut Child) -> io::Result<(File, File)> {
    let gone = || io::Error::from(ErrorKind::BrokenPipe);
    let to = child.stdin.take().ok_or_else(gone)?.into_owned_fd()?;
    let from = child.stdout.take().ok_or_else(gone)?.into_owned_fd()?;
    Ok((to.into(), from.into()))
}

#[cfg(not(unix))]
fn ends_of(child: &mut Child) -> io::Result<(File, File)> {
    let gone = || io::Error::from(ErrorKind::BrokenPipe);
    let to = child.stdin.take().ok_or_else(gone)?.into_owned_handle()?;
    let from = child.stdout.take().ok_or_else(gone)?.into_owned_handle()?;
    Ok((to.into(), from.into()))
}
