//! What the session asks a connection to send, and what it learns at once.

/// On whose behalf a message is sent, and the protocol's headers for it. Headers the user gave are added by the wire.
#[derive(Clone, Debug, Default)]
pub struct Envelope {
    pub by: String,
    pub headers: Vec<(String, String)>,
}

/// The frame that was recorded, and over HTTP the number of the exchange.
#[derive(Clone, Copy, Debug)]
pub struct Posted {
    pub frame: u64,
    pub post: Option<u64>,
}

/// A whole HTTP request, sent as it stands.
#[derive(Clone, Debug, Default)]
pub struct HttpRequest {
    pub by: String,
    pub method: String,
    /// Instead of the endpoint: a URL, or a path on the endpoint's host.
    pub url: Option<String>,
    /// Added to the query of the URL.
    pub query: Vec<(String, String)>,
    pub headers: Vec<(String, String)>,
    /// Headers that are left out, be they the protocol's or the user's.
    pub without: Vec<String>,
    pub body: Option<Vec<u8>>,
}
