//! A suite after it was read and linted: what the planner, the gatherer and the judge work with.
//!
//! Nothing here is built by hand outside `load`; whoever holds a `Suite` may rely on every name being bound, every path
//! parsed and every revision window non-empty.

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
    /// The file it came from, as a user would name it.
    pub file: String,
    /// Whom its rules judge.
    pub subject: Side,
    /// Of a suite about clients: what a client meets and does; without it, everything that was recorded is judged.
    pub scenario: Option<Scenario>,
    /// Whether its rules judge generated calls, which only `generate` makes.
    pub generated: bool,
    pub applies: Applies,
    pub connection: Connection,
    pub client: Client,
    /// Suites that are gathered too where a rule of this one is judged: it looks at what they bring about.
    pub evidence: Vec<String>,
    /// Rules that are not judged where this suite counts; `*` stands for any text.
    pub replaces: Vec<String>,
    /// Constants by revision, available as `$values.name`.
    pub values: IndexMap<String, Vec<ValueRow>>,
    pub gather: Vec<Step>,
    pub rules: Vec<Rule>,
    pub untested: Vec<Untested>,
}

/// What a client can be asked to do.
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

/// What a client meets, and what it is asked to do there.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// A fault, variation or world of the reference server; `usual` is the server as it is.
    pub world: String,
    /// Actions after `connect` and before `close`.
    pub drive: Vec<Value>,
    /// How the client's handlers respond, for clients that take instructions.
    pub answers: Value,
    /// The minimum timeout of a start.
    pub patience: Duration,
}

/// Where something counts. An empty list sets no condition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Applies {
    pub since: Option<Revision>,
    pub until: Option<Revision>,
    pub transport: Vec<Transport>,
    pub proposal: Option<String>,
    /// Dotted paths into the server's capabilities (`resources`, `resources.subscribe`) that must be there and not
    /// false; with `!` in front, that must be absent or false.
    pub server: Vec<String>,
    /// Only on a server that asks for authorization as the protocol describes it.
    pub protected: bool,
    /// Facts about the server that must have been given.
    pub facts: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connection {
    /// The connection of the survey.
    Shared,
    /// A second one, because the suite may disturb it. Other such suites may have used it before.
    Own,
    /// One on which nothing else will be asked, because the suite may end the server.
    Last,
    /// One for each call, as the first thing on it, before any handshake.
    Alone,
    /// One that nothing was sent on before, or nothing but by other such suites where starting a server is dear.
    Fresh,
}

/// The connection of one step, where it is not that of the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepConnection {
    /// One for this call alone, before any handshake.
    New,
    /// The second one, which the suite has for its lists.
    Second,
}

/// What the client declares while a suite is gathered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// All that it can do.
    Full,
    /// The capabilities as such, and none of what they can hold.
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

/// A JSON value in which a string that is wholly a reference (`$name.path`) stands for what it points to.
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
    /// Items of `each` (or, without it, the step itself) are left out unless all clauses hold.
    pub filter: Vec<Clause>,
    pub save: Option<String>,
    /// How the request differs from a complete one, on purpose.
    pub deviates: Option<Deviates>,
    /// How the same without the deviation has to end.
    pub control: Control,
    /// Line of the suite file, for messages.
    pub line: usize,
}

/// How a request ends that is like a probe, without its deviation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Control {
    #[default]
    Result,
    /// It is about something that nobody has.
    Error,
}

