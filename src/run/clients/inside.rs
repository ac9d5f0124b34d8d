//! A client inside this process, and the servers that it starts.
//!
//! Client and server share one thread and communicate through memory. So a runtime with a paused clock knows when both
//! wait, and moves the clock to the next event. No wait takes time, and none depends on the machine.

use std::{cell::RefCell, io, pin::Pin, process::ExitStatus, rc::Rc, sync::PoisonError, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex},
    sync::mpsc,
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};

use super::{
    oauth::{Doors, How, Listeners},
    process::Ran,
    stage::Stage,
    stub::joined,
};

/// Capacity of a pipe on Linux.
const CAPACITY: usize = 64 << 10;
/// Delay of a connection or a packet. Without it, a client that repeats something forever would never let the clock
/// move.
const LATENCY: Duration = Duration::from_millis(1);
/// The first port at which a client listens.
const FIRST_PORT: u16 = 4001;
/// The exit code that `stub` reports.
const TERMINATED: u8 = 143;
/// The number of that signal.
const SIGTERM: u8 = 15;

pub trait Inside: Send + Sync {
    /// Runs the client with these variables until it exits. Dropping the future stops everything of the client.
    fn run(&self, env: Vec<(String, String)>, reach: Reach) -> Pin<Box<dyn Future<Output = Ended>>>;
}

/// How the client ended.
pub struct Ended {
    pub code: u8,
    pub stderr: String,
}

/// What a client inside this process can reach.
pub struct Reach {
    /// The URL or the path of the server.
    pub target: String,
    connect: mpsc::UnboundedSender<DuplexStream>,
    /// In a world with authorization: the browser, the other origins, and where the client listens.
    login: Option<LoginReach>,
    servers: Servers,
}

type LoginReach = (mpsc::UnboundedSender<(How, String)>, Doors, Listeners);
type Servers = Rc<RefCell<Vec<(mpsc::UnboundedSender<u8>, tokio::task::AbortHandle)>>>;

/// The process of a server. It keeps running when this is dropped.
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
        if self.target.contains(&format!("//{host}:{port}/")) {
            return self.connection();
        }
        let doors = self.login.iter().flat_map(|(_, doors, _)| doors);
        let door = doors.clone().find(|(known, _)| *known == format!("{host}:{port}"));
        let (near, far) = duplex(CAPACITY);
        let sent = door.and_then(|(_, door)| door.send(far).ok());
        sent.map(|()| near).ok_or_else(|| io::ErrorKind::ConnectionRefused.into())
    }

    /// A port at which the client accepts connections from its user's browser.
    pub fn listen(&self) -> io::Result<(u16, mpsc::UnboundedReceiver<DuplexStream>)> {
        let (_, _, listeners) = self.login.as_ref().ok_or(io::ErrorKind::AddrNotAvailable)?;
        let mut listeners = listeners.lock().unwrap_or_else(PoisonError::into_inner);
        let port = FIRST_PORT + u16::try_from(listeners.len()).unwrap_or_default();
        let (connect, connected) = mpsc::unbounded_channel();
        listeners.insert(port, connect);
        Ok((port, connected))
    }

    /// Opens the user's browser.
    pub fn open(&self, url: &str) {
        if let Some((urls, ..)) = &self.login {
            // The browser may be closed already.
            let _ = urls.send((How::Opened, url.to_owned()));
        }
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
            // A failure ends the process.
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

/// Forwards all bytes with a small delay.
async fn delayed(mut from: DuplexStream, mut to: DuplexStream) {
    let mut piece = vec![0; CAPACITY];
    while let Ok(length @ 1..) = from.read(&mut piece).await {
        sleep(LATENCY).await;
        if to.write_all(&piece[..length]).await.is_err() {
            break;
        }
    }
}

/// Runs the client until it exits, `limit` passes or the world is `over`, then stops all servers that it started.
pub async fn run(
    inside: &dyn Inside,
    stage: &Stage,
    env: Vec<(String, String)>,
    limit: Duration,
    over: impl Future<Output = ()>,
) -> Ran {
    let servers = Servers::default();
    let login = stage.login.as_ref().map(|login| (login.urls.clone(), login.doors.clone(), login.listeners.clone()));
    let (target, connect) = (stage.target.clone(), stage.connect());
    let reach = Reach { target, connect, login, servers: Rc::clone(&servers) };
    let began = Instant::now();
    // The future is dropped here, which closes its connections and pipes.
    let (ended, stopped) = tokio::select! {
        ended = timeout(limit, inside.run(env, reach)) => (ended.ok(), false),
        () = over => (None, true),
    };
    let took = began.elapsed();
    for (signals, _) in servers.borrow().iter().filter(|_| ended.is_none()) {
        let _ = signals.send(TERMINATED);
    }
    // Gives the servers time to record that the client has disconnected.
    sleep(LATENCY).await;
    for (_, process) in servers.borrow().iter() {
        process.abort();
    }
    let hung = ended.is_none() && !stopped;
    let status = Some(status(ended.as_ref().map(|ended| ended.code)));
    Ran { hung, stopped, status, stderr: ended.map(|ended| ended.stderr).unwrap_or_default(), took }
}

/// The status of a process that exited with this code, or that SIGTERM ended.
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
