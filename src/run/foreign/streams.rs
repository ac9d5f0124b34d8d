//! Event streams without the times of their messages.
//!
//! A message gets a time that cannot lead to a wrong verdict. On the stream of a POST, messages before the response get
//! the beginning of the stream, and the response gets its end. On a stream that a GET opened, a response follows its
//! request, and a request of the server precedes the client's response. Other messages there are omitted: their
//! verdict depends on the time.

use std::collections::{HashSet, VecDeque};

use serde_json::Value;

use crate::wire::event_stream::EventStream;

/// No limit here: the tap limits the size of events.
const LONGEST: usize = usize::MAX;

/// One event, with its bytes.
pub struct Piece {
    pub bytes: Vec<u8>,
    pub says: Says,
}

impl Piece {
    pub fn has_message(&self) -> bool {
        self.says != Says::Nothing
    }

    pub fn request(&self) -> Option<String> {
        if let Says::Request(id) = &self.says { Some(id.clone()) } else { None }
    }
}

/// The kind of its message.
#[derive(Debug, PartialEq)]
pub enum Says {
    Request(String),
    Responses(Vec<String>),
    /// A notification, or something else.
    Other,
    /// The event has no message.
    Nothing,
}

/// The index of the response on the stream of a POST.
pub fn before_response(pieces: &[Piece]) -> usize {
    pieces.iter().position(|piece| matches!(piece.says, Says::Responses(_))).unwrap_or(pieces.len())
}

/// The events of a stream, in their order; the last one may be cut off.
pub fn pieces(body: &[u8]) -> Vec<Piece> {
    let mut stream = EventStream::new(LONGEST);
    let (mut pieces, mut bytes) = (Vec::new(), Vec::new());
    for line in body.split_inclusive(|byte| *byte == b'\n') {
        bytes.extend_from_slice(line);
        let mut blocks = stream.feed(line).into_iter().peekable();
        if blocks.peek().is_none() {
            continue;
        }
        let said: Vec<Says> = blocks
            .map(|block| match (block.event.name.as_deref(), block.data) {
                (Some("endpoint"), _) | (_, None) => Says::Nothing,
                (_, Some(data)) => says(&data),
            })
            .collect();
        let says = said.into_iter().find(|says| *says != Says::Nothing).unwrap_or(Says::Nothing);
        pieces.push(Piece { bytes: std::mem::take(&mut bytes), says });
    }
    if !bytes.is_empty() {
        pieces.push(Piece { bytes, says: Says::Nothing });
    }
    pieces
}

fn says(data: &[u8]) -> Says {
    let Ok(message) = serde_json::from_slice::<Value>(data) else {
        return if data.is_empty() { Says::Nothing } else { Says::Other };
    };
    let responses = responses(&message);
    match (&message["method"], &message["id"]) {
        _ if !responses.is_empty() => Says::Responses(responses),
        (Value::String(_), Value::Null) | (Value::Null, _) => Says::Other,
        (_, id) => Says::Request(id.to_string()),
    }
}

/// The ids that a message, or those of a batch, respond to.
pub fn responses(message: &Value) -> Vec<String> {
    ids(message, |message| message.get("method").is_none())
}

/// The ids of the requests in it.
pub fn requests(message: &Value) -> Vec<String> {
    ids(message, |message| message.get("method").is_some())
}

fn ids(message: &Value, wanted: impl Fn(&Value) -> bool) -> Vec<String> {
    let of = |message: &Value| Some(message.get("id")?.to_string()).filter(|_| wanted(message));
    match message {
        Value::Array(batch) => batch.iter().filter_map(of).collect(),
        message => of(message).into_iter().collect(),
    }
}

/// Events of a stream that a GET opened which are not recorded yet.
pub struct Held {
    pub exchange: u64,
    pieces: VecDeque<Piece>,
}

impl Held {
    pub fn new(exchange: u64, pieces: impl IntoIterator<Item = Piece>) -> Self {
        Self { exchange, pieces: pieces.into_iter().collect() }
    }

    /// Responses whose requests have been sent.
    pub fn due(&mut self, sent: &HashSet<String>) -> Vec<Piece> {
        self.taken(|says| matches!(says, Says::Responses(ids) if ids.iter().all(|id| sent.contains(id))))
    }

    /// Requests to which the client responds now.
    pub fn requested(&mut self, answered: &[String]) -> Vec<Piece> {
        self.taken(|says| matches!(says, Says::Request(id) if answered.contains(id)))
    }

    /// Requests and responses, when the stream ends.
    pub fn rest(&mut self) -> Vec<Piece> {
        self.taken(|says| matches!(says, Says::Request(_) | Says::Responses(_)))
    }

    /// The number of messages without a time.
    pub fn left(&self) -> usize {
        self.pieces.iter().filter(|piece| piece.says != Says::Nothing).count()
    }

    fn taken(&mut self, wanted: impl Fn(&Says) -> bool) -> Vec<Piece> {
        let (taken, kept) = std::mem::take(&mut self.pieces).into_iter().partition(|piece| wanted(&piece.says));
        self.pieces = kept;
        Vec::from_iter::<VecDeque<Piece>>(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_taken_apart_without_a_change() {
        let body = ": hi\r\n\r\nevent: endpoint\ndata: /m\n\ndata: {\"id\":1,\"result\":{}}\r\n\r\ndata: {\"id\":2,\ndata: \
                    \"method\":\"ping\"}\n\ndata: {\"method\":\"x\"}\n\nid: 1\ndata:\n\ndata: cut";
        let pieces = pieces(body.as_bytes());
        assert_eq!(pieces.iter().flat_map(|piece| piece.bytes.clone()).collect::<Vec<u8>>(), body.as_bytes());
        let says: Vec<&Says> = pieces.iter().map(|piece| &piece.says).collect();
        let one = |id: &str| vec![id.to_owned()];
        let (response, request) = (Says::Responses(one("1")), Says::Request("2".to_owned()));
        assert_eq!(says, [&Says::Nothing, &response, &request, &Says::Other, &Says::Nothing, &Says::Nothing]);
    }
}
