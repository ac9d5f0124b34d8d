//! Faults as small functions, for deviations that cannot be written as a patch of a response.

use std::{
    collections::{HashMap, HashSet},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    reference::{
        faults::{FaultInfo, Heard, HttpWays, Met, Scene, cursors, reads, streams::Streaming, task_extension, tasks},
        http::Reply,
        options::Transport,
        world::World,
    },
    revision::Revision,
};

/// A unique name for one server among all processes, and among all servers of one process.
pub fn unlike_any_other() -> String {
    static SERVERS: AtomicU64 = AtomicU64::new(0);
    format!("{}-{}", std::process::id(), SERVERS.fetch_add(1, Relaxed))
}

/// The state of faults between messages.
#[derive(Default)]
pub struct Memory {
    pub requests: u64,
    pub responses: u64,
    deaf: bool,
    /// A unique name of this server.
    pub own: Option<String>,
    /// The URI of the last scoped list.
    pub scope: Option<Value>,
    /// The last prefix of each method.
    pub prefixes: HashMap<String, Value>,
    /// The last result of each method.
    pub results: HashMap<String, Value>,
    /// Cursors of each method that were received or sent before.
    pub cursors: HashSet<String>,
    /// The last cursor that each method returned, if its last page had one.
    pub places: HashMap<String, String>,
    pub listed: bool,
    /// When a slow operation began.
    pub slow: Option<tokio::time::Instant>,
    /// Counters by name.
    pub counts: HashMap<String, u64>,
    pub unlocked: bool,
    pub reads: u64,
    /// A session is open but not initialized.
    pub early: bool,
    /// Ids of requests that were cancelled.
    pub cancelled: HashSet<String>,
    /// Data of earlier requests, by a name that the fault chooses.
    pub said: HashMap<&'static str, Value>,
    pub tasks: tasks::TaskMemory,
    pub task_extension: task_extension::TaskMemory,
    /// All messages that were sent to models.
    pub history: Vec<Value>,
    /// Keys of requests to the client, and tools that wait for them.
    pub keys: HashSet<String>,
    pub waiting: HashSet<String>,
    /// Text to write to stderr.
    pub stderr: String,
    pub stderr_bytes: Vec<u8>,
}

/// How a batch is handled.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Batch {
    Refused,
    /// Only the first message in it is handled.
    First,
    /// Nothing after an error is handled.
    UntilError,
    /// An array is returned even if it is empty.
    Always,
}

/// How stdin is decoded and split.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    ByLine,
    /// Lines that are read together with a ping, after it, are lost.
    FirstLine,
    /// The bytes of one read are taken for complete lines.
    AsItComes,
    /// Each byte is taken for a character.
    Latin1,
    /// The bytes of one read are decoded before they are split into lines.
    Decoded,
}

/// Messages before and after a message.
type Around = fn(&mut Memory, &Scene, &Value) -> (Vec<Value>, Vec<Value>);

