//! The reference server for one start of a client: at an HTTP port, or as a file that the client can start.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use tempfile::TempDir;
use tokio::{
    io::DuplexStream,
    net::TcpListener,
    sync::mpsc,
    task::{JoinHandle, JoinSet},
    time::{sleep, timeout},
};

mod http;
mod listener;

use self::http::serve_http;
pub use self::listener::Listener;
use super::{
    local,
    oauth::{Login, Origins},
    watched::{Spawned, serve_stub},
};
use crate::{
    error::Error,
    evidence::{Recorder, Transport},
    reference,
    reference::server::{
        Listening,
        oauth::{Origin, Secret},
    },
    tap::Tap,
    wire::Secrets,
};

/// The last messages may still arrive after a client has left. A guess.
const LAST: Duration = Duration::from_millis(500);

/// A client that restarts its server does so within this time; a guess.
const AGAIN: Duration = Duration::from_secs(2);

/// A gateway ends its session with the upstream within this time after its own client has left; a guess.
const SESSION_END: Duration = Duration::from_secs(3);
/// How often to check; a guess.
const LOOK: Duration = Duration::from_millis(10);

/// Any free port.
pub const ANYWHERE: &str = "127.0.0.1:0";

pub struct Stage {
    /// What a client connects to: a URL, or the path of a file.
    pub target: String,
    serving: JoinHandle<()>,
    /// Over HTTP only.
    listening: Option<Listening>,
    spawned: mpsc::UnboundedReceiver<Spawned>,
    ended: Vec<Spawned>,
    last_end: Option<Instant>,
    links: Arc<Mutex<Vec<u32>>>,
    folder: TempDir,
    /// In memory: how a client gets a connection.
    connect: mpsc::UnboundedSender<DuplexStream>,
    /// Only in a world with authorization.
    pub login: Option<Login>,
}

impl Stage {
    pub async fn open(
        options: reference::server::Options,
        transport: Transport,
        scenario: &str,
        place: Place<'_>,
        recorder: &Recorder,
        secrets: &Secrets,
    ) -> Result<Self, Error> {
        let behind = matches!(place, Place::System { behind: true, .. });
        let failed = |what: &str, why: &dyn std::fmt::Display| Error::usage(format!("cannot {what}: {why}"));
        let folder = tempfile::Builder::new().prefix("mcp-conform-").tempdir();
        let folder = folder.map_err(|why| failed("make a temporary directory", &why))?;
        let (tell, spawned) = mpsc::unbounded_channel();
        let links = Arc::<Mutex<Vec<u32>>>::default();
        let (connect, connected) = mpsc::unbounded_channel();
        let memory = || Listener::Memory(connected);
        let mut login = None;
        let (target, serving, listening) = if transport.capabilities().process {
            let (socket, file) = (folder.path().join("socket"), folder.path().join("server"));
            let listener = match place {
                Place::Memory => memory(),
                Place::System { program, .. } => {
                    let listener = local::listen(&socket).map_err(|why| failed("listen on a local socket", &why))?;
                    local::executable(&file, program, &socket)
                        .map_err(|why| failed("make a file for the client to start", &why))?;
                    Listener::Socket(listener)
                }
            };
            let opening = Opening {
                recorder: recorder.clone(),
                secrets: secrets.clone(),
                scenario: scenario.to_owned(),
                transport,
                links: Arc::clone(&links),
                behind,
            };
            let serving = tokio::spawn(serve_processes(listener, options, opening, tell));
            (file.display().to_string(), serving, None)
        } else {
            let listening = Listening::new(options).map_err(Error::usage)?;
            let (listener, address) = match place {
                Place::Memory => (memory(), ADDRESS.to_owned()),
                Place::System { address, .. } => {
                    let listener = TcpListener::bind(address).await;
                    let listener = listener.map_err(|why| failed(&format!("listen on {address}"), &why))?;
                    let address = listener.local_addr().map_err(|why| failed("listen on a port", &why))?;
                    (Listener::Port(listener), address.to_string())
                }
            };
            let (path, query) = (transport.capabilities().path, listening.query());
            let memory = matches!(place, Place::Memory).then(|| (address.clone(), connect.clone()));
            let opening = Opening {
                recorder: recorder.clone(),
                secrets: secrets.clone(),
                scenario: scenario.to_owned(),
                transport,
                links: links.clone(),
                behind,
            };
            let mut tap = opening.link();
            if listening.is_authorized() {
                let origins = Origins::open(memory.is_some()).await;
                let origins = origins.map_err(|why| failed("listen on a port", &why))?;
                listening.at(origins.urls(&address));
                let mut opened = Login::new(&origins, &address, memory.as_ref());
                for at in origins.all {
                    let (listening, journal) = (listening.clone(), Some(opened.journal.clone()));
                    opened.tasks.spawn(serve_http(at.origin, at.listener, listening, opening.aside(), journal));
                }
                if let Place::System { program, .. } = place {
                    opened.offer_openers(folder.path(), program).map_err(|why| failed("make an opener", &why))?;
                }
                tap = tap.unsettled();
                login = Some(opened);
            }
            let journal = login.as_ref().map(|login| login.journal.clone());
            let serving = tokio::spawn(serve_http(Origin::Mcp, listener, listening.clone(), tap, journal));
            (format!("http://{address}{path}{query}"), serving, Some(listening))
        };
        let (ended, last_end) = (Vec::new(), None);
        Ok(Self { target, serving, listening, spawned, ended, last_end, links, folder, connect, login })
    }

