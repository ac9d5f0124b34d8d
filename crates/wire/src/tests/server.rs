//! A server that returns predefined bytes on each connection, well-formed or not.

use std::sync::{Arc, Mutex};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::mpsc,
};

pub struct Server {
    pub origin: String,
    requests: Arc<Mutex<Vec<String>>>,
    /// Receives an item each time that a client has left a connection that was held open.
    left: mpsc::UnboundedReceiver<()>,
}

pub enum Answer {
    /// Bytes to write before the connection is closed.
    Whole(String),
    /// Bytes to write; the connection stays open until the client leaves.
    Held(String),
}

impl Server {
    /// The first connection gets the first response, and so on.
    pub async fn start(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let origin = format!("http://{}", listener.local_addr().expect("an address"));
        let requests = Arc::<Mutex<Vec<String>>>::default();
        let (leave, left) = mpsc::unbounded_channel();
        let seen = requests.clone();
        tokio::spawn(async move {
            for answer in answers {
                let (socket, _) = listener.accept().await.expect("a connection");
                tokio::spawn(converse(socket, answer, seen.clone(), leave.clone()));
            }
        });
        Self { origin, requests, left }
    }

    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("requests").clone()
    }

    pub async fn client_left(&mut self) {
        self.left.recv().await.expect("a held connection");
    }
}

async fn converse(
    mut socket: TcpStream,
    answer: Answer,
    requests: Arc<Mutex<Vec<String>>>,
    leave: mpsc::UnboundedSender<()>,
) {
    let request = read(&mut socket).await;
    requests.lock().expect("requests").push(request);
    let (Answer::Whole(bytes) | Answer::Held(bytes)) = &answer;
    let _ = socket.write_all(bytes.as_bytes()).await;
    if matches!(answer, Answer::Held(_)) {
        while socket.read(&mut [0; 64]).await.is_ok_and(|length| length > 0) {}
        let _ = leave.send(());
    }
}

async fn read(socket: &mut TcpStream) -> String {
    let mut request = String::new();
    let mut buffer = [0; 4096];
    loop {
        let length = socket.read(&mut buffer).await.expect("a request");
        request.push_str(std::str::from_utf8(&buffer[..length]).expect("text"));
        if let Some((head, body)) = request.split_once("\r\n\r\n") {
            let announced = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= announced.map_or(0, |length| length.parse().expect("a length")) {
                return request;
            }
        }
        assert_ne!(length, 0, "the request broke off: {request}");
    }
}

/// A well-formed response.
pub fn response(status: &str, media: &str, body: &str) -> Answer {
    let length = body.len();
    Answer::Whole(format!(
        "HTTP/1.1 {status}\r\ncontent-type: {media}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    ))
}

/// The beginning of an event stream that ends with the connection.
pub fn stream(events: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nconnection: close\r\n\r\n{events}")
}
