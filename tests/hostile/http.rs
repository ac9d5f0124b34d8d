//! Misbehaving servers over HTTP, which write raw bytes to a socket.

use std::{
    collections::HashMap,
    io::{BufRead, BufReader, ErrorKind, Result, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread::{self, sleep},
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    good::{answer, twisted},
    stdio::endless_page,
};

const SECOND: Duration = Duration::from_secs(1);
/// Number of requests.
const LEAVES_AFTER: usize = 15;
const FOREVER: Duration = Duration::from_secs(1000);
/// The head of a response that ends when its connection is closed.
const EVENTS: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";

pub struct Server {
    /// Without a scheme.
    pub address: String,
    heard: Arc<Mutex<Vec<Request>>>,
}

#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    /// The path and the query.
    pub target: String,
    pub headers: HashMap<String, String>,
    pub body: Vec<u8>,
}

/// `elsewhere` is the target of redirects, for the traits that send some.
pub fn start(how: &'static str, elsewhere: &str) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let heard = Arc::<Mutex<Vec<Request>>>::default();
    let server = Server { address, heard: heard.clone() };
    let (elsewhere, asked) = (elsewhere.to_owned(), Arc::<AtomicUsize>::default());
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            if how == "leaves" && asked.load(Ordering::Relaxed) > LEAVES_AFTER {
                return;
            }
            let (heard, elsewhere, asked) = (heard.clone(), elsewhere.clone(), asked.clone());
            // The client may disconnect at any moment.
            thread::spawn(move || _ = serve(how, &stream, &elsewhere, &heard, &asked));
        }
    });
    server
}

impl Server {
    pub fn heard(&self) -> Vec<Request> {
        self.heard.lock().expect("nobody panics").clone()
    }
}

fn serve(
    how: &str,
    stream: &TcpStream,
    elsewhere: &str,
    heard: &Mutex<Vec<Request>>,
    asked: &AtomicUsize,
) -> Result<()> {
    stream.set_nodelay(true)?;
    if how == "mute" {
        sleep(FOREVER);
    }
    if how == "resets" {
        // Closing a connection with unread bytes resets it.
        stream.peek(&mut [0])?;
        return Ok(());
    }
    let mut reader = BufReader::new(stream);
    let mut out = stream;
    loop {
        let request = read(&mut reader)?;
        heard.lock().expect("nobody panics").push(request.clone());
        let message: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        if request.method == "GET" {
            // The id contains what was requested.
            let Some(answer) = request.headers.get("last-event-id") else {
                listen(how, out, elsewhere)?;
                continue;
            };
            return out.write_all(&[EVENTS, b"data: ", answer.as_bytes(), b"\n\n"].concat());
        }
        let Some(mut said) = answer(&message) else {
            out.write_all(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n")?;
            continue;
        };
        if how == "pages" {
            endless_page(&message, &mut said);
        }
        if how == "polls" && message["method"] == "initialize" {
            said["result"]["protocolVersion"] = json!("2025-11-25");
        }
        let asked_before = || asked.fetch_add(1, Ordering::Relaxed);
        let turned_away = match how {
            "puts-off" if asked_before() % 16 == 15 => Some("429 Slow down\r\nretry-after: 0"),
            "turns-away" if asked_before() > 15 => Some("429 Slow down\r\nretry-after: 3600"),
            "is-busy" if asked_before() % 16 == 15 => Some("503 Busy"),
            "forgets" if message["method"] != "initialize" => Some("404 Not Found"),
            _ => None,
        };
        if how == "demands-a-session" && message["method"] != "initialize" {
            let error = json!({ "code": -32000, "message": "Mcp-Session-Id header is required" });
            let body = json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }).to_string();
            let head = "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json";
            write!(out, "{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len())?;
            continue;
        }
        if let Some(status) = turned_away {
            write!(out, "HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n")?;
            continue;
        }
        if how == "leaves" && asked_before() >= LEAVES_AFTER {
            // Nothing must listen at the address any more when this connection ends.
            let address = stream.local_addr()?;
            while TcpStream::connect(address).is_ok() {}
            return Ok(());
        }
        if how == "stops" && asked.fetch_add(1, Ordering::Relaxed) > 5 {
            sleep(FOREVER);
        }
        let body = match message["method"] == "tools/list" {
            true => twisted(how, &said).unwrap_or_else(|| said.to_string().into()),
            false => said.to_string().into_bytes(),
        };
        if how == "polls" && message["method"] != "initialize" {
            let begun = [EVENTS, b"retry: 20\nid: ", &body, b"\ndata:\n\n"].concat();
            return out.write_all(&begun);
        }
        post(how, out, elsewhere, &body)?;
    }
}