#[derive(Clone, Copy)]
pub struct Behaviour {
    pub name: &'static str,
    pub about: &'static str,
    pub transports: &'static [Transport],
    pub since: Option<Revision>,
    pub until: Option<Revision>,
    /// The proposal that has to be enabled for the fault to show.
    pub proposal: Option<&'static str>,
    /// The fault only shows on a protected server.
    pub protected: bool,
    /// Rules besides those that name the fault which it also violates; `*` stands for any.
    pub also: &'static [&'static str],
    /// For a variation with which all suites would take too long: the suites that run.
    pub suites: &'static [&'static str],
    /// The message of the server, if the fault prevents every run.
    pub stops: Option<&'static str>,
    /// The usual facts about the reference server do not apply.
    pub without_facts: bool,
    /// The delay before the server reads anything.
    pub start: Duration,
    /// Why the process exits before it reads anything.
    pub ends_at_start: Option<&'static str>,
    /// The additional delay of a response, by its number (from 1).
    pub delay: fn(u64) -> Duration,
    /// Printed before anything else.
    pub banner: Option<&'static str>,
    /// Changes the world before it is shown.
    pub prepare: Option<fn(&mut World)>,
    /// Called for bytes that are not JSON.
    pub noise: Option<fn(&mut Memory, &[u8]) -> Heard>,
    /// Called for a message before it is handled.
    pub hear: Option<fn(&mut Memory, &mut Value) -> Heard>,
    /// Called for a message before it is sent; false suppresses it.
    pub say: Option<fn(&mut Memory, &Scene, &mut Value) -> bool>,
    /// The bytes of a message.
    pub spell: Option<fn(&Value) -> Vec<u8>>,
    pub batch: Option<Batch>,
    /// How stdin is read.
    pub reading: Reading,
    /// A cancelled request is not answered, but its work continues.
    pub works_on: bool,
    /// A cancelled request is answered all the same.
    pub answers_cancelled: bool,
    /// The stream of a subscription ends after its acknowledgement.
    pub cuts_streams: bool,
    /// The process keeps running when stdin is closed.
    pub outlives_stdin: bool,
    /// How messages are sent over Streamable HTTP.
    pub ways: HttpWays,
    /// The newline after a message is written with the next one.
    pub holds_newlines: bool,
    /// The deviation of event streams.
    pub streaming: Option<Streaming>,
    /// Messages before and after a message.
    pub around: Option<Around>,
    /// Called for an HTTP request before it is handled; it has `method`, `path`, `query`, `headers` and `message`.
    pub meet: Option<fn(&mut Memory, &Value) -> Met>,
    /// Changes the response to such a request.
    pub reply: Option<fn(&mut Memory, &Value, &mut Reply)>,
    /// Whether a message ends the stream of HTTP+SSE, in place of a response.
    pub breaks: Option<fn(&Value) -> bool>,
    /// The beginning of a stream of HTTP+SSE; `$endpoint` stands for the URL for messages.
    pub opening: Option<&'static str>,
    /// Messages over stdio are written in small pieces.
    pub pieces: bool,
}

impl Behaviour {
    pub const fn new(name: &'static str, about: &'static str, transports: &'static [Transport]) -> Self {
        Self {
            name,
            about,
            transports,
            since: None,
            until: None,
            proposal: None,
            protected: false,
            also: &[],
            suites: &[],
            stops: None,
            without_facts: false,
            start: Duration::ZERO,
            ends_at_start: None,
            delay: |_| Duration::ZERO,
            banner: None,
            prepare: None,
            noise: None,
            hear: None,
            say: None,
            spell: None,
            batch: None,
            reading: Reading::ByLine,
            works_on: false,
            answers_cancelled: false,
            cuts_streams: false,
            outlives_stdin: false,
            ways: HttpWays::USUAL,
            holds_newlines: false,
            streaming: None,
            around: None,
            meet: None,
            reply: None,
            breaks: None,
            opening: None,
            pieces: false,
        }
    }

    pub fn shows(&self, transport: Transport) -> bool {
        self.transports.contains(&transport)
    }

    pub fn info(&self) -> FaultInfo {
        FaultInfo {
            name: self.name.to_owned(),
            about: self.about.to_owned(),
            since: self.since,
            until: self.until,
            transports: self.transports.to_vec(),
            proposal: self.proposal.map(str::to_owned),
            protected: self.protected,
            also: self.also.iter().map(ToString::to_string).collect(),
            suites: self.suites,
            stops: self.stops,
            without_facts: self.without_facts,
        }
    }
}

pub const EVERYWHERE: &[Transport] = &Transport::ALL;
pub const STDIO: &[Transport] = &[Transport::Stdio];

/// Deeper than a recursive parser supports in some languages.
const DEEP: usize = 1000;

