//! Adds to each finding a way to reproduce it without this program: lines piped into the server, or curl requests.
//!
//! A recipe repeats what the run did: earlier requests of the suite on the connection, and the delays between them.
//! There is none if a shell cannot do that, because the server generated a part of the request or the order of events
//! matters.

mod curl;
mod history;
mod piped;

use std::collections::{BTreeSet, HashSet};

use serde_json::Value;

pub use self::history::History;
use conform_model::{
    evidence::{Frame, FrameKind, Kind, Message, Transport},
    outcome::{Finding, RuleResult, RunReport},
};
use conform_suite::{Connection, Rule, Suite, Test, Verb};

/// A longer recipe is not worth copying.
const LONGEST: usize = 4000;
/// Maximum length of one delay in a recipe, in seconds.
const PATIENCE: u64 = 10;

/// `history` has the frames up to the last one that is shown.
pub fn show_how(report: &mut RunReport, habits: &Habits, history: &History) {
    let able = report.target.transport.parse().ok().map(Transport::capabilities);
    if able.is_some_and(|able| able.endpoint) {
        // The response arrives on a separate stream, which a single command cannot hold open.
        return;
    }
    let command = command(report);
    let over_stdio = able.is_some_and(|able| able.process);
    for rule in &mut report.rules {
        // Over stdio, a second connection is a second process, which would have to run concurrently.
        let beside = over_stdio && habits.agreeing.contains(&rule.id);
        if beside || habits.outside.contains(&rule.suite) || habits.listed.contains(&rule.id) {
            continue;
        }
        let past = RecipeContext {
            declaration: habits.declared.contains(&rule.id),
            requests: habits.comparing.contains(&rule.id),
        };
        for finding in &mut rule.findings {
            if habits.across.contains(&rule.id) && history.asked(finding) < 2 {
                continue;
            }
            let recipe = recipe(finding, history, past, command.as_deref());
            finding.by_hand = recipe.filter(|recipe| recipe.len() <= LONGEST);
        }
    }
}

/// How suites use their connections.
pub struct Habits {
    /// Suites in which each request may depend on earlier ones.
    stateful: HashSet<String>,
    /// Suites that judge effects outside of their connection, or concurrent requests.
    outside: HashSet<String>,
    /// Suites with requests on a second connection.
    beside: HashSet<String>,
    /// Rules that compare connections.
    agreeing: HashSet<String>,
    /// Rules that judge what the server declares about itself.
    declared: HashSet<String>,
    /// Rules that need data of a list that their requests do not repeat.
    listed: HashSet<String>,
    /// Rules that compare several saves.
    comparing: HashSet<String>,
    /// Rules whose check compares all exchanges of the run.
    across: HashSet<String>,
}

/// What a recipe needs besides the requests of its finding.
#[derive(Clone, Copy)]
struct RecipeContext {
    /// Whether it needs the request to which the server responds with its declaration.
    declaration: bool,
    /// Whether it needs the earlier requests of the suite, on any connection.
    requests: bool,
}

