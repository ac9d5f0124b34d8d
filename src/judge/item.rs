//! One rule over one item, or over a suite's saves as a whole.

use serde_json::Value;

use super::{
    checks,
    phrase::{named_around, phrase, subject},
    place::Place,
    tally::{Found, Tally},
};
use crate::{
    outcome::Finding,
    revision::Revision,
    suite::{Clause, Mismatch, Path, STREAMED, Scope, Template, Test},
};

/// A step that did not apply to this server saved nothing.
pub const NOT_ASKED: &str = "there was no reason to ask this server for it";
const GONE: &str = "the server was gone before it could be asked";
const UNREAD: &str = "the answer is larger than what is read of one";
const UNANSWERED: &str = "the answer to compare it with did not come";

/// The item of `every` that is judged.
pub struct Item<'a> {
    pub var: &'a str,
    /// What selected it, from the value of the path's root name.
    pub path: &'a Path,
    pub root: &'a Value,
    pub value: &'a Value,
    /// Where it stands in the root, as a JSON Pointer. Asked for when something is found.
    pub location: &'a dyn Fn() -> String,
}

impl Item<'_> {
    /// What its author calls it, or what it is a part of, such as the resource of an icon.
    fn subject(&self) -> String {
        let own = subject(self.value);
        if own.is_empty() { named_around(self.root, &(self.location)()) } else { own }
    }

    /// Where it stands.
    fn place(&self) -> Place {
        let location = (self.location)();
        let mut place = Place::of(self.root, &location, &Place::default());
        if place.frame == 0 {
            place.frames = frames_in(self.value);
            // The item is an exchange with something beside it, or nothing that came on the wire.
            match place.frames.last() {
                Some(&last) => (place.frame, place.pointer) = (last, String::new()),
                None => place.pointer = format!("${}{location}", self.path.root),
            }
        }
        place
    }
}

/// Judges the rule's `where` and its test, with the item's variable already in scope.
pub fn judge_item(tally: &mut Tally, scope: &Scope, revision: Revision, item: Option<&Item>) {
    tally.seen += usize::from(item.is_some());
    if !tally.rule.filter.iter().all(|clause| clause.holds(scope, revision)) {
        return;
    }
    if let Some(item) = item
        // What passes by was sent.
        && !STREAMED.contains(&item.path.root.as_str())
        && let Some(why) = shows_nothing(item.value)
    {
        tally.missing.get_or_insert_with(|| why.to_owned());
        return;
    }
    match &tally.rule.test {
        Test::Expect(clauses) => expect(tally, clauses, scope, revision, item),
        Test::Check { name, given } => check(tally, name, given, scope, revision, item),
        Test::Observe(paths) => {
            for path in paths {
                for value in path.values(scope).into_iter().flatten() {
                    tally.checked += 1;
                    tally.observe(path, value);
                }
            }
        }
    }
}

fn expect(tally: &mut Tally, clauses: &[Clause], scope: &Scope, revision: Revision, item: Option<&Item>) {
    if item.is_none()
        && let Some(absent) = absent(clauses, scope)
    {
        tally.missing.get_or_insert(absent);
        return;
    }
    // Nearly always none, and then there is nothing to put into words.
    let failing: Vec<&Clause> = clauses.iter().filter(|clause| !clause.holds(scope, revision)).collect();
    if failing.iter().any(|clause| is_compared_with_nothing(clause, scope)) {
        tally.missing.get_or_insert_with(|| UNANSWERED.to_owned());
        return;
    }
    tally.checked += 1;
    for clause in failing {
        let mismatches = clause.judge(scope, revision);
        let member = clause.subject.text.rsplit('.').next();
        let ended_otherwise = member == Some("end");
        for mut mismatch in mismatches {
            let at = place_of(&clause.subject, &mismatch.location, scope, item);
            let message = phrase(&clause.subject, &mismatch, scope);
            if ended_otherwise || member == Some("kind") {
                // The words for how a request ended, and for what a frame is, are ours: no server ever sent them.
                (mismatch.expected, mismatch.received) = (None, None);
            }
            let mut found = found(message, mismatch, at, item);
            if item.is_none()
                && let Some(root) = scope.lookup(&clause.subject.root)
            {
                found.finding.subject = subject(root);
            }
            tally.find(found);
        }
        if ended_otherwise {
            // What the answer should have held follows from there being none.
            break;
        }
    }
}