pub static BEHAVIOURS: &[Behaviour] = &[
    Behaviour {
        noise: Some(|_, _| Heard::Crash),
        ..Behaviour::new("exits-on-bad-json", "a line that is no JSON ends the process", STDIO)
    },
    Behaviour {
        noise: Some(|memory, _| {
            memory.deaf = true;
            Heard::Nothing
        }),
        hear: Some(|memory, _| if memory.deaf { Heard::Nothing } else { Heard::Message }),
        // Rules about messages that are sent after the server has hung for the second time.
        also: &[
            "stdio-frames-on-newline",
            "stdio-understands-utf8",
            "stdio-decodes-whole-lines",
            "jsonrpc-parse-error-code",
            "jsonrpc-parse-error-answered",
            "jsonrpc-invalid-request-code",
        ],
        ..Behaviour::new("hangs-after-bad-json", "after a line that is no JSON nothing is answered any more", STDIO)
    },
    Behaviour {
        noise: Some(|_, bytes| if bytes.starts_with(&[b'['; DEEP]) { Heard::Crash } else { Heard::Message }),
        ..Behaviour::new("exits-on-deep-nesting", "arrays nested too deep for the parser end the process", STDIO)
    },
    Behaviour {
        until: Some(Revision::NEWEST_LEGACY),
        hear: Some(|_, message| {
            let unfit =
                message.get("params").is_some_and(|params| params.is_null() && message["method"] == "tools/list");
            if unfit { Heard::Crash } else { Heard::Message }
        }),
        ..Behaviour::new("exits-on-params-null", "params that are null end the process", STDIO)
    },
    Behaviour {
        hear: Some(|_, message| answer_notification(message, "error")),
        also: &[
            "cancellation-no-response",
            "cancellation-stops-processing",
            "resources-listen-stops-on-cancel",
            "stdio-cancel-stops-work",
            "stdio-no-messages-after-cancel",
            "subscriptions-stop-on-cancel",
        ],
        ..Behaviour::new("notification-answered", "notifications are answered like requests", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, message| answer_notification(message, "result")),
        also: &[
            "cancellation-no-response",
            "cancellation-stops-processing",
            "resources-listen-stops-on-cancel",
            "stdio-cancel-stops-work",
            "stdio-no-messages-after-cancel",
            "subscriptions-stop-on-cancel",
        ],
        ..Behaviour::new("notification-answered-well", "notifications are answered by a result", STDIO)
    },
    Behaviour {
        hear: Some(|_, message| {
            let unknown = message["method"].as_str().is_some_and(|method| method.contains("mcp-conform"));
            if !unknown || message.get("id").is_some() {
                return Heard::Message;
            }
            let error = json!({ "code": -32601, "message": "Method not found" });
            Heard::Answered(json!({ "jsonrpc": "2.0", "error": error }))
        }),
        ..Behaviour::new(
            "notification-answered-without-id",
            "notifications that are not known are answered by an error without an id",
            EVERYWHERE,
        )
    },
    Behaviour {
        hear: Some(|memory, message| {
            let in_batch = memory.unlocked;
            memory.unlocked = message["id"] == "mcp-conform-unknown";
            if in_batch { answer_notification(message, "error") } else { Heard::Message }
        }),
        also: &["jsonrpc-no-response-to-notification"],
        ..batch("batch-notification-answered", "a notification behind a failed request of its batch is answered")
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        prepare: Some(|world| drop(world.add_named(&format!("connection-{}", unlike_any_other())))),
        ..Behaviour::new("list-changes-per-connection", "each connection is shown a list of its own", STDIO)
    },
    Behaviour {
        hear: Some(cursors::hear_endless),
        say: Some(cursors::say_endless),
        also: &[
            "prefix-no-match-is-empty",
            "prefix-pagination-works",
            "prefix-templates-empty-prefix-matches-all",
            "prefix-templates-no-match-is-empty",
            "prompts-name-unique",
            "sep2093-list-uri-paginated",
            "tools-name-unique",
        ],
        ..Behaviour::new(
            "cursor-never-ends",
            "after the last page the list begins again, with fresh cursors",
            EVERYWHERE,
        )
    },
    Behaviour {
        hear: Some(cursors::drop_long),
        also: &["jsonrpc-exactly-one-response"],
        ..Behaviour::new("long-cursor-unanswered", "a request with a very long cursor is not answered", EVERYWHERE)
    },
    Behaviour {
        say: Some(cursors::repeat),
        also: &["prefix-pagination-works"],
        ..Behaviour::new("cursor-repeats", "the last page has its own cursor as the next one", EVERYWHERE)
    },
    Behaviour {
        hear: Some(cursors::ignore),
        also: &[
            "pagination-cursor-type-checked",
            "pagination-invalid-cursor-code",
            "pagination-templates-list",
            "pagination-terminates",
            "prefix-pagination-works",
            "prompts-name-unique",
            "resources-list-item-uri-unique",
            "tools-name-unique",
        ],
        ..Behaviour::new("cursor-ignored", "whatever the cursor, the first page comes back", EVERYWHERE)
    },
    Behaviour {
        hear: Some(cursors::recall),
        say: Some(cursors::remember),
        also: &[
            "lifecycle-client-info-not-behavioural-prompts",
            "prefix-optional-on-list",
            "sep2093-list-true-is-listable",
        ],
        ..Behaviour::new(
            "place-remembered",
            "a list without a cursor goes on after the last page that was given",
            EVERYWHERE,
        )
    },
    Behaviour {
        say: Some(cursors::spend),
        also: &[
            "prefix-no-new-access",
            "prefix-templates-no-new-access",
            "prompts-list-not-connection-dependent",
            "resources-list-no-side-effects",
            "sep2093-list-uri-children-complete",
            "tools-list-not-connection-dependent",
        ],
        ..Behaviour::new("cursor-works-once", "a cursor that comes a second time leads to an empty page", EVERYWHERE)
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        hear: Some(cursors::refuse_foreign),
        say: Some(cursors::issue),
        ..Behaviour::new("cursor-bound-to-connection", "cursors of another connection are refused", STDIO)
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        hear: Some(reads::need_list),
        also: &["resources-link-readable"],
        ..Behaviour::new("read-needs-list", "nothing is found before the connection has listed resources", STDIO)
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        hear: Some(reads::count),
        say: Some(reads::list_more),
        also: &[
            "prefix-list-only-matching",
            "prefix-no-match-is-empty",
            "sep2093-capabilities-on-all-resources",
            "sep2093-list-uri-direct-children-only",
            "sep2093-metadata-for-every-child",
            "sep2093-metadata-for-every-listed-resource",
        ],
        ..Behaviour::new("reading-lists-more", "each read adds a resource to what its connection is shown", STDIO)
    },
    Behaviour {
        say: Some(|_, _, message| {
            if let Some(id) = message.get_mut("id").filter(|id| id.is_number()) {
                *id = Value::String(id.to_string());
            }
            true
        }),
        also: &["jsonrpc-error-id-echoes-request"],
        ..Behaviour::new("id-as-string", "ids come back as strings, whatever they were", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|_, message| if message.get("id") == Some(&json!(0)) { Heard::Nothing } else { Heard::Message }),
        ..Behaviour::new("id-zero-dropped", "a request of id 0 is taken for a notification", EVERYWHERE)
    },
    Behaviour {
        say: Some(cross_wire),
        also: &[
            "lifecycle-extension-fallback",
            "pagination-cursor-advances",
            "pagination-cursor-not-connection-bound",
            "pagination-resources-list",
            "pagination-templates-list",
            "prompts-name-unique",
            "roots-boundaries-respected",
            "sep2093-list-scope-not-remembered",
            "sep2093-list-uri-children-complete",
            "sep2093-list-uri-direct-children-only",
            "sep2093-metadata-child-uri-echoed",
            "sep2093-metadata-uri-echoed",
            "sep2093-mime-type-is-primary-format",
            "sep2093-read-listable-child-metadata",
            "sep2093-read-listable-children-are-children",
            "sep2093-read-nonlistable-same-uri",
            "tasks-ext-only-for-declaring-clients",
            "tools-name-unique",
            "tools-structured-content-matches-output-schema",
        ],
        ..Behaviour::new(
            "replies-cross-wired",
            "an answer carries the result that the same method had the time before",
            EVERYWHERE,
        )
    },
    Behaviour {
        say: Some(|_, _, message| message.pointer("/error/code") != Some(&json!(-32601))),
        ..Behaviour::new("unknown-method-ignored", "a request for an unknown method is never answered", EVERYWHERE)
    },
    Behaviour {
        hear: Some(|memory, message| {
            memory.requests += u64::from(message.get("id").is_some());
            if memory.requests > 3 { Heard::Nothing } else { Heard::Message }
        }),
        also: &["*"],
        ..Behaviour::new("stops-after-third-request", "from the fourth request on nothing is answered", EVERYWHERE)
    },
    Behaviour {
        banner: Some("Reference server, ready to serve"),
        ..Behaviour::new("stdout-banner", "a greeting is printed to stdout at the start", STDIO)
    },
    Behaviour {
        reading: Reading::FirstLine,
        until: Some(Revision::NEWEST_LEGACY),
        also: &["cancellation-races-handled", "jsonrpc-exactly-one-response", "jsonrpc-survives-bad-input"],
        ..Behaviour::new("second-line-dropped", "what was read together with a ping is not handled", STDIO)
    },
    Behaviour {
        reading: Reading::Latin1,
        also: &["jsonrpc-no-response-to-notification"],
        ..Behaviour::new("latin1-input", "stdin is read as Latin-1 instead of UTF-8", STDIO)
    },
    Behaviour {
        reading: Reading::AsItComes,
        also: &["jsonrpc-error-id-echoes-request", "jsonrpc-no-response-to-notification", "stdio-decodes-whole-lines"],
        ..Behaviour::new("piece-taken-for-line", "a line that comes in pieces is taken for several", STDIO)
    },
    Behaviour {
        reading: Reading::Decoded,
        also: &["jsonrpc-no-response-to-notification"],
        ..Behaviour::new("pieces-decoded-apart", "a character that comes in pieces is replaced", STDIO)
    },
    Behaviour { batch: Some(Batch::Refused), ..batch("batch-refused", "batches are refused as invalid requests") },
    Behaviour {
        batch: Some(Batch::First),
        ..batch("batch-first-only", "of a batch only the first message is handled")
    },
    Behaviour {
        batch: Some(Batch::UntilError),
        ..batch("batch-aborts-at-error", "what stands behind an error in a batch is not handled")
    },
    Behaviour {
        batch: Some(Batch::Always),
        ..batch("batch-of-notifications-answered", "a batch of notifications is answered with an empty array")
    },
    Behaviour {
        spell: Some(|message| format!("{message:#}").into_bytes()),
        also: &[
            "jsonrpc-exactly-one-response",
            "jsonrpc-messages-follow-jsonrpc-2-0",
            "lifecycle-discover-implemented",
        ],
        ..Behaviour::new("pretty-printed-json", "messages are spread over several lines", STDIO)
    },
    Behaviour {
        holds_newlines: true,
        also: &["lifecycle-discover-implemented", "stdio-stdout-only-mcp"],
        ..Behaviour::new("newline-before-next-message", "the newline behind a message comes with the next one", STDIO)
    },
    Behaviour {
        spell: Some(latin1),
        since: Some(Revision::V2025_03_26),
        also: &[
            "jsonrpc-no-response-to-notification",
            "resources-field-size-raw-bytes",
            "sep2093-read-size-per-representation",
            "stdio-understands-utf8",
        ],
        ..Behaviour::new("latin1-output", "messages are encoded in Latin-1 instead of UTF-8", EVERYWHERE)
    },
];

/// Batches were added by one revision and removed by the next.
const fn batch(name: &'static str, about: &'static str) -> Behaviour {
    Behaviour {
        since: Some(Revision::V2025_03_26),
        until: Some(Revision::V2025_03_26),
        ..Behaviour::new(name, about, EVERYWHERE)
    }
}

fn answer_notification(message: &Value, by: &str) -> Heard {
    let heard = message.get("method").is_some() && message.get("id").is_none();
    let answer = json!({ "code": -32601, "message": "Method not found" });
    if heard { Heard::Answered(json!({ "jsonrpc": "2.0", "id": null, by: answer })) } else { Heard::Message }
}

fn cross_wire(memory: &mut Memory, scene: &Scene, message: &mut Value) -> bool {
    if let Some((method, result)) = scene.method().zip(message.get_mut("result")) {
        let fresh = result.clone();
        if let Some(stale) = memory.results.insert(method.to_owned(), fresh) {
            *result = stale;
        }
    }
    true
}

fn latin1(message: &Value) -> Vec<u8> {
    message.to_string().chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')).collect()
}
