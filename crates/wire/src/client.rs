//! A plain HTTP client: it follows no redirects, decompresses nothing, keeps no cookies and does not retry.

use std::{
    error::Error,
    io,
    net::IpAddr,
    sync::{Arc, OnceLock},
    time::Duration,
};

use hyper::{
    Uri,
    client::conn::http1,
    header::{ACCEPT, HOST, HeaderValue, USER_AGENT},
};
use hyper_util::rt::TokioIo;
use reqwest::{Body, ClientBuilder, Method, Request, RequestBuilder, Response, Url, redirect, retry, tls::Certificate};
use tokio::net::TcpStream;

use crate::target::Inside;

/// Why there is no response.
pub type Failed = Box<dyn Error + Send + Sync>;

/// The `User-Agent`.
const NAME: &str = concat!("mcp-conform", "/", env!("CARGO_PKG_VERSION"));

#[derive(Clone)]
pub struct Client {
    reqwest: reqwest::Client,
    titled: bool,
    inside: Option<Arc<dyn Inside>>,
}

impl Client {
    pub fn request(&self, method: Method, url: Url) -> RequestBuilder {
        self.reqwest.request(method, url)
    }

    pub async fn execute(&self, request: Request) -> Result<Response, Failed> {
        match &self.inside {
            Some(inside) => self.execute_inside(&**inside, request).await,
            None => Ok(self.reqwest.execute(request).await?),
        }
    }

    /// Each request has its own connection.
    async fn execute_inside(&self, inside: &dyn Inside, request: Request) -> Result<Response, Failed> {
        let mut request = hyper::Request::<Body>::try_from(request)?;
        let authority = request.uri().authority().map(ToString::to_string).unwrap_or_default();
        let stream = inside.connect(&authority).ok_or_else(|| io::Error::from(io::ErrorKind::ConnectionRefused))?;
        let path = request.uri().path_and_query().cloned();
        *request.uri_mut() = path.map_or_else(|| Uri::from_static("/"), Into::into);
        let headers = request.headers_mut();
        headers.entry(USER_AGENT).or_insert(HeaderValue::from_static(NAME));
        headers.entry(ACCEPT).or_insert(HeaderValue::from_static("*/*"));
        headers.entry(HOST).or_insert(HeaderValue::try_from(authority)?);
        let mut builder = http1::Builder::new();
        let builder = builder.title_case_headers(self.titled);
        let (mut sender, connection) = builder.handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(sender.send_request(request).await?.map(Body::wrap).into())
    }

    /// Whether a local server has just exited: nothing listens at its address any more. For a remote server a proxy may
    /// cause the same error.
    pub async fn is_gone(&self, url: &Url) -> bool {
        let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else { return false };
        let host = host.trim_matches(['[', ']']);
        let local = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        let refused = |error: io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
        local && self.inside.is_none() && TcpStream::connect((host, port)).await.is_err_and(refused)
    }
}

/// A guess: shorter than any server keeps an idle connection. Reusing one that is being closed looks like a bug of the
/// server.
const IDLE: Duration = Duration::from_secs(1);

pub struct Clients {
    connect: Duration,
    inside: Option<Arc<dyn Inside>>,
    plain: OnceLock<Client>,
    titled: OnceLock<Client>,
    secure: OnceLock<Client>,
}

impl Clients {
    pub fn new(connect: Duration, inside: Option<&Arc<dyn Inside>>) -> Self {
        Self {
            connect,
            inside: inside.cloned(),
            plain: OnceLock::new(),
            titled: OnceLock::new(),
            secure: OnceLock::new(),
        }
    }

    /// A client that writes names of headers in title case (`Mcp-Method`), where the usual one writes them in lower
    /// case. Over TLS it is the usual one: HTTP/2 only has lower case.
    pub fn titled(&self, scheme: &str) -> Result<&Client, String> {
        if scheme != "http" {
            return self.speaking(scheme);
        }
        if let Some(client) = self.titled.get() {
            return Ok(client);
        }
        let reqwest = finish(self.builder().http1_title_case_headers())?;
        Ok(self.titled.get_or_init(|| Client { reqwest, titled: true, inside: self.inside.clone() }))
    }

    /// Created on first use: loading the root certificates takes longer than a whole run against a local server.
    pub fn speaking(&self, scheme: &str) -> Result<&Client, String> {
        let (slot, secure) = match scheme {
            "http" => (&self.plain, false),
            "https" => (&self.secure, true),
            other => return Err(format!("{other} is neither http nor https")),
        };
        if let Some(client) = slot.get() {
            return Ok(client);
        }
        let builder = self.builder();
        let reqwest = if secure {
            builder.build().map_err(|error| super::failure::reason(&error).words)
        } else {
            finish(builder)
        }?;
        Ok(slot.get_or_init(|| Client { reqwest, titled: false, inside: self.inside.clone() }))
    }

    fn builder(&self) -> ClientBuilder {
        // This fails if a provider is already installed, which works as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        reqwest::Client::builder()
            .user_agent(NAME)
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .no_proxy()
            .tcp_nodelay(true)
            .connect_timeout(self.connect)
            .pool_idle_timeout(IDLE)
    }
}

/// A client over TLS that adds as little to a request as possible.
pub fn transparent() -> Result<reqwest::Client, String> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = reqwest::Client::builder().redirect(redirect::Policy::none()).retry(retry::never()).no_proxy();
    let client = builder.tcp_nodelay(true).pool_idle_timeout(IDLE).http1_only().build();
    client.map_err(|error| super::failure::reason(&error).words)
}

/// Without TLS no certificates are needed.
fn finish(builder: ClientBuilder) -> Result<reqwest::Client, String> {
    let client = builder.tls_certs_only(std::iter::empty::<Certificate>()).build();
    client.map_err(|error| super::failure::reason(&error).words)
}
