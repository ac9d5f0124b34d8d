//! What went over the wire.

views! {
    /// `$transcript[*]`: one frame. Over HTTP those of a response have the `request` and the head of the `response`.
    FRAME "a frame" {
        /// Its number in the run.
        frame,
        /// Microseconds since the start of the run.
        at,
        /// The number of the connection.
        link,
        /// `client` or `server`.
        from,
        /// `message`, `junk`, `unread`, `http-request`, `http-response`, `document`, `visit`, `cut-short` or `note`.
        kind,
        /// Of the client: the suite that caused it, or `handshake`, `probe` or `answer`.
        by,
        /// Its length in bytes.
        bytes,
        /// The message or document.
        message,
        /// The beginning of what is not JSON.
        text,
        /// What is wrong with it.
        why,
        /// What `why` says, as one word: `not-json`, `trailing-data`, `empty-line` and others.
        cause,
        /// `crlf`, `bom`, `invalid-utf8`, `duplicate-key`, `unterminated` or `blank-lines`.
        flaws: list,
        /// The head of the HTTP request or response.
        http,
        /// The number of the HTTP exchange.
        post,
        /// The `id`, `name` and `retry` of the event.
        event: one EVENT_HEAD,
        /// Of a note: how something ended.
        ended,
        /// Of a note on the end of a process: its exit.
        exit,
        /// `stdio`, `http` or `sse`.
        transport,
        /// Whether the connection was opened for one request.
        brief,
        /// Its number in the event stream.
        nth,
        /// The HTTP request: its `method`, the suite as `by`, and what it `carries`.
        request: one REQUEST_HEAD,
        /// The HTTP response: its `status` and `media` type.
        response: one RESPONSE_HEAD,
    }
    /// `event` of a frame.
    EVENT_HEAD "the head of an event" {
        /// The id.
        id,
        /// The name.
        name,
        /// The time in milliseconds.
        retry,
        /// Of HTTP+SSE: the URL for messages.
        endpoint,
    }
    /// `request` of a frame.
    REQUEST_HEAD "the head of an HTTP request" {
        /// The HTTP method.
        method,
        /// The suite that sent it, or `handshake` or `probe`.
        by,
        /// `request`, `notification`, `response`, `batch`, `other` or `nothing`.
        carries,
    }
    /// `response` of a frame.
    RESPONSE_HEAD "the head of an HTTP response" {
        /// The status code.
        status,
        /// The media type.
        media,
    }
    /// `origin` of a message.
    ORIGIN "an origin" {
        /// The number of the frame.
        frame,
        /// Where in the frame.
        pointer,
        /// The frame of the notification to which it responds.
        to,
    }
    /// `http` of an exchange, a stream or a reply.
    HTTP "an HTTP response" {
        /// The status code.
        status,
        /// The headers by their names in lower case.
        headers,
        /// Of a reply: each WWW-Authenticate, with `scheme`, `scopes` and its parameters.
        challenges: list,
        /// Where a redirect leads: `to`, and the parameters of its `query` and `fragment`.
        redirect,
    }
}
