//! URLs that a client prints for its user.

use tokio::sync::mpsc;

use super::visitor::How;

/// A longer line is not a URL for a person.
const LONGEST: usize = 16 << 10;

/// Finds the authorization URLs in one output of the client.
#[derive(Clone)]
pub struct Printed {
    /// The beginnings of such URLs.
    pub origins: Vec<String>,
    pub urls: mpsc::UnboundedSender<(How, String)>,
    line: Vec<u8>,
}

impl Printed {
    pub fn new(origins: Vec<String>, urls: mpsc::UnboundedSender<(How, String)>) -> Self {
        Self { origins, urls, line: Vec::new() }
    }

    pub fn feed(&mut self, piece: &[u8]) {
        for byte in piece {
            if *byte == b'\n' {
                self.look();
            } else if self.line.len() < LONGEST {
                self.line.push(*byte);
            }
        }
    }

    fn look(&mut self) {
        let line = String::from_utf8_lossy(&std::mem::take(&mut self.line)).into_owned();
        for origin in &self.origins {
            let Some(at) = line.find(origin.as_str()) else { continue };
            let is_end = |c: char| c.is_whitespace() || c.is_control() || "\"'<>`".contains(c);
            let url = line[at..].split(is_end).next().unwrap_or_default();
            if url.contains("response_type=") {
                // It is not visited once the world is over.
                let _ = self.urls.send((How::Printed, url.to_owned()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_authorization_url_is_found_in_a_line() {
        let (urls, mut found) = mpsc::unbounded_channel();
        let mut printed = Printed::new(vec!["http://127.0.0.1:3001".to_owned()], urls);
        printed.feed(
            b"Open \x1b[1mhttp://127.0.0.1:3001/a?response_type=code&x=1\x1b[0m, please\nhttp://127.0.0.1:3001/token",
        );
        printed.feed(b"\nhttp://other/a?response_type=code\n");
        assert_eq!(found.try_recv(), Ok((How::Printed, "http://127.0.0.1:3001/a?response_type=code&x=1".to_owned())));
        assert!(found.try_recv().is_err());
    }
}
