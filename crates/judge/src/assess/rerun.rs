//! Adds to each finding the command that reproduces it.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    path::PathBuf,
};

use conform_model::{
    evidence::{Evidence, Frame, Kind, Message, Side},
    outcome::{RuleResult, RunReport, Subject, TargetReport},
};

/// Values of `by` that occur in every run.
pub const ALWAYS: [&str; 8] =
    ["survey", "handshake", "adoption", "first-task", "authorization", "probe", "answer", "resume"];

/// The frames in findings.
pub fn numbers(report: &RunReport) -> BTreeSet<u64> {
    report.rules.iter().flat_map(|rule| &rule.findings).flat_map(|finding| finding.frames.iter().copied()).collect()
}

/// The command that tests the same program again, without the command that starts a client or a gateway.
pub fn command(target: &TargetReport) -> String {
    let verb = match target.subject {
        Subject::Server | Subject::Both => "run",
        Subject::Client => "client",
        Subject::Gateway => "gateway",
        Subject::AuthorizationServer => "auth-server",
    };
    format!("mcp-conform {verb} {}", target.options).trim_end().to_owned()
}

pub fn say_how(report: &mut RunReport, causes: &Causes, suites: &[PathBuf]) {
    let mut command = command(&report.target);
    for path in suites.iter().map(|path| path.display().to_string()) {
        command += " --suite ";
        command += &shlex::try_quote(&path).unwrap_or_default();
    }
    if report.target.subject != Subject::Server {
        return test_again(report, &command);
    }
    for rule in &mut report.rules {
        let with: String = causes.beside(rule).iter().map(|suite| format!(" --with {suite}")).collect();
        for finding in &mut rule.findings {
            finding.reproduce = Some(format!("{command} --revision {} --filter {}{with}", rule.revision, rule.id));
        }
    }
}

/// The terms of a filter that tests the rules of the report again, with all requests that their findings need.
pub fn filter_of(report: &RunReport, evidence: &Evidence) -> Vec<String> {
    let shown = numbers(report);
    let mut causes = Causes::default();
    for frame in evidence.frames_where(|index| Some(&index.frame) <= shown.last()) {
        causes.take(&frame, shown.contains(&frame.frame));
    }
    let rules = report.rules.iter();
    let terms = rules.flat_map(|rule| {
        let beside = causes.beside(rule).into_iter().map(|suite| format!("+{suite}"));
        std::iter::once(rule.id.clone()).chain(beside)
    });
    // A rule may fail in several revisions.
    terms.collect::<BTreeSet<_>>().into_iter().collect()
}

/// The suites that caused the frames in findings.
#[derive(Default)]
pub struct Causes {
    of: HashMap<u64, String>,
    /// The last suite that used each connection: it may have caused what the server sends on its own.
    asking: HashMap<u32, String>,
    /// The connection and the id of each request without a response.
    open: HashSet<(u32, String)>,
}

impl Causes {
    /// A rule over the whole run may have found it in requests of other suites, which are these.
    fn beside<'a>(&'a self, rule: &RuleResult) -> BTreeSet<&'a str> {
        let frames = rule.findings.iter().flat_map(|finding| &finding.frames);
        let asked = frames.filter_map(|frame| self.of.get(frame)).map(String::as_str);
        asked.filter(|by| *by != rule.suite && !ALWAYS.contains(by)).collect()
    }

    pub fn take(&mut self, frame: &Frame, is_shown: bool) {
        let by = frame.by.as_ref().filter(|by| !ALWAYS.contains(&by.as_str()));
        self.asking.extend(by.map(|by| (frame.link, by.clone())));
        let id = frame.message.as_ref().and_then(|message| message.get("id"));
        let id = id.map(|id| (frame.link, id.to_string()));
        let kind = frame.message.as_ref().map(|message| Message::of(message).kind);
        let is_expected = match (frame.from, kind, id) {
            (Side::Client, Some(Kind::Request), Some(id)) => self.open.insert(id),
            // A second response belongs to another request, such as one whose id the server has changed.
            (Side::Server, Some(Kind::Result | Kind::Error), Some(id)) => self.open.remove(&id),
            (_, kind, _) => matches!(kind, Some(Kind::Result | Kind::Error)),
        };
        // The end of a process belongs to no suite.
        let is_unsolicited = frame.from == Side::Server && frame.ended.is_none() && !is_expected;
        let cause = frame.by.as_ref().or_else(|| self.asking.get(&frame.link).filter(|_| is_unsolicited));
        self.of.extend(cause.filter(|_| is_shown).map(|by| (frame.frame, by.clone())));
    }
}

/// The command that starts a client or a gateway, as the last argument.
pub fn started(target: &TargetReport) -> String {
    let is_server = matches!(target.subject, Subject::Server | Subject::Both);
    target.command.as_ref().filter(|_| !is_server).map(|started| format!(" -- {started}")).unwrap_or_default()
}

/// A client or gateway is restarted in the scenario of the rule.
fn test_again(report: &mut RunReport, command: &str) {
    // One from the configuration is already named by the options.
    let started = started(&report.target);
    for rule in &mut report.rules {
        for finding in &mut rule.findings {
            // A rule over all messages may have found it in a scenario that the rule alone does not start.
            let scenario = finding.world.as_ref().map(|world| world.scenario.as_str());
            let with = scenario.filter(|scenario| *scenario != rule.suite).map(|id| format!(" --with {id}"));
            let with = with.unwrap_or_default();
            let again = format!("{command} --revision {} --filter {}{with}{started}", rule.revision, rule.id);
            finding.reproduce = Some(again);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_second_response_belongs_to_the_suite_that_used_the_connection_last() {
        let mut causes = Causes::default();
        let mut take = |number: u64, from: &str, by: Option<&str>, message: Value| {
            let mut frame = json!({ "frame": number, "at": 0, "link": 1, "from": from, "kind": "message", "bytes": 1 });
            (frame["message"], frame["by"]) = (message, by.into());
            causes.take(&serde_json::from_value(frame).expect("a frame"), true);
        };
        let (ping, pong) = (|id: Value| json!({ "id": id, "method": "ping" }), || json!({ "id": 1, "result": {} }));
        take(1, "client", Some("handshake"), ping(json!(1)));
        take(2, "client", Some("base.bad-input"), ping(json!(true)));
        take(3, "server", None, pong());
        take(4, "server", None, pong());
        let of = |number: u64| causes.of.get(&number).map(String::as_str);
        assert_eq!((of(3), of(4)), (None, Some("base.bad-input")));
    }
}