/// How a probe deviates from a complete request of its revision.
#[derive(Clone, Debug, PartialEq)]
pub enum Deviates {
    /// It is no JSON-RPC message at all.
    Message,
    /// Some parts are missing, others are not as usual.
    Parts {
        /// The name of a part, or a list of them.
        without: Option<Template>,
        /// Each part with what is there instead; a header is left out by null.
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
    /// What brings a change about, as `facts.change` says it.
    Change(Path),
    /// `notifications/cancelled` for an open subscription: the id of its request.
    Cancel(Template),
    /// So many seconds, in which nothing is sent.
    Pause(f64),
}

impl Verb {
    /// What the step saves.
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

/// One request. `params` are `with`, completed by what the revision asks for.
#[derive(Clone)]
pub struct Call {
    pub method: Template,
    pub with: Option<Template>,
    /// A request id to use instead of the next number.
    pub id: Option<Template>,
    /// On a connection of its own, before any handshake.
    pub alone: bool,
    /// What is asked after it over stdio, before such a connection is closed.
    pub then: Option<String>,
    /// Give up after this many seconds, without a word against the server.
    pub seconds: Option<f64>,
    /// Ask again and again until this holds of `$reply`; then `seconds` is how long to go on.
    pub until: Vec<Clause>,
    pub answer: Option<Manner>,
}

/// One list request and its further pages.
pub struct List {
    pub method: String,
    pub with: Option<Template>,
    /// Member of the result that holds the items.
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
    /// The user may set others.
    pub settable: bool,
}

pub struct Notify {
    pub method: String,
    pub with: Option<Template>,
}

/// Waits for a notification that came after the named step began.
pub struct Await {
    pub method: String,
    pub since: Option<String>,
    /// Conditions on the message, in scope as `$message`.
    pub matching: Vec<Clause>,
    pub seconds: f64,
    /// Silence is what is hoped for: the wait ends sooner where the server is quick.
    pub quiet: bool,
}

/// Raw text. Over stdio a newline is added; over HTTP it is the body of a POST.
pub struct Send {
    pub payload: Payload,
    /// The request id whose answer is the reply; without it, an error without id is.
    pub answer: Option<Template>,
    /// Over stdio, written in so many pieces.
    pub pieces: usize,
}

pub enum Payload {
    Text(Template),
    /// Bytes that are no UTF-8, written in base64.
    Bytes(Vec<u8>),
    /// A JSON value, serialised on one line.
    Json(Template),
    /// A JSON-RPC message, or a batch, completed by what the revision asks for.
    Message(Template),
    /// Several of them, one a line.
    Lines(Template),
}

/// A whole HTTP request to the endpoint.
#[derive(Clone)]
pub struct HttpCall {
    pub method: String,
    /// Added to, or with `null` taken from, the headers that the revision asks for.
    pub headers: Vec<(Template, Template)>,
    pub body: Option<Template>,
    /// In the place of a body: a JSON-RPC message, completed by what the revision asks for.
    pub message: Option<Template>,
    /// Added to the query of the URL.
    pub query: Vec<(String, Template)>,
    /// A path or URL to use instead of the endpoint.
    pub url: Option<Template>,
    /// Drop the exchange after this many seconds, without a word against the server.
    pub seconds: Option<f64>,
}

pub struct Rule {
    pub id: String,
    pub level: Level,
    /// The title: the requirement as a sentence, in our own words.
    pub statement: String,
    /// Page and anchor where the norm stands.
    pub source: String,
    /// The reason, if the specification does not state the rule explicitly.
    pub derived: Option<String>,
    pub applies: Applies,
    pub every: Option<Every>,
    pub filter: Vec<Clause>,
    pub test: Test,
    pub after: Vec<String>,
    /// It is about the form of a message: of one that it fails for, no other rule says anything.
    pub form: bool,
    pub hint: Option<String>,
    pub faults: Vec<String>,
    pub line: usize,
}

impl Applies {
    /// It is for servers that do not declare something.
    pub fn lacks_some(&self) -> bool {
        self.server.iter().any(|capability| capability.starts_with('!'))
    }
}

impl Rule {
    /// It looks at everything that passes, whichever suite caused it.
    pub fn looks_at_whole_run(&self) -> bool {
        if let Some(every) = &self.every {
            return every.over.iter().any(|path| path.streamed);
        }
        self.tested().into_iter().any(|path| path.streamed)
    }

    /// It looks at generated calls, and what comes of them.
    pub fn looks_at_generated(&self) -> bool {
        let of_every = self.every.iter().flat_map(|every| &every.over);
        let mut paths = self.tested().into_iter().chain(of_every);
        paths.any(|path| path.streamed && views::GENERATED_ONLY.contains(&path.root.as_str()))
    }

    /// It compares something with what the server says of itself.
    pub fn looks_at_declaration(&self) -> bool {
        self.names().contains("server") || self.applies.lacks_some()
    }

    /// It compares something with the capabilities that the server declares, or is for servers without some.
    pub fn looks_at_capabilities(&self) -> bool {
        let declared = |path: &Path| path.root == "server" && path.first_member() == Some("capabilities");
        self.applies.lacks_some() || self.paths().into_iter().any(declared)
    }

    /// It holds several of the things that its suite saved against each other.
    pub fn compares_saves(&self, suite: &Suite) -> bool {
        let names = self.names();
        suite.gather.iter().filter_map(|step| step.save.as_deref()).filter(|save| names.contains(save)).count() > 1
    }

    /// It holds responses against what a list said, or more of that than the request for them repeats.
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

    /// The names at the roots of its paths.
    fn names(&self) -> HashSet<&str> {
        let of_every = self.every.iter().flat_map(|every| &every.over);
        self.paths().into_iter().chain(of_every).map(|path| path.root.as_str()).collect()
    }

    /// What its conditions and its test look at, and what they compare it with.
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

    /// What its test looks at.
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
    /// What a finding says, in the place of words that are made from these.
    pub says: Option<String>,
}

/// A requirement that no rule can show.
pub struct Untested {
    pub id: String,
    pub level: Level,
    pub statement: String,
    pub because: String,
    pub source: Option<String>,
}
