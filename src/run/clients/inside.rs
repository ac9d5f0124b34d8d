//! A client inside this process, and the servers that it starts.
//!
//! Client and server share one thread and talk through memory. So a runtime whose clock is paused knows when both wait, and
//! moves the clock to the next moment at which something happens: no wait takes time, and none depends on the machine.

use std::{cell::RefCell, io, pin::Pin, process::ExitStatus, rc::Rc, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex},
    sync::mpsc,
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};

use super::{process::Ran, stage::Stage, stub::joined};

/// As much as a pipe holds.
const CAPACITY: usize = 64 << 10;
/// Of a connection or a packet. Without it a client that repeats something without end would do so before the clock moves.
const LATENCY: Duration = Duration::from_millis(1);
/// As `stub` reports it.
const TERMINATED: u8 = 143;
/// The number of that signal.
const SIGTERM: u8 = 15;

pub trait Inside: Send + Sync {
    /// Runs the client with these variables until it exits. When this is dropped nothing of the client is left.
    fn run(&self, env: Vec<(String, String)>, reach: Reach) -> Pin<Box<dyn Future<Output = Ended>>>;
}

/// How it ended.
pub struct Ended {
    pub code: u8,
    pub stderr: String,
}

/// What a client inside this process can reach.
pub struct Reach {
    /// The URL or the path of the server.
    pub target: String,
    connect: mpsc::UnboundedSender<DuplexStream>,
    servers: Servers,
}

type Servers = Rc<RefCell<Vec<(mpsc::UnboundedSender<u8>, tokio::task::AbortHandle)>>>;

/// The process of a server. It goes on when this is dropped.
pub struct Handle {
    signals: mpsc::UnboundedSender<u8>,
    process: JoinHandle<()>,
}

impl Reach {
    fn connection(&self) -> io::Result<DuplexStream> {
        let (near, far) = duplex(CAPACITY);
        self.connect.send(far).map_err(|_| io::ErrorKind::ConnectionRefused)?;
        Ok(near)
    }

    /// A connection to a host and port.
    pub async fn connect(&self, host: &str, port: u16) -> io::Result<DuplexStream> {
        sleep(LATENCY).await;
        let listens = self.target.contains(&format!("//{host}:{port}/"));
        if listens { self.connection() } else { Err(io::ErrorKind::ConnectionRefused.into()) }
    }

    /// Starts a server: its stdin, stdout and stderr, and its process.
    pub fn start(&self, program: &str) -> io::Result<([DuplexStream; 3], Handle)> {
        if program != self.target {
            return Err(io::ErrorKind::NotFound.into());
        }
        let socket = self.connection()?;
        let [(stdin, written), (sent, input), (stdout, output), (stderr, errors)] = [(); 4].map(|()| duplex(CAPACITY));
        let (signals, received) = mpsc::unbounded_channel();
        let process = tokio::spawn(async move {
            tokio::spawn(delayed(written, sent));
            // A failure is the end of the process.
            let _ = joined(socket, "{\"arguments\":[]}", received, (input, output, errors)).await;
        });
        self.servers.borrow_mut().push((signals.clone(), process.abort_handle()));
        Ok(([stdin, stdout, stderr], Handle { signals, process }))
    }
}

impl Handle {
    pub async fn wait(&mut self) {
        if !self.process.is_finished() {
            let _ = (&mut self.process).await;
        }
    }

    pub fn terminate(&self) {
        // It may have exited.
        let _ = self.signals.send(TERMINATED);
    }

    pub fn kill(&self) {
        self.process.abort();
    }
}

/// Passes on what is written, a little later.
async fn delayed(mut from: DuplexStream, mut to: DuplexStream) {
    let mut piece = vec![0; CAPACITY];
    while let Ok(length @ 1..) = from.read(&mut piece).await {
        sleep(LATENCY).await;
        if to.write_all(&piece[..length]).await.is_err() {
            break;
        }
    }
}

/// Runs it to its end, or until `limit`, and ends whatever it started.
pub async fn run(inside: &dyn Inside, stage: &Stage, env: Vec<(String, String)>, limit: Duration) -> Ran {
    let servers = Servers::default();
    let reach = Reach { target: stage.target.clone(), connect: stage.connect(), servers: Rc::clone(&servers) };
    let began = Instant::now();
    // It is dropped here: with it its connections and pipes are closed.
    let ended = timeout(limit, inside.run(env, reach)).await;
    let took = began.elapsed();
    for (signals, _) in servers.borrow().iter().filter(|_| ended.is_err()) {
        let _ = signals.send(TERMINATED);
    }
    // What they notice of it is noted.
    sleep(LATENCY).await;
    for (_, process) in servers.borrow().iter() {
        process.abort();
    }
    let (hung, ended) = (ended.is_err(), ended.ok());
    let status = Some(status(ended.as_ref().map(|ended| ended.code)));
    Ran { hung, status, stderr: ended.map(|ended| ended.stderr).unwrap_or_default(), took }
}

/// Of a process that exited with this code, or that SIGTERM ended.
#[cfg(unix)]
fn status(code: Option<u8>) -> ExitStatus {
    use std::os::unix::process::ExitStatusExt;
    ExitStatus::from_raw(code.map_or(i32::from(SIGTERM), |code| i32::from(code) << 8))
}

#[cfg(windows)]
fn status(code: Option<u8>) -> ExitStatus {
    use std::os::windows::process::ExitStatusExt;
    ExitStatus::from_raw(u32::from(code.unwrap_or(SIGTERM)))
}
