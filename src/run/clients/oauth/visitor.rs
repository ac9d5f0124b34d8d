//! The user's browser: visits the URLs that the client opens, and follows redirects back to the client.

use std::{
    collections::HashMap,
    io,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use http_body_util::{BodyExt, Empty, Limited};
use hyper::{Request, Uri, body::Bytes, client::conn::http1, header::LOCATION};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite, DuplexStream, duplex},
    net::TcpStream,
    sync::mpsc,
    task::JoinSet,
    time::{Instant, sleep, timeout},
};

use super::journal::{Journal, Visit};

/// What the browser calls itself.
pub const USER_AGENT: &str = "mcp-conform-browser";
/// As browsers stop at about twenty, and no login needs more than two.
const REDIRECTS: usize = 10;
/// fastmcp starts to listen after it has opened the browser: half of the immediate visits were lost.
const PATIENCE: Duration = Duration::from_secs(10);
const AGAIN: Duration = Duration::from_millis(100);
/// For one page; a guess. The page of the client may wait for the token endpoint.
const PAGE: Duration = Duration::from_secs(10);
const LONGEST: usize = 1 << 20;
/// Time for a client that prints a URL to open it as well.
const PRINTED: Duration = Duration::from_secs(2);
/// Capacity of a pipe on Linux.
const CAPACITY: usize = 64 << 10;

/// How the harness got a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    Opened,
    Printed,
}

impl How {
    pub fn word(self) -> &'static str {
        match self {
            Self::Opened => "opened",
            Self::Printed => "printed",
        }
    }
}

/// In memory: where clients listen, by port.
pub type Listeners = Arc<Mutex<HashMap<u16, mpsc::UnboundedSender<DuplexStream>>>>;
/// In memory: the origins, by host and port.
pub type Doors = Vec<(String, mpsc::UnboundedSender<DuplexStream>)>;

/// How addresses are reached.
#[derive(Clone)]
pub enum Dial {
    System,
    Memory { doors: Doors, listeners: Listeners },
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

impl Dial {
    async fn connect(&self, host: &str, port: u16) -> io::Result<Box<dyn Stream>> {
        match self {
            Self::System => Ok(Box::new(TcpStream::connect((host.trim_matches(['[', ']']), port)).await?)),
            Self::Memory { doors, listeners } => {
                let (near, far) = duplex(CAPACITY);
                let door =
                    doors.iter().find(|(known, _)| *known == format!("{host}:{port}")).map(|(_, door)| door.clone());
                let door =
                    door.or_else(|| listeners.lock().unwrap_or_else(PoisonError::into_inner).get(&port).cloned());
                let sent = door.and_then(|door| door.send(far).ok());
                sent.map(|()| Box::new(near) as Box<dyn Stream>).ok_or_else(|| io::ErrorKind::ConnectionRefused.into())
            }
        }
    }
}

#[derive(Clone)]
pub struct Visitor {
    pub dial: Dial,
    pub journal: Journal,
    /// The origins of the world, as the beginnings of URLs.
    pub origins: Vec<String>,
}

impl Visitor {
    /// Visits each URL that is received, until it is dropped.
    pub async fn run(self, mut urls: mpsc::UnboundedReceiver<(How, String)>) {
        let mut visits = JoinSet::new();
        loop {
            tokio::select! {
                url = urls.recv() => match url {
                    Some((how, url)) => {
                        let visitor = self.clone();
                        visits.spawn(async move { visitor.visit(how, url).await });
                    }
                    None => break,
                },
                Some(_) = visits.join_next() => {}
            }
        }
        while visits.join_next().await.is_some() {}
    }

    async fn visit(&self, how: How, url: String) {
        let at = Instant::now();
        if how == How::Printed {
            sleep(PRINTED).await;
            if self.journal.lock().visits.iter().any(|visit| visit.url == url) {
                return;
            }
        }
        let visit = Visit { at, url: url.clone(), how, delivered: None, end: "on its way".to_owned() };
        // It is known while it is on its way, so that it is not visited a second time.
        self.journal.visited(visit.clone());
        let (delivered, end) = self.follow(&url).await;
        let mut kept = self.journal.lock();
        if let Some(known) = kept.visits.iter_mut().find(|known| known.at == at && known.url == url) {
            (known.delivered, known.end) = (delivered, end);
        }
        drop(kept);
        self.journal.touch();
    }

    /// Where the last redirect led, if that was not an origin of the world, and how it ended.
    async fn follow(&self, first: &str) -> (Option<String>, String) {
        let mut url = first.to_owned();
        for _ in 0..=REDIRECTS {
            let ours = self.origins.iter().any(|origin| url.starts_with(origin.as_str()));
            let uri: Uri = match url.split('#').next().unwrap_or_default().parse() {
                Ok(uri) => uri,
                Err(error) => return (None, format!("{url} is not a URL: {error}")),
            };
            let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
            let local = matches!(host, "localhost" | "127.0.0.1" | "::1");
            if uri.scheme_str() != Some("http") || !local {
                return (None, format!("{url} is not on this machine"));
            }
            let (status, location) = match self.page(&uri).await {
                Ok(page) => page,
                Err(why) => return (None, format!("{url}: {why}")),
            };
            match location.filter(|_| (300..400).contains(&status)) {
                Some(next) => url = next,
                None if ours => return (None, format!("{url} returned {status}")),
                None => return (Some(url), format!("the client returned {status}")),
            }
        }
        (None, format!("more than {REDIRECTS} redirects"))
    }

    /// Status and Location of one page.
    async fn page(&self, uri: &Uri) -> Result<(u16, Option<String>), String> {
        let (host, port) = (uri.host().unwrap_or_default(), uri.port_u16().unwrap_or(80));
        let began = Instant::now();
        let stream = loop {
            match self.dial.connect(host, port).await {
                Ok(stream) => break stream,
                Err(_) if began.elapsed() < PATIENCE => sleep(AGAIN).await,
                Err(error) => return Err(error.to_string()),
            }
        };
        let exchange = async {
            let handshake = http1::handshake::<_, Empty<Bytes>>(TokioIo::new(stream)).await;
            let (mut sender, connection) = handshake.map_err(|error| error.to_string())?;
            let serving = tokio::spawn(connection);
            let path = uri.path_and_query().map_or("/", |path| path.as_str());
            let request = Request::get(path)
                .header("host", uri.authority().map_or("", |authority| authority.as_str()))
                .header("user-agent", USER_AGENT)
                .header("accept", "text/html, */*;q=0.8")
                .header("connection", "close")
                .body(Empty::new());
            let request = request.map_err(|error| error.to_string())?;
            let response = sender.send_request(request).await.map_err(|error| error.to_string())?;
            let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok()).map(str::to_owned);
            let status = response.status().as_u16();
            // The page is read to its end, as a browser would. Its text does not matter.
            Limited::new(response.into_body(), LONGEST).collect().await.ok();
            serving.abort();
            Ok((status, location))
        };
        timeout(PAGE, exchange).await.unwrap_or_else(|_| Err("no response in time".to_owned()))
    }
}
