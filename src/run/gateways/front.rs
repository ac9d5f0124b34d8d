//! A gateway that listens on a port: started, awaited, and killed with all its children.

use std::{process::Stdio, time::Duration};

use tokio::{
    net::{TcpListener, TcpStream},
    process::{Child, Command},
    sync::watch,
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};

use super::job::{Front, GatewayJob, filled};
use crate::{
    error::Error,
    evidence::{Exit, Transport},
    target::Start,
    wire::{
        self, Pipe, Secrets, Tail, last_words,
        process::group::{Group, Signal},
        start_failure,
    },
};

/// How often to check whether it listens. A guess.
const LOOK: Duration = Duration::from_millis(50);
/// From SIGTERM to SIGKILL. A guess.
const GRACE: Duration = Duration::from_secs(3);
/// Time for the rest of a line that the gateway is writing; a guess.
const LAST_LINE: Duration = Duration::from_secs(1);

pub struct Listening {
    process: Child,
    group: Group,
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
    let start = |transport: Transport, url: String| {
        if transport.capabilities().endpoint { Start::Sse { url, headers } } else { Start::Http { url, headers } }
    };
    match &job.front {
        Front::Process { command } => {
            let argv = filled(command, upstream, None);
            Ok((Start::Stdio { argv, env: job.env.clone(), cwd: job.cwd.clone() }, None))
        }
        Front::Port { command, transport, path } => {
            let port = free_port().await?;
            let argv = filled(command, upstream, Some(port));
            let listening = Listening::start(job, &argv, port).await?;
            Ok((start(*transport, format!("http://127.0.0.1:{port}{path}")), Some(listening)))
        }
        Front::Url { url, transport } => Ok((start(*transport, url.clone()), None)),
    }
}

/// A port that is free now.
async fn free_port() -> Result<u16, Error> {
    let found = async { TcpListener::bind(("127.0.0.1", 0)).await?.local_addr() }.await;
    found.map(|address| address.port()).map_err(|why| Error::usage(format!("cannot find a free port: {why}")))
}

impl Listening {
    /// Starts the command, and waits until something listens at the port.
    async fn start(job: &GatewayJob, argv: &[String], port: u16) -> Result<Self, Error> {
        let (env, cwd) = (&job.env, job.cwd.as_deref());
        let Some((program, arguments)) = argv.split_first() else { return Err(Error::usage("the command is empty")) };
        let mut command = Command::new(program);
        command.args(arguments).envs(env.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        if let Some(cwd) = cwd {
            command.current_dir(cwd);
        }
        Group::prepare(&mut command);
        let mut process = command.spawn().map_err(|why| {
            let failure = start_failure(program, cwd, &why);
            Error::Party { party: "gateway", tried: failure.tried, came: failure.came, help: failure.help }
        })?;
        let group = Group::of(process.id());
        let said = Tail::hiding(Secrets::of(job.secrets()));
        let (exit, exited) = watch::channel(None);
        let mut reading = Vec::new();
        if let (Some(stdout), Some(stderr)) = (process.stdout.take(), process.stderr.take()) {
            reading.push(tokio::spawn(said.clone().drain(Pipe::new(stdout, exited.clone()))));
            reading.push(tokio::spawn(said.clone().drain(Pipe::new(stderr, exited))));
        }
        let mut listening = Self { process, group, port, said, reading, exit };
        listening.wait(argv, job.limits.start).await?;
        Ok(listening)
    }

    async fn wait(&mut self, argv: &[String], limit: Duration) -> Result<(), Error> {
        let began = Instant::now();
        while began.elapsed() < limit {
            if TcpStream::connect(("127.0.0.1", self.port)).await.is_ok() {
                return Ok(());
            }
            if let Ok(Some(status)) = self.process.try_wait() {
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
        let line = shlex::try_join(argv.iter().map(String::as_str)).unwrap_or_else(|_| argv.join(" "));
        let said = last_words(&self.said().await).map(|line| format!("; it printed: {line}")).unwrap_or_default();
        Error::Party {
            party: "gateway",
            tried: format!("to start {line}"),
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
        self.group.signal(Signal::Term);
        if timeout(GRACE, self.process.wait()).await.is_err() {
            self.group.signal(Signal::Kill);
            let _ = timeout(GRACE, self.process.wait()).await;
        }
        self.group.signal(Signal::Kill);
        self.group.forget();
    }
}
