//! The reference server over HTTP, and servers that do not speak MCP.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpListener,
    process::{Child, Command, Stdio},
    thread,
};

use crate::PROGRAM;

/// The reference server on a free port, until it is dropped.
pub struct Reference {
    process: Child,
    pub http: String,
    pub sse: String,
}

impl Reference {
    pub fn start() -> Self {
        Self::with(&[])
    }

    /// A server that requires a token.
    pub fn protected() -> Self {
        Self::with(&["--protected"])
    }

    pub fn with(options: &[&str]) -> Self {
        let mut process = Command::new(PROGRAM)
            .args(["serve", "--http", "127.0.0.1:0"])
            .args(options)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut lines = BufReader::new(process.stdout.take().expect("a pipe")).lines();
        let mut url = || lines.next().expect("it says where it listens").expect("UTF-8");
        Self { http: url(), sse: url(), process }
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A web server that does not speak MCP; returns its address.
pub fn web_site() -> String {
    const PAGE: &str = "<html><body>Not found</body></html>";
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            thread::spawn(move || {
                let _ = stream.read(&mut [0; 8192]);
                let _ = write!(
                    stream,
                    "HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{PAGE}",
                    PAGE.len()
                );
                // Until the client has read everything: closing early would truncate the response.
                let _ = stream.read(&mut [0; 8192]);
            });
        }
    });
    format!("http://{address}")
}
