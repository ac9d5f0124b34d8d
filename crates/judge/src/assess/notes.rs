//! Notes on the run: those that were taken during it, and those that follow from its evidence and its verdicts.

use std::collections::HashSet;

use indexmap::IndexMap;
use serde_json::Value;

use conform_model::{
    evidence::{Ended, Evidence, FrameKind, Side, conversation::Said},
    outcome::{RuleResult, Status, excerpt::middle},
};

/// Names of suites in a note.
const SHOWN: usize = 3;
/// Columns of an error message in a note.
const WORDS: usize = 100;

pub fn notes(evidence: &Evidence, rules: &[RuleResult], sessions: Sessions) -> Vec<String> {
    let cut = |line| format!("the transcript is truncated in line {line}; the lines before were judged");
    let taken = evidence.header.notes.iter().cloned();
    let found = incomplete(evidence, rules)
        .into_iter()
        .chain(gone(evidence))
        .chain(failed_exits(evidence, rules))
        .chain(sessions.not_issued());
    taken.chain(found).chain(evidence.cut_off.map(cut)).collect()
}

/// Suites that could not send all their requests, by the reason. Rules that are broken for that reason show it.
fn incomplete(evidence: &Evidence, rules: &[RuleResult]) -> Vec<String> {
    let mut by_reason: IndexMap<&str, Vec<String>> = IndexMap::new();
    for context in &evidence.contexts {
        for (suite, why) in &context.incidents {
            by_reason.entry(why).or_default().push(format!("{suite} ({})", context.revision));
        }
    }
    let is_told = |why| rules.iter().any(|rule| rule.status == Status::Broken && rule.reason.as_deref() == Some(why));
    by_reason.retain(|why, _| !is_told(why));
    let told = by_reason.into_iter().map(|(why, suites)| {
        let verb = if suites.len() == 1 { "is" } else { "are" };
        format!("{} {verb} incomplete: {why}", listed(&suites))
    });
    told.collect()
}

/// Why a server may have exited: `connection refused`, after the client had closed a connection and sent nothing more.
fn gone(evidence: &Evidence) -> Option<String> {
    let (mut closed, mut refused) = (None, None);
    for frame in evidence.indexes() {
        match (frame.from, frame.kind, frame.ended) {
            (_, _, Some(Ended::Dropped)) => closed = Some(frame.frame),
            (_, _, Some(Ended::Unsent)) => refused = refused.or(closed),
            (Side::Client, FrameKind::Message, _) => closed = None,
            (Side::Server, FrameKind::Message | FrameKind::HttpResponse, _) => (closed, refused) = (None, None),
            _ => {}
        }
    }
    refused.map(|frame| format!("the server accepts no connections since the client closed one (#{frame})"))
}

/// Processes that failed when their stdin was closed, which no rule forbids. Clients and gateways start servers of our own,
/// whose exits say nothing about them.
fn failed_exits(evidence: &Evidence, rules: &[RuleResult]) -> Option<String> {
    if evidence.header.judged != Side::Server && !evidence.header.recorded {
        return None;
    }
    let told = |text: &str| rules.iter().flat_map(|rule| &rule.findings).any(|found| found.message.contains(text));
    let ended = evidence.frames_where(|index| index.ended == Some(Ended::StdinClosed));
    let failed = ended.filter(|frame| Ended::StdinClosed.is_failure(frame.exit.as_ref()));
    let mut failed = failed.map(|frame| frame.text.clone().unwrap_or_default()).filter(|how| !told(how));
    let first = failed.next()?;
    Some(match failed.count() {
        0 => format!("a process of the server failed, which no rule judges: it {first}"),
        others => format!("{} processes of the server failed, which no rule judges; the first {first}", others + 1),
    })
}

/// A server that rejects all requests without a session, and issues none. Many findings follow from that.
#[derive(Default)]
pub struct Sessions {
    initialized: Option<u64>,
    /// HTTP requests with a session, and rejected ones without.
    with_session: HashSet<u64>,
    rejected: HashSet<u64>,
    words: Option<String>,
    are_issued: bool,
}

impl Sessions {
    pub fn take(&mut self, said: &Said) {
        const SESSION: &str = "mcp-session-id";
        let frame = said.frame;
        let Some(post) = frame.post.filter(|_| !self.are_issued) else { return };
        let head = frame.http.as_ref();
        if head.is_some_and(|head| head.value(SESSION).is_some()) {
            self.are_issued = frame.from == Side::Server;
            self.with_session.insert(post);
        }
        if head.is_some_and(|head| head.status == Some(400)) && !self.with_session.contains(&post) {
            self.rejected.insert(post);
        }
        let Some(message) = frame.message.as_ref().filter(|_| frame.from == Side::Server) else { return };
        if message.pointer("/result/protocolVersion").is_some() {
            self.initialized.get_or_insert(frame.frame);
        }
        let said = message.pointer("/error/message").and_then(Value::as_str);
        let said = said.filter(|said| self.rejected.contains(&post) && said.to_ascii_lowercase().contains("session"));
        self.words = self.words.take().or_else(|| said.map(str::to_owned));
    }

    fn not_issued(self) -> Option<String> {
        let (frame, words) = self.initialized.zip(self.words).filter(|_| !self.are_issued)?;
        Some(format!(
            "the server rejects requests without a session (`{}`), but its response to `initialize` had no \
             `Mcp-Session-Id` header (#{frame}); many findings follow from that",
            middle(&words, WORDS)
        ))
    }
}

/// The first names, without repetitions in a row, and how many more there are.
pub fn listed(names: &[String]) -> String {
    let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
    names.dedup();
    let more = names.len().saturating_sub(SHOWN);
    let shown = names[..names.len() - more].join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}
