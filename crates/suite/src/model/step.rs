//! The steps of a suite, which gather its evidence.

use crate::{Applies, Clause, Path};
use conform_model::evidence::Manner;
use serde_json::Value;

/// The connection of one step, if it differs from that of the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepConnection {
    /// One for this call only, before any handshake.
    New,
    /// The second one, which the suite uses for list requests.
    Second,
}

/// A JSON value in which a string that is nothing but a reference (`$name.path`) stands for the selected value.
#[derive(Clone, Debug, PartialEq)]
pub enum Template {
    Literal(Value),
    Reference(Path),
    Array(Vec<Template>),
    Object(Vec<(String, Template)>),
    /// A value that is made from texts: `{ $parent: $skill.uri }`.
    Made(Make, Vec<Template>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Make {
    /// A URI without its last segment and the slash before it.
    Parent,
    /// Texts, one after another.
    Join,
    /// The parts of a text that a regular expression matches, as a list.
    Matches,
}

impl Make {
    pub const ALL: [(&str, Self); 3] = [("$parent", Self::Parent), ("$join", Self::Join), ("$matches", Self::Matches)];
}

/// One action on the wire. A failed step never stops the next one.
pub struct Step {
    pub verb: Verb,
    pub applies: Applies,
    pub each: Option<Each>,
    /// Items of `each` (or, without it, the step itself) are skipped unless all clauses pass.
    pub filter: Vec<Clause>,
    pub save: Option<String>,
    /// How the request deliberately deviates from a complete one.
    pub deviates: Option<Deviates>,
    /// Valid but unusual params and headers, in spite of which the request must be served. Its control has none of them.
    pub despite: Vec<String>,
    /// The expected outcome of the same request without the deviation.
    pub control: Control,
    /// Line of the suite file, for messages.
    pub line: usize,
}

/// The expected outcome of a control: the probe without its deviation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Control {
    #[default]
    Result,
    /// The request is about something that does not exist on any server.
    Error,
}

/// How a probe deviates from a complete request of its revision.
#[derive(Clone, Debug, PartialEq)]
pub enum Deviates {
    /// It is not a JSON-RPC message.
    Message,
    /// Some parts are missing, or have unusual values.
    Parts {
        /// The name of a part, or a list of them.
        without: Option<Template>,
        /// Each part with its replacement; null omits a header.
        with: Vec<(Template, Template)>,
    },
}

/// What the user does who logs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginEnd {
    Approve,
    Deny,
}

/// Runs the step once for each item; the saved value is then an array of `{ <var>: item, reply: ... }`.
pub struct Each {
    pub var: String,
    /// A reference to an array, or a literal one.
    pub over: Template,
    pub at_most: Option<usize>,
    /// No further item when the replies have this size together, roughly.
    pub at_most_bytes: Option<u64>,
    /// Run sequentially instead of concurrently.
    pub in_order: bool,
    /// Skip items that equal an earlier one.
    pub distinct: bool,
}

pub enum Verb {
    Call(Call),
    List(List),
    Walk(Walk),
    Notify(Notify),
    Await(Await),
    Send(Send),
    Http(HttpCall),
    Overlap(Overlap),
    /// Triggers a change in the server, as `facts.change` describes.
    Change(Path),
    /// `notifications/cancelled` for an open subscription: the id of its request.
    Cancel(Template),
    Pause(Pause),
}

/// A pause, in which nothing is sent.
pub struct Pause {
    pub seconds: f64,
    /// A request of the server, other than ping, ends it.
    pub or_request: bool,
}

/// One request. `with` gives the `params`; the fields that the revision requires are added.
#[derive(Clone)]
pub struct Call {
    pub method: Template,
    pub with: Option<Template>,
    /// A request id to use instead of the next number.
    pub id: Option<Template>,
    /// On a connection of its own, before any handshake.
    pub alone: bool,
    /// A method that is called next over stdio, before such a connection is closed.
    pub then: Option<String>,
    /// Give up after this many seconds. This does not count against the server.
    pub seconds: Option<f64>,
    /// Repeat the call until this passes on `$reply`; `seconds` is then the total time.
    pub until: Vec<Clause>,
    pub respond: Option<Manner>,
}

/// One list request and its further pages.
pub struct List {
    pub method: String,
    pub with: Option<Template>,
    /// Field of the result that holds the items.
    pub take: String,
    pub pages: usize,
    /// On the second connection of the suite.
    pub second: bool,
    /// Whether the suite looks at the items of a page by themselves, and not only at those of the list.
    pub by_page: bool,
}

/// Two different requests with the same id, from two clients, at overlapping times.
pub struct Overlap {
    pub method: Template,
    pub with: Option<Template>,
    /// Methods without params, of which the other client sends one.
    pub others: Template,
}

pub struct Walk {
    pub method: String,
    pub from: Template,
    /// Name of the node in `where` and `with`.
    pub node: String,
    pub with: Template,
    pub take: String,
    pub key: String,
    pub limits: WalkLimits,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WalkLimits {
    pub nodes: usize,
    pub depth: usize,
    pub pages: usize,
    pub seconds: u64,
    /// Whether the user may set other limits.
    pub settable: bool,
}

pub struct Notify {
    pub method: String,
    pub with: Option<Template>,
}

/// Waits for a notification that arrives after the named step began.
pub struct Await {
    pub method: String,
    pub since: Option<String>,
    /// Conditions on the message, in scope as `$message`.
    pub matching: Vec<Clause>,
    pub seconds: f64,
    /// The rule expects no notification, so the wait is shorter for a server that responds quickly.
    pub none_within: bool,
}

/// Raw text. Over stdio a newline is added; over HTTP it is the body of a POST.
pub struct Send {
    pub payload: Payload,
    /// The id of the request whose response is the reply; without it, the reply is an error without id.
    pub reply_to: Option<Template>,
    /// Over stdio, written in this many pieces.
    pub pieces: usize,
}

pub enum Payload {
    Text(Template),
    /// Bytes that are not valid UTF-8, written in base64.
    Bytes(Vec<u8>),
    /// A JSON value, serialised on one line.
    Json(Template),
    /// A JSON-RPC message, or a batch. The fields that the revision requires are added.
    Message(Template),
    /// Several messages, one per line.
    Lines(Template),
}

/// A whole HTTP request to the endpoint.
#[derive(Clone)]
pub struct HttpCall {
    pub method: String,
    /// Added to the headers that the revision requires; `null` removes one.
    pub headers: Vec<(Template, Template)>,
    pub body: Option<Template>,
    /// Instead of a body: a JSON-RPC message. The fields that the revision requires are added.
    pub message: Option<Template>,
    /// Instead of a body: parameters of a form.
    pub form: Vec<(String, Template)>,
    pub login: Option<LoginEnd>,
    /// Added to the query of the URL.
    pub query: Vec<(String, Template)>,
    /// A path or URL to use instead of the endpoint.
    pub url: Option<Template>,
    /// Close the exchange after this many seconds. This does not count against the server.
    pub seconds: Option<f64>,
}
