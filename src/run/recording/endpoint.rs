//! The only change to the traffic: a server over HTTP+SSE may send its message endpoint as an absolute URL. A client
//! would then bypass the recording, or reject the URL because its origin differs from that of the stream.

use std::mem::take;

/// Maximum length of the first event of a stream that contains an endpoint.
const LONGEST: usize = 8 << 10;

/// Removes the origin from the endpoint in the first event of a stream; everything else is unchanged.
pub struct Rewrite {
    /// The origin of the server, as `http://host:port`.
    origin: String,
    /// Bytes of the incomplete first event; `None` once it was forwarded.
    waiting: Option<Vec<u8>>,
}

impl Rewrite {
    pub fn new(origin: String) -> Self {
        Self { origin, waiting: Some(Vec::new()) }
    }

    /// Returns the bytes to forward.
    pub fn feed(&mut self, chunk: &[u8]) -> Vec<u8> {
        let Some(waiting) = &mut self.waiting else { return chunk.to_vec() };
        waiting.extend_from_slice(chunk);
        let names_endpoint = |bytes: &[u8]| {
            let beginning = b"event:";
            let length = bytes.len().min(beginning.len());
            bytes[..length] == beginning[..length]
        };
        let complete = ends_event(waiting);
        if complete.is_none() && waiting.len() < LONGEST && names_endpoint(waiting) {
            return Vec::new();
        }
        let waiting = take(waiting);
        self.waiting = None;
        match complete {
            Some(end) => [self.changed(&waiting[..end]), waiting[end..].to_vec()].concat(),
            None => waiting,
        }
    }

    /// The stream has ended.
    pub fn finish(self) -> Vec<u8> {
        self.waiting.unwrap_or_default()
    }

    fn changed(&self, event: &[u8]) -> Vec<u8> {
        let Ok(text) = std::str::from_utf8(event) else { return event.to_vec() };
        let is_endpoint =
            text.lines().any(|line| line.strip_prefix("event:").is_some_and(|name| name.trim() == "endpoint"));
        if !is_endpoint {
            return event.to_vec();
        }
        let line = |line: &str| {
            let data = line.strip_prefix("data:").map(str::trim_start);
            let rest =
                data.and_then(|data| data.strip_prefix(self.origin.as_str())).filter(|rest| rest.starts_with('/'));
            rest.map_or_else(|| line.to_owned(), |rest| format!("data: {rest}"))
        };
        text.split_inclusive('\n').map(line).collect::<String>().into_bytes()
    }
}

/// Where the first event ends.
fn ends_event(bytes: &[u8]) -> Option<usize> {
    let ends = [b"\n\n".as_slice(), b"\r\n\r\n", b"\r\r"];
    let found = ends.iter().filter_map(|end| {
        let at = bytes.windows(end.len()).position(|window| window == *end)?;
        Some(at + end.len())
    });
    found.min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(chunks: &[&str]) -> String {
        let mut rewrite = Rewrite::new("http://server:1".to_owned());
        let mut passed: Vec<u8> = chunks.iter().flat_map(|chunk| rewrite.feed(chunk.as_bytes())).collect();
        passed.extend(rewrite.finish());
        String::from_utf8(passed).unwrap()
    }

    #[test]
    fn only_the_origin_of_the_server_is_taken_out() {
        let named = "event: endpoint\ndata: http://server:1/m?s=1\n\nevent: message\ndata: http://server:1/x\n\n";
        let expected = named.replacen("http://server:1", "", 1);
        assert_eq!(passed(&[named]), expected);
        assert_eq!(passed(&[&named[..3], &named[3..20], &named[20..]]), expected);
        for other in [
            "event: endpoint\r\ndata: /m?s=1\r\n\r\n",
            "event: endpoint\ndata: http://server:10/m\n\n",
            "data: http://server:1/x\n\n",
            ": hello\n\nevent: endpoint\n",
            "event: endp",
        ] {
            assert_eq!(passed(&[other]), other);
        }
    }
}
