//! Faults in the event streams of Streamable HTTP that cannot be written as a patch of a message.

use crate::{
    faults::{HttpWays, behaviour::Behaviour},
    options::Transport,
};
use conform_model::revision::Revision;

/// The deviation of event streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Streaming {
    /// They stay open after the response.
    Lingers,
    /// They begin without an event from which they can be resumed.
    Unprimed,
    /// Each counts its events from 1.
    Renumbers,
    /// A resumed stream replays the events of all streams.
    ReplaysAll,
    /// Events that the client already has are sent again.
    Repeats,
    /// A resumed stream replays the events of another one.
    Mistakes,
    /// Responses are sent on the stream that was opened by GET.
    AnswersOnGet,
    /// Progress is sent on the stream that was opened by GET.
    ProgressOnGet,
    /// Requests to the client are sent on the stream that was opened by GET.
    AsksOnGet,
    /// Notifications are also sent on the stream that was opened by GET.
    Broadcasts,
    /// The line with the message has no field name.
    Unnamed,
    /// Progress is sent on any other open stream.
    Crosses,
    /// The connection of a stream opened by POST is closed as soon as it is open, without a `retry` time.
    Drops,
    /// The connection of a stream opened by GET is closed as soon as it is open, without a `retry` time.
    DropsGet,
    /// The same, and also whenever a stream is resumed.
    ClosesGet,
    /// Streams of POST end after each event, with a `retry` time.
    Breaks,
    /// The work on a request ends when its connection closes.
    Aborts,
    /// Messages of closed streams are sent to the subscribers.
    Redirects,
}

pub static STREAMING: &[Behaviour] = &[
    Behaviour {
        since: Some(Revision::V2025_03_26),
        until: None,
        ..of(Streaming::Lingers, "stream-lingers", "event streams stay open after the response")
    },
    Behaviour {
        since: Some(Revision::V2025_11_25),
        ..of(
            Streaming::Unprimed,
            "stream-unprimed",
            "event streams do not start with an event that has an id and no data",
        )
    },
    Behaviour {
        since: Some(Revision::V2025_11_25),
        also: &["streamable-http-replay-not-again"],
        ..of(Streaming::Renumbers, "stream-numbers-from-one", "each event stream counts its events from 1")
    },
    of(Streaming::ReplaysAll, "stream-replays-all", "a resumed stream replays the messages of all other streams"),
    of(
        Streaming::Repeats,
        "stream-repeats-last",
        "a resumed stream replays the event that the client already received",
    ),
    of(Streaming::Mistakes, "stream-taken-for-another", "a resumed stream continues another stream"),
    Behaviour {
        also: &["streamable-http-sse-retry-before-close"],
        ..of(Streaming::AnswersOnGet, "answers-on-get-stream", "responses are sent on the GET stream")
    },
    of(Streaming::ProgressOnGet, "progress-on-get-stream", "progress is sent on the GET stream"),
    of(Streaming::AsksOnGet, "asks-on-get-stream", "sampling and elicitation requests are sent on the GET stream"),
    of(Streaming::Broadcasts, "stream-broadcasts", "notifications are sent on every open stream of the session"),
    Behaviour {
        also: &["roots-boundaries-respected", "roots-paths-validated"],
        ..of(Streaming::Unnamed, "event-without-data-field", "the message of an event is not in the field `data`")
    },
    Behaviour {
        also: &["streamable-http-no-cross-stream-replay"],
        ..of(Streaming::Crosses, "progress-crosses-streams", "progress is sent on the stream of another request")
    },
    Behaviour {
        since: Some(Revision::V2025_11_25),
        ..of(Streaming::Drops, "stream-cut-without-retry", "streams end before the response, without a retry time")
    },
    Behaviour {
        since: Some(Revision::V2025_11_25),
        also: &[
            "prompts-list-changed-notification",
            "resources-list-changed-on-change",
            "resources-updated-on-change",
            "tools-list-changed-notification",
        ],
        ..of(Streaming::DropsGet, "get-stream-cut-without-retry", "GET streams end without a retry time")
    },
    Behaviour {
        since: Some(Revision::V2025_11_25),
        ..of(Streaming::Aborts, "disconnect-aborts", "a disconnect aborts the request")
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        until: None,
        // Messages that are in transit when a client leaves depend on the timing.
        also: &["*"],
        ..of(
            Streaming::Redirects,
            "orphans-go-to-subscribers",
            "messages for a disconnected client are sent to subscribers",
        )
    },
    Behaviour {
        since: Some(Revision::V2025_03_26),
        ways: HttpWays { by_id: true, ..HttpWays::USUAL },
        // Suites that run concurrently are clients with the same ids, too: any of them can get a response of another.
        also: &["*"],
        ..Behaviour::new(
            "responses-by-id",
            "a response is sent to the client that last used its id",
            &[Transport::Http],
        )
    },
];

const fn of(streaming: Streaming, name: &'static str, about: &'static str) -> Behaviour {
    Behaviour {
        streaming: Some(streaming),
        since: Some(Revision::V2025_03_26),
        until: Some(Revision::NEWEST_LEGACY),
        ..Behaviour::new(name, about, &[Transport::Http])
    }
}