/// Responds to a request.
fn post(how: &str, mut out: &TcpStream, elsewhere: &str, body: &[u8]) -> Result<()> {
    let ok = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
    let plain = |length: usize| format!("{ok}content-length: {length}\r\n\r\n").into_bytes();
    match how {
        "silent" => sleep(FOREVER),
        "drips" => {
            out.write_all(&plain(body.len()))?;
            for byte in body {
                out.write_all(&[*byte])?;
                sleep(SECOND);
            }
        }
        "floods-events" => {
            out.write_all(EVENTS)?;
            let text = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "info", "data": "x" } });
            flood(out, format!("data: {text}\n\n").as_bytes())?;
        }
        "floods-comments" => {
            out.write_all(EVENTS)?;
            flood(out, b": still here\n\n")?;
        }
        "keeps-alive" => {
            out.write_all(EVENTS)?;
            loop {
                out.write_all(b": still here\n\n")?;
                sleep(SECOND / 20);
            }
        }
        "splits-events" => {
            out.write_all(EVENTS)?;
            for byte in [b"event: message\r\ndata: ", body, b"\r\n\r\n"].concat() {
                out.write_all(&[byte])?;
            }
            return Err(ErrorKind::ConnectionAborted.into());
        }
        "mislabels" => {
            out.write_all(&[EVENTS, body].concat())?;
            return Err(ErrorKind::ConnectionAborted.into());
        }
        "huge-header" => {
            let header = format!("x-huge: {}\r\n", "x".repeat(1 << 20));
            out.write_all(&[ok.as_bytes(), header.as_bytes(), b"\r\n", body].concat())?;
        }
        "endless-headers" => {
            out.write_all(ok.as_bytes())?;
            flood(out, b"x-more: and more\r\n")?;
        }
        "chunked-garbage" => {
            out.write_all(&[ok.as_bytes(), b"transfer-encoding: chunked\r\n\r\nZZ\r\n", body].concat())?;
        }
        "short-length" => out.write_all(&[&plain(body.len() / 2), body].concat())?,
        "long-length" => {
            out.write_all(&[&plain(body.len() * 2), body].concat())?;
            return Err(ErrorKind::ConnectionAborted.into());
        }
        "bomb" => {
            let head = format!("{ok}content-encoding: gzip\r\ncontent-length: {}\r\n\r\n", body.len());
            out.write_all(&[head.as_bytes(), body].concat())?;
        }
        "endless-body" => {
            out.write_all(&[ok.as_bytes(), b"\r\n\""].concat())?;
            flood(out, b"xxxxxxxxxxxxxxxx")?;
        }
        "redirects" => {
            let head = "HTTP/1.1 307 Temporary Redirect\r\ncontent-length: 0\r\n";
            out.write_all(format!("{head}location: http://{elsewhere}/mcp\r\n\r\n").as_bytes())?;
        }
        "continues" => {
            out.write_all(&[&b"HTTP/1.1 100 Continue\r\n\r\n".repeat(3), &plain(body.len()), body].concat())?;
        }
        "continues-forever" => flood(out, b"HTTP/1.1 100 Continue\r\n\r\n")?,
        "http-1.0" => {
            out.write_all(&[b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n", body].concat())?;
            return Err(ErrorKind::ConnectionAborted.into());
        }
        "closes" => return Err(ErrorKind::ConnectionAborted.into()),
        "forgets" => {
            let head = format!("{ok}mcp-session-id: 7d1c\r\ncontent-length: {}\r\n\r\n", body.len());
            out.write_all(&[head.as_bytes(), body].concat())?;
        }
        _ => out.write_all(&[&plain(body.len()), body].concat())?,
    }
    Ok(())
}

/// Responds to a GET, with a stream for some traits.
fn listen(how: &str, mut out: &TcpStream, elsewhere: &str) -> Result<()> {
    match how {
        "streams-for-ever" => {
            out.write_all(EVENTS)?;
            let text = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "info", "data": "x" } });
            flood(out, format!("data: {text}\n\n").as_bytes())
        }
        "names-nothing" => {
            out.write_all(EVENTS)?;
            loop {
                out.write_all(b": still here\n\n")?;
                sleep(SECOND / 20);
            }
        }
        "names-another" => {
            out.write_all(EVENTS)?;
            out.write_all(format!("event: endpoint\ndata: http://{elsewhere}/messages\n\n").as_bytes())?;
            sleep(FOREVER);
            Ok(())
        }
        _ => out.write_all(b"HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\n\r\n"),
    }
}

fn flood(mut to: impl Write, piece: &[u8]) -> Result<()> {
    let pieces = piece.repeat((64 << 10) / piece.len() + 1);
    loop {
        to.write_all(&pieces)?;
    }
}

pub fn read(reader: &mut impl BufRead) -> Result<Request> {
    let mut line = || -> Result<String> {
        let mut line = String::new();
        match reader.read_line(&mut line)? {
            0 => Err(ErrorKind::UnexpectedEof.into()),
            _ => Ok(line.trim_end().to_owned()),
        }
    };
    let first = line()?;
    let mut words = first.split(' ').map(str::to_owned);
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut headers = HashMap::new();
    loop {
        let line = line()?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Request { method, target, headers, body })
}
