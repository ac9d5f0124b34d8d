//! The server behind the proxy. Each connection of the client has its own connection to the server, as without the
//! proxy.

use std::{error::Error, sync::Arc};

use hyper::{
    HeaderMap, Request, Response, Uri,
    client::conn::http1::{self, SendRequest},
    header::{HOST, HeaderValue},
    http::uri::InvalidUri,
};
use hyper_util::rt::TokioIo;
use reqwest::{Body, Url};
use tokio::{net::TcpStream, sync::Mutex};

use super::body::RequestBody;
use crate::wire::transparent;

pub type Failed = Box<dyn Error + Send + Sync>;

/// Why there is no response.
pub enum NoResponse {
    /// No server accepts the connection.
    Unreachable(Failed),
    /// The server closed the connection instead.
    Closed(Failed),
}

/// They are about one connection, not about the request.
const OF_THE_CONNECTION: [&str; 3] = ["connection", "keep-alive", "proxy-connection"];

#[derive(Clone)]
pub struct Upstream {
    pub url: Url,
    /// Over TLS, connections are shared.
    secure: Option<reqwest::Client>,
}

/// The server connection of one client connection.
pub type Own = Arc<Mutex<Option<SendRequest<RequestBody>>>>;

impl Upstream {
    pub fn new(url: Url) -> Result<Self, String> {
        let secure = (url.scheme() == "https").then(transparent).transpose()?;
        Ok(Self { url, secure })
    }

    pub fn origin(&self) -> String {
        self.url.origin().ascii_serialization()
    }

    /// Sends the request there, with the headers as they are but for those that name the connection.
    pub async fn send(&self, own: &Own, mut request: Request<RequestBody>) -> Result<Response<Body>, NoResponse> {
        let unsent = |why: Failed| NoResponse::Unreachable(why);
        let headers = request.headers_mut();
        without_connection(headers);
        headers.insert(HOST, HeaderValue::try_from(self.authority()).map_err(|why| unsent(why.into()))?);
        if let Some(client) = &self.secure {
            let target = request.uri().path_and_query().map(ToString::to_string).unwrap_or_default();
            let url = format!("{}{target}", self.origin());
            *request.uri_mut() = url.parse().map_err(|why: InvalidUri| unsent(why.into()))?;
            let request = reqwest::Request::try_from(request.map(Body::wrap)).map_err(|why| unsent(why.into()))?;
            let failed = |why: reqwest::Error| {
                if why.is_connect() { unsent(why.into()) } else { NoResponse::Closed(why.into()) }
            };
            return client.execute(request).await.map(Into::into).map_err(failed);
        }
        let path = request.uri().path_and_query().cloned();
        *request.uri_mut() = path.map_or_else(|| Uri::from_static("/"), Into::into);
        let mut own = own.lock().await;
        if own.as_ref().is_none_or(SendRequest::is_closed) {
            *own = Some(self.connect().await.map_err(unsent)?);
        }
        let Some(sender) = own.as_mut() else { return Err(unsent("there is no connection".into())) };
        let closed = |why: hyper::Error| NoResponse::Closed(why.into());
        sender.ready().await.map_err(closed)?;
        let response = sender.send_request(request);
        drop(own);
        Ok(response.await.map_err(closed)?.map(Body::wrap))
    }

    async fn connect(&self) -> Result<SendRequest<RequestBody>, Failed> {
        let host = self.url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let stream = TcpStream::connect((host, self.url.port_or_known_default().unwrap_or(80))).await?;
        stream.set_nodelay(true).ok();
        let (sender, connection) =
            http1::Builder::new().preserve_header_case(true).handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(sender)
    }

    fn authority(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        self.url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }
}

pub fn without_connection(headers: &mut HeaderMap) {
    for name in OF_THE_CONNECTION {
        headers.remove(name);
    }
}