    /// The folder of this start, which is removed with it.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// In a world with authorization: everything that was issued.
    pub fn secrets(&self) -> Vec<Secret> {
        self.listening.as_ref().map(Listening::secrets).unwrap_or_default()
    }

    pub fn report(&self) -> PathBuf {
        self.folder.path().join("report.jsonl")
    }

    /// Whether every process that a client started has ended. Over HTTP no client announces that it leaves for good.
    pub fn is_left(&mut self) -> bool {
        while let Ok(spawned) = self.spawned.try_recv() {
            self.ended.push(spawned);
            self.last_end = Some(Instant::now());
        }
        // Some clients start a server to inspect it, and start it again to use it.
        let since = self.last_end.map(|last| last.elapsed());
        since.is_some_and(|since| since > AGAIN) && self.ended.len() == self.links().len()
    }

    /// Waits briefly until every session is ended; a client may leave without ending its session.
    pub async fn until_sessions_end(&self) {
        let ended = async {
            while self.listening.as_ref().is_some_and(Listening::has_clients) {
                sleep(LOOK).await;
            }
        };
        let _ = timeout(SESSION_END, ended).await;
    }

    /// The connections so far.
    pub fn links(&self) -> Vec<u32> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The connections so far, and all later ones.
    pub fn live_links(&self) -> Arc<Mutex<Vec<u32>>> {
        Arc::clone(&self.links)
    }

    pub fn connect(&self) -> mpsc::UnboundedSender<DuplexStream> {
        self.connect.clone()
    }

    /// Called after the client has ended: returns its connections and the processes that it started.
    pub async fn close(mut self) -> (Vec<u32>, Vec<Spawned>) {
        // Each process reports its end; processes that a client left running do not.
        while let Ok(Some(spawned)) = timeout(LAST, self.spawned.recv()).await {
            self.ended.push(spawned);
            if self.ended.len() == self.links().len() {
                break;
            }
        }
        self.serving.abort();
        let _ = (&mut self.serving).await;
        while let Ok(spawned) = self.spawned.try_recv() {
            self.ended.push(spawned);
        }
        (self.links(), self.ended)
    }
}

/// Where a client finds its server.
#[derive(Clone, Copy)]
pub enum Place<'a> {
    /// At this address, or as a file that starts this program. `behind`: a gateway is between the client and the
    /// server.
    System { program: &'a Path, address: &'a str, behind: bool },
    /// Inside this process.
    Memory,
}

/// The address in the URL in memory.
const ADDRESS: &str = "127.0.0.1:3000";

/// What the recorder needs to open a new connection.
struct Opening {
    recorder: Recorder,
    secrets: Secrets,
    scenario: String,
    transport: Transport,
    links: Arc<Mutex<Vec<u32>>>,
    behind: bool,
}

impl Opening {
    fn link(&self) -> Tap {
        let tap = self.aside();
        if self.behind {
            self.recorder.behind(tap.link());
        }
        self.links.lock().unwrap_or_else(PoisonError::into_inner).push(tap.link());
        tap
    }

    /// A connection to something else than the MCP server.
    fn aside(&self) -> Tap {
        let link = self.recorder.open_link(self.transport);
        self.recorder.in_scenario(link, &self.scenario);
        Tap::new(self.recorder.clone(), link).hiding(self.secrets.clone())
    }
}

async fn serve_processes(
    mut listener: Listener,
    options: reference::server::Options,
    opening: Opening,
    tell: mpsc::UnboundedSender<Spawned>,
) {
    // Connections end with the set, and the set ends with this function.
    let mut processes = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok(stream) = accepted else { continue };
                let links = opening.links.lock().unwrap_or_else(PoisonError::into_inner).len();
                let tap = opening.link();
                let served = Box::pin(serve_stub(stream, options.clone(), tap, links));
                let tell = tell.clone();
                processes.spawn(async move { _ = tell.send(served.await) });
            }
            Some(_) = processes.join_next() => {}
        }
    }
}
