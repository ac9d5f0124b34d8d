//! What the session gives a connection to send, and the immediate result.

/// Who sends a message, and the protocol's headers for it. The wire adds the headers of the user.
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

/// A complete HTTP request, sent unchanged.
#[derive(Clone, Debug, Default)]
pub struct HttpRequest {
    pub by: String,
    pub method: String,
    /// A URL in place of the endpoint, or a path on the endpoint's host.
    pub url: Option<String>,
    /// Appended to the query of the URL.
    pub query: Vec<(String, String)>,
    pub headers: Vec<(String, String)>,
    /// Headers to omit, of the protocol or of the user.
    pub without: Vec<String>,
    pub body: Option<Vec<u8>>,
}