fn check(
    tally: &mut Tally,
    name: &str,
    given: &[(String, Template)],
    scope: &Scope,
    revision: Revision,
    item: Option<&Item>,
) {
    let report = checks::run(name, given, scope, revision);
    tally.checked += report.checked;
    if let Some(reason) = report.broken {
        tally.broken.get_or_insert(reason);
    }
    for fault in report.faults {
        let at = match given.iter().find(|(name, _)| *name == fault.given) {
            Some((_, Template::Reference(path))) => place_of(path, &location(path, &fault.pointer, scope), scope, item),
            _ => item.map(Item::place).unwrap_or_default(),
        };
        let mismatch = Mismatch {
            location: fault.pointer,
            message: String::new(),
            expected: fault.expected,
            received: fault.received,
        };
        let mut found = found(fault.message, mismatch, at, item);
        if let Some(subject) = fault.subject {
            found.finding.subject = subject;
        }
        tally.find(found);
    }
}

/// Why a reply says nothing about its subject: the request found the connection gone, or the answer is beyond our limits.
fn shows_nothing(item: &Value) -> Option<&'static str> {
    let reply = item.get("reply").unwrap_or(item);
    let was_never_sent = reply["end"] == "closed" && reply["frames"].as_array().is_some_and(Vec::is_empty);
    if was_never_sent { Some(GONE) } else { (reply["end"] == "unread").then_some(UNREAD) }
}

/// What keeps a rule without `every` from being judged in this run.
fn absent(clauses: &[Clause], scope: &Scope) -> Option<String> {
    clauses.iter().find_map(|clause| match scope.lookup(&clause.subject.root) {
        None => Some(NOT_ASKED.to_owned()),
        Some(reply) => shows_nothing(reply).map(str::to_owned),
    })
}

/// Whether what the values ought to be was to come in an answer, and it was not asked for, or none came: that is told of the
/// answer.
fn is_compared_with_nothing(clause: &Clause, scope: &Scope) -> bool {
    let unanswered = |reply: &Value| reply["end"] == "closed" || reply["end"] == "timeout";
    let never_came = |path: &Path| {
        let Some(reply) = scope.lookup(&path.root) else { return true };
        unanswered(reply) && path.values_in(reply).is_empty()
    };
    clause.matcher.operands().into_iter().any(|operand| {
        let paths = operand.references();
        // Of alternatives one is enough to compare with.
        let of_all = !matches!(operand, Template::Array(_)) || paths.iter().all(|path| never_came(path));
        of_all && paths.into_iter().any(never_came)
    })
}

fn place_of(subject: &Path, location: &str, scope: &Scope, item: Option<&Item>) -> Place {
    let base = item.filter(|item| item.var == subject.root).map(Item::place).unwrap_or_default();
    match scope.lookup(&subject.root) {
        Some(root) => {
            let mut place = Place::of(root, location, &base);
            if place.frames.is_empty() {
                let judged = item.map(|item| item.value).or_else(|| root.pointer(location));
                place.frames = judged.map(frames_in).unwrap_or_default();
            }
            place
        }
        None => base,
    }
}

/// A pointer into what a check was given, as one from the value of the path's root name.
fn location(path: &Path, pointer: &str, scope: &Scope) -> String {
    let nodes = path.select(scope).unwrap_or_default();
    let listed = pointer.strip_prefix('/').filter(|_| path.is_plural());
    let (index, rest) = listed.map_or((0, pointer), |tail| {
        let end = tail.find('/').unwrap_or(tail.len());
        (tail[..end].parse().unwrap_or_default(), &tail[end..])
    });
    nodes.get(index).map_or_else(|| pointer.to_owned(), |node| format!("{}{rest}", node.location))
}

/// Frames that a judged item names of itself, such as those of the reply in an entry of `each`, or where it came in.
fn frames_in(value: &Value) -> Vec<u64> {
    let listed = value.get("frames").or_else(|| value.get("reply")?.get("frames"));
    let listed = listed.and_then(Value::as_array).into_iter().flatten();
    listed.chain(value.pointer("/origin/frame")).filter_map(Value::as_u64).collect()
}

fn found(message: String, mismatch: Mismatch, at: Place, item: Option<&Item>) -> Found {
    let finding = Finding {
        subject: item.map(Item::subject).unwrap_or_default(),
        message,
        expected: mismatch.expected,
        received: mismatch.received,
        pointer: at.in_message(),
        frames: at.frames.clone(),
        messages: Vec::new(),
        alike: 0,
        reproduce: None,
        by_hand: None,
    };
    let item = item.map_or_else(|| at.clone(), Item::place);
    Found { finding, item, at }
}
