//! A gateway that listens on a port: started, awaited, and killed with all its children.

use std::{
    ops::Range,
    sync::atomic::{AtomicU16, Ordering},
    time::Duration,
};

use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};

use super::job::{Front, GatewayJob, filled};
use crate::{
    error::Error,
    evidence::Exit,
    target::{Program, Start, command_line},
    wire::{
        self, Pipe, Secrets, Tail, last_words,
        process::{Piped, Process, group::Signal},
    },
};

/// How often to check whether it listens. A guess.
const LOOK: Duration = Duration::from_millis(50);
/// From SIGTERM to SIGKILL. A guess.
const GRACE: Duration = Duration::from_secs(3);
/// Time for the rest of a line that the gateway is writing; a guess.
const LAST_LINE: Duration = Duration::from_secs(1);

pub struct Listening {
    process: Process,
    port: u16,
    said: Tail,
    /// Reads both outputs.
    reading: Vec<JoinHandle<()>>,
    /// Signals the readers that the process has exited.
    exit: watch::Sender<Option<Exit>>,
}

/// How our client reaches the gateway, and its process if it listens on a port.
pub async fn reach(
    job: &GatewayJob,
    upstream: &str,
    headers: Vec<(String, String)>,
) -> Result<(Start, Option<Listening>), Error> {
    let program = |argv| Program { argv, env: job.env.clone(), cwd: job.cwd.clone() };
    match &job.front {
        Front::Process { command } => Ok((Start::Program(program(filled(command, upstream, None))), None)),
        Front::Port { command, transport, path } => {
            let port = free_port().await?;
            let program = program(filled(command, upstream, Some(port)));
            let listening = Listening::start(job, &program, port).await?;
            Ok((Start::over(*transport, format!("http://127.0.0.1:{port}{path}"), headers), Some(listening)))
        }
        Front::Url { url, transport } => Ok((Start::over(*transport, url.clone(), headers), None)),
    }
}

/// Ports that systems give to no connection of their own accord: one of those could be taken before the gateway listens.
const PORTS: Range<u16> = 20_000..32_000;

/// A port that is free now, and was not chosen before.
async fn free_port() -> Result<u16, Error> {
    static CHOSEN: AtomicU16 = AtomicU16::new(0);
    let count = PORTS.end - PORTS.start;
    // Programs that run at the same time begin at different ports.
    let first = u16::try_from(std::process::id() * 97 % u32::from(count)).unwrap_or_default();
    for _ in PORTS {
        let port = PORTS.start + (first + CHOSEN.fetch_add(1, Ordering::Relaxed) % count) % count;
        if TcpListener::bind(("127.0.0.1", port)).await.is_ok() {
            return Ok(port);
        }
    }
    Err(Error::usage(format!("no port from {} to {} is free", PORTS.start, PORTS.end)))
}

impl Listening {
    /// Starts the command, and waits until something listens at the port.
    async fn start(job: &GatewayJob, program: &Program, port: u16) -> Result<Self, Error> {
        let mut process = Process::start(program, Piped::Outputs).map_err(|failure| failure.of("gateway"))?;
        let said = Tail::hiding(Secrets::of(job.secrets()));
        let (exit, exited) = watch::channel(None);
        let mut reading = Vec::new();
        if let (Some(stdout), Some(stderr)) = (process.child.stdout.take(), process.child.stderr.take()) {
            reading.push(tokio::spawn(said.clone().drain(Pipe::new(stdout, exited.clone()))));
            reading.push(tokio::spawn(said.clone().drain(Pipe::new(stderr, exited))));
        }
        let mut listening = Self { process, port, said, reading, exit };
        listening.wait(&program.argv, job.limits.start).await?;
        Ok(listening)
    }

    async fn wait(&mut self, argv: &[String], limit: Duration) -> Result<(), Error> {
        let began = Instant::now();
        while began.elapsed() < limit {
            if TcpStream::connect(("127.0.0.1", self.port)).await.is_ok() {
                return Ok(());
            }
            if let Ok(Some(status)) = self.process.child.try_wait() {
                self.exit.send_replace(Some(wire::exit(status)));
                for reading in &mut self.reading {
                    let _ = timeout(GRACE, reading).await;
                }
                let came = format!("it exited ({status}) before it listened at port {}", self.port);
                return Err(self.failed(argv, &came).await);
            }
            sleep(LOOK).await;
        }
        let came = format!("nothing listened at port {} within {limit:?} (--timeout)", self.port);
        Err(self.failed(argv, &came).await)
    }

    async fn failed(&self, argv: &[String], came: &str) -> Error {
        let said = last_words(&self.said().await).map(|line| format!("; it printed: {line}")).unwrap_or_default();
        Error::Party {
            party: "gateway",
            tried: format!("to start {}", command_line(argv)),
            came: format!("{came}{said}"),
            help: "{port} in the command is replaced by the port at which the gateway has to listen".to_owned(),
        }
    }

    /// The end of its output, without secrets. It may be writing a line.
    pub async fn said(&self) -> String {
        let complete = async {
            while self.said.is_within_line() {
                sleep(LOOK).await;
            }
        };
        if !self.reading.iter().all(JoinHandle::is_finished) && timeout(LAST_LINE, complete).await.is_err() {
            self.said.mark_cut();
        }
        self.said.text()
    }

    pub async fn end(mut self) {
        self.process.stop(GRACE).await;
        self.process.group.signal(Signal::Kill);
        self.process.group.forget();
    }
}
