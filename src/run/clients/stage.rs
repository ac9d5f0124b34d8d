//! The reference server for one start of a client: at an HTTP port, or as a file that the client can start.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use hyper::{Request, Response, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tempfile::TempDir;
use tokio::{
    net::TcpListener,
    sync::mpsc,
    task::{JoinHandle, JoinSet},
    time::timeout,
};

use super::{
    local,
    watched::{Spawned, serve_stub},
};
use crate::{
    error::Error,
    evidence::{Ended, Recorder, Transport},
    reference::{self, Listening, http::HungUp},
    tap::{Exchange, Tap, TappedBody},
};

/// After a client has left, what it sent last may still be on its way.
const LAST: Duration = Duration::from_millis(500);

/// Where it is, over HTTP, and whether a gateway stands before it.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    pub address: &'a str,
    pub behind: bool,
}

/// Any free port.
pub const ANYWHERE: &str = "127.0.0.1:0";

pub struct Stage {
    /// What a client connects to: a URL, or the path of a file.
    pub target: String,
    serving: JoinHandle<()>,
    spawned: mpsc::UnboundedReceiver<Spawned>,
    links: Arc<Mutex<Vec<u32>>>,
    folder: TempDir,
}

impl Stage {
    pub async fn open(
        options: reference::Options,
        transport: Transport,
        scenario: &str,
        program: &Path,
        recorder: &Recorder,
        place: Place<'_>,
    ) -> Result<Self, Error> {
        let failed = |what: &str, why: &dyn std::fmt::Display| Error::usage(format!("cannot {what}: {why}"));
        let folder = tempfile::Builder::new().prefix("mcp-conform-").tempdir();
        let folder = folder.map_err(|why| failed("make a temporary directory", &why))?;
        let (tell, spawned) = mpsc::unbounded_channel();
        let links = Arc::<Mutex<Vec<u32>>>::default();
        let (target, serving) = if transport.capabilities().process {
            let (socket, file) = (folder.path().join("socket"), folder.path().join("server"));
            let listener = local::listen(&socket).map_err(|why| failed("listen on a local socket", &why))?;
            local::executable(&file, program, &socket)
                .map_err(|why| failed("make a file for the client to start", &why))?;
            let opening = Opening {
                recorder: recorder.clone(),
                scenario: scenario.to_owned(),
                transport,
                links: Arc::clone(&links),
                behind: place.behind,
            };
            (file.display().to_string(), tokio::spawn(serve_processes(listener, options, opening, tell)))
        } else {
            let listening = Listening::new(options).map_err(Error::usage)?;
            let listener = TcpListener::bind(place.address).await;
            let listener = listener.map_err(|why| failed(&format!("listen on {}", place.address), &why))?;
            let address = listener.local_addr().map_err(|why| failed("listen on a port", &why))?;
            let path = if transport.capabilities().endpoint { "sse" } else { "mcp" };
            let opening = Opening {
                recorder: recorder.clone(),
                scenario: scenario.to_owned(),
                transport,
                links: links.clone(),
                behind: place.behind,
            };
            let serving = tokio::spawn(serve_http(listener, listening, opening.link()));
            (format!("http://{address}/{path}"), serving)
        };
        Ok(Self { target, serving, spawned, links, folder })
    }

    pub fn report(&self) -> PathBuf {
        self.folder.path().join("report.jsonl")
    }

    /// The client is gone: the connections that it had, and the processes that it started.
    pub async fn close(mut self) -> (Vec<u32>, Vec<Spawned>) {
        let mut all = Vec::new();
        // Each process reports its end; those that a client left running do not.
        while let Ok(Some(spawned)) = timeout(LAST, self.spawned.recv()).await {
            all.push(spawned);
            let links = self.links.lock().unwrap_or_else(PoisonError::into_inner).len();
            if all.len() == links {
                break;
            }
        }
        self.serving.abort();
        let _ = (&mut self.serving).await;
        while let Ok(spawned) = self.spawned.try_recv() {
            all.push(spawned);
        }
        let links = self.links.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (links, all)
    }
}

/// What a new connection is recorded under.
struct Opening {
    recorder: Recorder,
    scenario: String,
    transport: Transport,
    links: Arc<Mutex<Vec<u32>>>,
    behind: bool,
}

impl Opening {
    fn link(&self) -> Tap {
        let link = self.recorder.open_link(self.transport);
        self.recorder.in_scenario(link, &self.scenario);
        if self.behind {
            self.recorder.behind(link);
        }
        self.links.lock().unwrap_or_else(PoisonError::into_inner).push(link);
        Tap::new(self.recorder.clone(), link)
    }
}

async fn serve_processes(
    listener: local::Listener,
    options: reference::Options,
    opening: Opening,
    tell: mpsc::UnboundedSender<Spawned>,
) {
    // Connections end with the set, and the set with this function.
    let mut processes = JoinSet::new();
    loop {
        tokio::select! {
            accepted = local::accept(&listener) => {
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

async fn serve_http(listener: TcpListener, listening: Listening, tap: Tap) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { continue };
                stream.set_nodelay(true).ok();
                let (listening, tap) = (listening.clone(), tap.clone());
                connections.spawn(async move {
                    let service = service_fn(|request| respond(listening.clone(), tap.clone(), request));
                    let mut http = http1::Builder::new();
                    http.timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), service).await.ok();
                });
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn respond(
    listening: Listening,
    tap: Tap,
    request: Request<Incoming>,
) -> Result<Response<TappedBody<reference::http::Body>>, HungUp> {
    let (head, body) = request.into_parts();
    let bytes = reference::http::whole_body(body).await.ok_or(HungUp)?;
    let mut exchange = Exchange::begin(tap, &head, &bytes);
    match listening.respond(head, bytes).await {
        Ok(reply) => {
            let (head, body) = reply.into_parts();
            exchange.respond(&head);
            Ok(Response::from_parts(head, TappedBody::new(body, exchange)))
        }
        Err(hung_up) => {
            exchange.end(Ended::Broken);
            Err(hung_up)
        }
    }
}
