//! A parsed and checked suite, as used by the planner, the gatherer and the judge.
//!
//! Only `load` builds one. So in every `Suite` all names are bound, all paths are parsed, and no revision window is
//! empty.

use std::{collections::HashSet, time::Duration};

use indexmap::IndexMap;
use serde_json::Value;

use super::{ground::SURVEY, matcher::Matcher, path::Path, views};
use crate::{
    evidence::{Manner, Side, Transport},
    outcome::Level,
    revision::Revision,
};

pub struct Suite {
    pub id: String,
    pub about: String,
    /// The path of its file, as a user would type it.
    pub file: String,
    /// The side that its rules judge.
    pub subject: Side,
    /// In a suite about clients: the server that the client meets, and its actions. Without it, the rules judge
    /// everything recorded.
    pub scenario: Option<Scenario>,
    /// Whether its rules judge generated calls, which only `generate` makes.
    pub generated: bool,
    pub applies: Applies,
    pub connection: Connection,
    pub client: Client,
    /// Suites that are gathered too if a rule of this one is judged, because the rule needs their evidence.
    pub evidence: Vec<String>,
    /// Rules that are not judged where this suite applies; `*` matches any text.
    pub replaces: Vec<String>,
    /// Constants by revision, available as `$values.name`.
    pub values: IndexMap<String, Vec<ValueRow>>,
    pub gather: Vec<Step>,
    pub rules: Vec<Rule>,
    pub untested: Vec<Untested>,
}

/// The actions that a client can be instructed to perform.
pub const ACTIONS: [&str; 18] = [
    "call",
    "cancel",
    "close",
    "complete",
    "connect",
    "discover",
    "get",
    "list",
    "listen",
    "parallel",
    "ping",
    "read",
    "roots",
    "setLevel",
    "subscribe",
    "unsubscribe",
    "wait",
    "walk",
];

/// The server that a client meets, and the client's actions.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// A fault, variation or world of the reference server; `usual` is the server without any.
    pub world: String,
    /// Actions after `connect` and before `close`.
    pub drive: Vec<Value>,
    /// How the client's handlers respond, for clients that take instructions.
    pub answers: Value,
    /// The minimum timeout of a start.
    pub patience: Duration,
}

/// Where a suite, step or rule applies. An empty list sets no condition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Applies {
    pub since: Option<Revision>,
    pub until: Option<Revision>,
    pub transport: Vec<Transport>,
    pub proposal: Option<String>,
    /// Dotted paths into the server's capabilities (`resources`, `resources.subscribe`) that must be present and not
    /// false. With `!` in front, they must be absent or false.
    pub server: Vec<String>,
    /// Only for a server that requires authorization as the specification defines it.
    pub protected: bool,
    /// Facts about the server that must have been given.
    pub facts: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connection {
    /// The connection of the survey.
    Shared,
    /// A second connection, because the suite may disturb it. Other such suites may have used it before.
    Own,
    /// A connection that is not used afterwards, because the suite may kill the server.
    Last,
    /// One connection for each call, which is the first message on it, before any handshake.
    Alone,
    /// An unused connection. Where starting a server is expensive, other suites that need one share it.
    Fresh,
}

/// The connection of one step, if it differs from that of the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepConnection {
    /// One for this call only, before any handshake.
    New,
    /// The second one, which the suite uses for list requests.
    Second,
}

/// The capabilities that the client declares while a suite is gathered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// All that it can do.
    Full,
    /// All top-level capabilities, but as empty objects.
    Plain,
    /// Nothing.
    Bare,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ValueRow {
    pub since: Option<Revision>,
    pub until: Option<Revision>,
    pub is: Value,
}

/// A JSON value in which a string that is nothing but a reference (`$name.path`) stands for the selected value.
#[derive(Clone, Debug, PartialEq)]
pub enum Template {
    Literal(Value),
    Reference(Path),
    Array(Vec<Template>),
    Object(Vec<(String, Template)>),
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

/// Runs the step once for each item; the saved value is then an array of `{ <var>: item, reply: ... }`.
pub struct Each {
    pub var: String,
    /// A reference to an array, or a literal one.
    pub over: Template,
    pub at_most: Option<usize>,
    /// Run sequentially instead of concurrently.
    pub in_order: bool,
}

pub enum Verb {
    Call(Call),
    List(List),
    Walk(Walk),
    Notify(Notify),
    Await(Await),
    Send(Send),
    Http(HttpCall),
    /// Triggers a change in the server, as `facts.change` describes.
    Change(Path),
    /// `notifications/cancelled` for an open subscription: the id of its request.
    Cancel(Template),
    /// A pause of this many seconds, in which nothing is sent.
    Pause(f64),
}

impl Verb {
    /// The type of what the step saves.
    pub const fn saves(&self) -> &'static views::View {
        match self {
            Self::List(_) => &views::LIST,
            Self::Walk(_) => &views::WALK,
            Self::Await(_) => &views::AWAIT,
            Self::Change(_) => &views::CHANGE,
            Self::Call(_) | Self::Notify(_) | Self::Send(_) | Self::Http(_) | Self::Cancel(_) | Self::Pause(_) => {
                &views::REPLY
            }
        }
    }
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
    pub answer: Option<Manner>,
}

/// One list request and its further pages.
pub struct List {
    pub method: String,
    pub with: Option<Template>,
    /// Field of the result that holds the items.
    pub take: String,
    pub pages: usize,
    /// On the second connection of the suite.
    pub beside: bool,
}

pub struct Walk {
    pub method: String,
    pub from: Path,
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
    pub quiet: bool,
}