impl Habits {
    /// Considers only rules with findings.
    pub fn of<'a>(suites: &'a [Suite], results: &[RuleResult]) -> Self {
        let found = results.iter().filter(|rule| !rule.findings.is_empty()).map(|rule| rule.id.as_str());
        let found: HashSet<&str> = found.collect();
        let rules_of =
            |suite: &'a Suite| suite.rules.iter().filter(|rule| found.contains(rule.id.as_str())).collect::<Vec<_>>();
        let named = |fits: fn(&Suite) -> bool| {
            suites.iter().filter(|suite| fits(suite)).map(|suite| suite.id.clone()).collect::<HashSet<_>>()
        };
        let changes = |suite: &Suite| suite.gather.iter().any(|step| matches!(step.verb, Verb::Change(_)));
        let changing: HashSet<String> = named(changes);
        let looks_at = |suite: &&Suite| suite.requires.iter().any(|id| changing.contains(id));
        let watching = suites.iter().filter(looks_at).map(|suite| suite.id.clone());
        // A recipe has one request after the other.
        let overlapping = named(|suite| suite.gather.iter().any(|step| matches!(step.verb, Verb::Overlap(_))));
        let outside = changing.iter().cloned().chain(watching).chain(overlapping).collect();
        let lacking =
            |suite: &Suite| suite.applies.lacks_some() || suite.gather.iter().any(|step| step.applies.lacks_some());
        let declared = suites.iter().flat_map(|suite| {
            let whole = lacking(suite);
            rules_of(suite)
                .into_iter()
                .filter(move |rule| whole || rule.looks_at_declaration())
                .map(|rule| rule.id.clone())
        });
        let comparing = suites.iter().flat_map(|suite| {
            rules_of(suite).into_iter().filter(|rule| rule.compares_saves(suite)).map(|rule| rule.id.clone())
        });
        let compares_all = |rule: &&Rule| matches!(rule.test, Test::Check { .. }) && rule.every.is_none();
        let across = suites
            .iter()
            .flat_map(|suite| rules_of(suite).into_iter().filter(compares_all).map(|rule| rule.id.clone()));
        let listed = suites.iter().flat_map(|suite| {
            rules_of(suite).into_iter().filter(|rule| rule.looks_at_listing(suite)).map(|rule| rule.id.clone())
        });
        let asks_beside =
            |suite: &Suite| suite.gather.iter().any(|step| matches!(&step.verb, Verb::List(list) if list.second));
        let agreeing = suites.iter().filter(|suite| asks_beside(suite)).flat_map(|suite| {
            let compares = |rule: &&Rule| matches!(rule.test, Test::Check { .. }) || rule.compares_saves(suite);
            rules_of(suite).into_iter().filter(compares).map(|rule| rule.id.clone())
        });
        Self {
            agreeing: agreeing.collect(),
            listed: listed.collect(),
            stateful: named(|suite| suite.connection != Connection::Shared),
            outside,
            beside: named(asks_beside),
            declared: declared.collect(),
            comparing: comparing.collect(),
            across: across.collect(),
        }
    }
}

fn recipe(finding: &Finding, history: &History, past: RecipeContext, command: Option<&str>) -> Option<String> {
    let shown: BTreeSet<u64> = finding.frames.iter().copied().collect();
    if shown.iter().any(|number| history.is_post(*number)) {
        return curl::requests(&shown, history, past);
    }
    piped::lines(&shown, history, past, command?)
}

/// The shell command that starts the server.
fn command(report: &RunReport) -> Option<String> {
    let words = shlex::split(&report.target.options)?;
    if words.iter().any(|word| word == "--reference") {
        let fault = words.iter().skip_while(|word| *word != "--fault").nth(1);
        return Some(format!(
            "mcp-conform serve{}",
            fault.map(|fault| format!(" --fault {fault}")).unwrap_or_default()
        ));
    }
    report.target.command.clone()
}

/// The text that was sent, if it is fully known and was sent in one piece.
fn body(frame: &Frame) -> Option<String> {
    if frame.why.is_some() {
        return None;
    }
    let text = frame.text.clone().or_else(|| frame.message.as_ref().map(ToString::to_string))?;
    (text.len() as u64 == frame.bytes).then_some(text)
}

fn method(frame: &Frame) -> Option<&str> {
    frame.message.as_ref()?.get("method")?.as_str()
}

/// Whether a message needs a response.
fn is_request(frame: &Frame) -> bool {
    method(frame).is_some() && frame.message.as_ref().is_some_and(|message| Message::of(message).kind == Kind::Request)
}

/// Whether a message opens a session.
fn opens(frame: &Frame) -> bool {
    matches!(method(frame), Some("initialize" | "notifications/initialized"))
}

/// Whether a message contains a value that the server generated for this run, such as a task, state or id, and would
/// not generate again.
fn names_what_was_made_up(frame: &Frame, history: &History) -> bool {
    let Some(message) = frame.message.as_ref().filter(|_| frame.kind == FrameKind::Message) else { return false };
    let message = Message::of(message);
    let is_response = matches!(message.kind, Kind::Result | Kind::Error);
    is_response && message.id.is_some_and(Value::is_string) || has_made_up(message.params(), history)
}

fn has_made_up(value: &Value, history: &History) -> bool {
    match value {
        Value::String(text) => history.is_made_up(text),
        Value::Array(items) => items.iter().any(|item| has_made_up(item, history)),
        Value::Object(members) => members.values().any(|member| has_made_up(member, history)),
        _ => false,
    }
}

/// Whether a message requests the server's declaration.
fn discovers(frame: &Frame) -> bool {
    method(frame) == Some("server/discover")
}

fn quoted(text: &str) -> Option<String> {
    shlex::try_quote(text).ok().map(std::borrow::Cow::into_owned)
}

/// Seconds for a delay of this many microseconds in the run, with a margin for slower machines.
fn seconds(microseconds: u64) -> u64 {
    (microseconds * 2).div_ceil(1_000_000).clamp(1, PATIENCE)
}
