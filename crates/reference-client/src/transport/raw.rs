//! One HTTP request on its own connection: no redirects, cookies or retries.

use std::{
    cell::RefCell,
    io,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll},
    time::Duration,
};

use http_body_util::{BodyExt, Full};
use hyper::{
    Request, Uri,
    body::{Bytes, Incoming},
    client::conn::http1,
    header::{HeaderName, HeaderValue},
};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    task::JoinHandle,
    time::timeout,
};

use crate::{
    behaviour::decisions::{Head, Posting},
    outside::{Outside, Stream},
};

/// A connection to a local server takes less than a millisecond; this is a guess for others.
const CONNECT: Duration = Duration::from_secs(10);

/// A guess: far more than any message of a world.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// The connection closes when this is dropped.
pub struct Guard(JoinHandle<()>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.abort();
    }
}

pub struct Answer {
    pub body: Incoming,
    pub guard: Guard,
}

pub async fn send(outside: &dyn Outside, posting: &Posting) -> Result<(Head, Answer), String> {
    let uri: Uri = posting.url.parse().map_err(|error| format!("{}: {error}", posting.url))?;
    if uri.scheme_str() != Some("http") {
        return Err(format!("{}: only http is supported", posting.url));
    }
    let host = uri.host().ok_or_else(|| format!("{}: no host", posting.url))?.trim_matches(['[', ']']).to_owned();
    let port = uri.port_u16().unwrap_or(80);
    let connecting = timeout(CONNECT, outside.connect(&host, port));
    let stream = connecting.await.map_err(|_| "no connection in time")?.map_err(|error| error.to_string())?;
    let written = Rc::new(RefCell::new(Vec::new()));
    let tee = Tee { stream, written: Rc::clone(&written) };
    let handshake = http1::handshake::<_, Full<Bytes>>(TokioIo::new(tee));
    let (mut sender, connection) = handshake.await.map_err(|error| error.to_string())?;
    let guard = Guard(tokio::task::spawn_local(async {
        connection.await.ok();
    }));
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let mut request = Request::builder().method(posting.method.as_str()).uri(path);
    if posting.get("host").is_none() {
        request = request.header("host", uri.authority().map_or("", |authority| authority.as_str()));
    }
    for (name, value) in &posting.headers {
        let name = HeaderName::try_from(name.as_str()).map_err(|error| format!("header {name}: {error}"))?;
        let value = HeaderValue::from_bytes(value).map_err(|error| format!("header {name}: {error}"))?;
        request = request.header(name, value);
    }
    let request = request.body(Full::new(Bytes::from(posting.body.clone()))).map_err(|error| error.to_string())?;
    let response = sender.send_request(request).await.map_err(|error| error.to_string())?;
    let text = |name: &str| {
        let value = response.headers().get(name)?;
        Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    let content_type = text("content-type");
    let media = content_type.as_deref().and_then(|value| value.split(';').next());
    let lines = response.headers().get_all("www-authenticate").iter();
    let head = Head {
        challenges: lines.map(|line| String::from_utf8_lossy(line.as_bytes()).into_owned()).collect(),
        status: response.status().as_u16(),
        media: media.map(|media| media.trim().to_ascii_lowercase()),
        session: text("mcp-session-id"),
        spelling: names(&written.borrow()),
        content_type,
        reads_body: true,
        unnoticed: false,
        disconnect: false,
    };
    Ok((head, Answer { body: response.into_body(), guard }))
}

/// The next bytes of a body; `None` at its end.
pub async fn frame(body: &mut Incoming) -> Option<Result<Bytes, hyper::Error>> {
    loop {
        match body.frame().await? {
            Ok(frame) => {
                if let Ok(data) = frame.into_data() {
                    return Some(Ok(data));
                }
            }
            Err(error) => return Some(Err(error)),
        }
    }
}

/// A complete body, if it is within the limit.
pub async fn whole(mut answer: Answer) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    while let Some(next) = frame(&mut answer.body).await {
        bytes.extend_from_slice(&next.map_err(|error| error.to_string())?);
        if bytes.len() > MOST_BYTES {
            return Err("the body is too long".to_owned());
        }
    }
    Ok(bytes)
}

/// Bytes of a response that are kept for the case of its header names.
const HEAD: usize = 16 * 1024;

/// The names of the headers in their original case, which the parser does not keep.
fn names(written: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(written);
    let head = text.split("\r\n\r\n").next().unwrap_or_default();
    head.lines().skip(1).filter_map(|line| Some(line.split_once(':')?.0.to_owned())).collect()
}

/// A stream that keeps the first bytes that are read.
struct Tee {
    stream: Box<dyn Stream>,
    written: Rc<RefCell<Vec<u8>>>,
}

impl AsyncRead for Tee {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context, buffer: &mut ReadBuf) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let done = Pin::new(&mut this.stream).poll_read(context, buffer);
        let mut written = this.written.borrow_mut();
        let room = HEAD.saturating_sub(written.len());
        written.extend(buffer.filled()[before..].iter().take(room));
        done
    }
}

impl AsyncWrite for Tee {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}