/// Raw text. Over stdio a newline is added; over HTTP it is the body of a POST.
pub struct Send {
    pub payload: Payload,
    /// The id of the request whose response is the reply; without it, the reply is an error without id.
    pub answer: Option<Template>,
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
    /// Added to the query of the URL.
    pub query: Vec<(String, Template)>,
    /// A path or URL to use instead of the endpoint.
    pub url: Option<Template>,
    /// Close the exchange after this many seconds. This does not count against the server.
    pub seconds: Option<f64>,
}

pub struct Rule {
    pub id: String,
    pub level: Level,
    /// The title: the requirement as a sentence, in our own words.
    pub statement: String,
    /// Page and anchor of the requirement.
    pub source: String,
    /// The reason, if the specification does not state the rule explicitly.
    pub derived: Option<String>,
    pub applies: Applies,
    pub every: Option<Every>,
    pub filter: Vec<Clause>,
    pub test: Test,
    pub after: Vec<String>,
    /// It is about the form of a message. If a message fails it, no other rule judges that message.
    pub form: bool,
    pub hint: Option<String>,
    pub faults: Vec<String>,
    pub line: usize,
}

impl Applies {
    /// Whether it requires that a capability is not declared.
    pub fn lacks_some(&self) -> bool {
        self.server.iter().any(|capability| capability.starts_with('!'))
    }
}

impl Rule {
    /// Whether it judges the messages of the whole run, whichever suite caused them.
    pub fn looks_at_whole_run(&self) -> bool {
        if let Some(every) = &self.every {
            return every.over.iter().any(|path| path.streamed);
        }
        self.tested().into_iter().any(|path| path.streamed)
    }

    /// Whether it judges generated calls and their effects.
    pub fn looks_at_generated(&self) -> bool {
        let of_every = self.every.iter().flat_map(|every| &every.over);
        let mut paths = self.tested().into_iter().chain(of_every);
        paths.any(|path| path.streamed && views::GENERATED_ONLY.contains(&path.root.as_str()))
    }

    /// Whether it compares something with what the server declares about itself.
    pub fn looks_at_declaration(&self) -> bool {
        self.names().contains("server") || self.applies.lacks_some()
    }

    /// Whether it compares something with the declared capabilities, or requires that one is not declared.
    pub fn looks_at_capabilities(&self) -> bool {
        let declared = |path: &Path| path.root == "server" && path.first_member() == Some("capabilities");
        self.applies.lacks_some() || self.paths().into_iter().any(declared)
    }

    /// Whether it compares several saves of its suite with each other.
    pub fn compares_saves(&self, suite: &Suite) -> bool {
        let names = self.names();
        suite.gather.iter().filter_map(|step| step.save.as_deref()).filter(|save| names.contains(save)).count() > 1
    }

    /// Whether it compares responses with list items, beyond the fields that the request itself repeats.
    pub fn looks_at_listing(&self, suite: &Suite) -> bool {
        const ASKED: [&str; 3] = ["uri", "uriTemplate", "name"];
        let names = self.names();
        let has_saved = suite.gather.iter().filter_map(|step| step.save.as_deref()).any(|save| names.contains(save));
        if has_saved && names.contains(SURVEY) {
            return true;
        }
        let Some(every) = &self.every else { return false };
        let saved_as = |step: &&Step| every.over.iter().any(|path| step.save.as_ref() == Some(&path.root));
        let loops = suite.gather.iter().filter(saved_as).filter_map(|step| step.each.as_ref());
        let listed: Vec<String> = loops.map(|each| format!("${}.{}", every.var, each.var)).collect();
        let is_of_list = |path: &&Path| {
            let rest = listed.iter().find_map(|listed| path.text.strip_prefix(listed.as_str()));
            rest.is_some_and(|rest| !ASKED.iter().any(|asked| rest == format!(".{asked}")))
        };
        self.paths().iter().any(is_of_list)
    }

    /// The root names of its paths.
    fn names(&self) -> HashSet<&str> {
        let of_every = self.every.iter().flat_map(|every| &every.over);
        self.paths().into_iter().chain(of_every).map(|path| path.root.as_str()).collect()
    }

    /// All paths in its conditions and its test, including operands.
    fn paths(&self) -> Vec<&Path> {
        let clauses = self.filter.iter().chain(match &self.test {
            Test::Expect(clauses) => clauses.as_slice(),
            Test::Observe(_) | Test::Check { .. } => &[],
        });
        let mut paths = self.tested();
        for clause in clauses {
            paths.push(&clause.subject);
            paths.extend(clause.matcher.operands().into_iter().flat_map(Template::references));
        }
        paths
    }

    /// The paths that its test judges.
    fn tested(&self) -> Vec<&Path> {
        match &self.test {
            Test::Expect(clauses) => clauses.iter().map(|clause| &clause.subject).collect(),
            Test::Observe(paths) => paths.iter().collect(),
            Test::Check { given, .. } => given.iter().flat_map(|(_, template)| template.references()).collect(),
        }
    }
}

/// Judges the rule for each node that the paths select.
pub struct Every {
    pub var: String,
    pub over: Vec<Path>,
}

pub enum Test {
    Expect(Vec<Clause>),
    Check { name: String, given: Vec<(String, Template)> },
    Observe(Vec<Path>),
}

#[derive(Clone)]
pub struct Clause {
    pub subject: Path,
    pub matcher: Matcher,
    /// The text of a finding. Without it, the text is made from the clauses.
    pub says: Option<String>,
}

/// A requirement that no rule can test.
pub struct Untested {
    pub id: String,
    pub level: Level,
    pub statement: String,
    pub because: String,
    pub source: Option<String>,
}
