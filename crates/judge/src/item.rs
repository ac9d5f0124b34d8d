//! Judges one rule on one item, or on the saves of a suite.

use serde_json::Value;

use super::{
    checks,
    located::{Item, SERVER, frames_of_save, held, location, place_of, save_of, show_first, type_of},
    naming::subject,
    phrase::{absence, phrase, selects_nothing},
    place::Place,
    tally::{Found, Tally},
};
use conform_model::{
    evidence::{End, ListEnd},
    outcome::{Finding, Unexercised, excerpt::middle},
    revision::Revision,
};
use conform_suite::{Clause, Path, Scope, Template, Test};

/// A step that was not applicable to this server saved nothing.
pub const NOT_ASKED: &str = "not probed: the server did not send what this probe needs";
const NOT_RECORDED: &str = "the recorded conversation does not show it";
const GONE: &str = "the server was not available any more";
const CONTROL: &str = "the server also rejects the same request without the tested deviation";
const UNANSWERED: &str = "the response to compare with was not received";

/// Judges the rule's `where` and its test, with the item's variable already in scope.
pub fn judge_item(tally: &mut Tally, scope: &Scope, revision: Revision, item: Option<&Item>) {
    tally.seen += usize::from(item.is_some());
    if let Some(why) = unread_of(tally, scope, revision, item) {
        tally.unread.get_or_insert(why);
        return;
    }
    if !tally.rule.filter.iter().all(|clause| clause.holds(scope, revision)) {
        if let Some(limit) = item.and_then(|item| ListEnd::of(item.value)?.limit()) {
            tally.missing.get_or_insert_with(|| {
                Unexercised::in_this_run(format!("the {limit} limit was reached before the end"))
            });
        }
        return;
    }
    if let Some(item) = item
        // A streamed item was sent in any case.
        && !item.path.streamed
        && let Some(why) = shows_nothing(item.value)
    {
        tally.missing.get_or_insert_with(|| Unexercised::in_this_run(why));
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
    let suite = tally.suite;
    if item.is_none()
        && let Some(absent) = absent(clauses, scope)
    {
        tally.missing.get_or_insert(absent);
        return;
    }
    // Nearly always empty, so messages are built only for the rest.
    let failing: Vec<&Clause> = clauses.iter().filter(|clause| !clause.holds(scope, revision)).collect();
    if item.is_none() && is_recorded(scope) && failing.iter().any(|clause| selects_nothing(clause, scope)) {
        tally.missing.get_or_insert_with(|| Unexercised::in_this_run(NOT_RECORDED));
        return;
    }
    if failing.iter().any(|clause| is_compared_with_nothing(clause, scope)) {
        tally.missing.get_or_insert_with(|| Unexercised::in_this_run(UNANSWERED));
        return;
    }
    if failing.is_empty() && clauses.iter().all(|clause| clause.is_idle(scope)) {
        tally.missing.get_or_insert_with(|| Unexercised::nothing_to_test(absence(clauses)));
        return;
    }
    tally.checked += 1;
    if failing.is_empty() {
        tally.hold(|| held(item, clauses.iter().map(|clause| &clause.subject), scope, suite));
    }
    for clause in failing {
        let mismatches = clause.judge(scope, revision);
        let member = clause.subject.last_member();
        let ended_otherwise = member == Some("end");
        for mismatch in mismatches {
            let mut at = place_of(&clause.subject, &mismatch.location, scope, suite, item);
            if at.frames.is_empty() && at.frame == 0 {
                // No such message arrived. The conditions name the saves that it was expected for.
                let conditions = tally.rule.filter.iter().map(|clause| &clause.subject);
                let saves = conditions.chain([&clause.subject]).map(|path| frames_of_save(path, scope, suite, item));
                at.frames = saves.into_iter().find(|frames| !frames.is_empty()).unwrap_or_default();
            }
            let mut message = phrase(clause, &mismatch, scope, &type_of(&clause.subject.root, suite, item));
            if ended_otherwise && let Some(reported) = item.and_then(|item| reported(item.value)) {
                message += &reported;
            }
            // Outcomes of requests and kinds of frames are our terms and are not shown as the server's data.
            let in_our_terms = ended_otherwise || member == Some("kind") || clause.says.is_some();
            let values = if in_our_terms { (None, None) } else { mismatch.into_values() };
            let mut found = found(message, values, at, item);
            found.is_of_end = ended_otherwise;
            // The judged exchange itself, if the place is in a later one: in that with its sentinel, for example.
            let own = item.map(Item::frames).unwrap_or_default();
            if own.last() < found.finding.frames.first() {
                found.finding.frames.splice(0..0, own);
            }
            let compared = clause.matcher.operands().into_iter().flat_map(Template::references);
            let declared = Some(&clause.subject).filter(|path| path.root == SERVER);
            show_first(
                &mut found.finding.frames,
                tally.rule.shows.iter().chain(compared).chain(declared),
                scope,
                suite,
                item,
            );
            if item.is_none()
                && let Some(root) = scope.lookup(&clause.subject.root)
            {
                found.finding.subject = subject(root);
            }
            tally.find(found);
        }
        if ended_otherwise {
            // Without a response, the expectations on its content fail, too.
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
    let suite = tally.suite;
    let report = checks::run(name, given, scope, revision);
    tally.checked += report.checked;
    if report.checked > 0 && report.faults.is_empty() && report.broken.is_none() {
        let paths = given.iter().flat_map(|(_, given)| given.references());
        tally.hold(|| held(item, paths, scope, suite));
    }
    if let Some(reason) = report.broken {
        tally.broken.get_or_insert(reason);
    }
    for fault in report.faults {
        let at = match given.iter().find(|(name, _)| *name == fault.given) {
            Some((_, Template::Reference(path))) => {
                place_of(path, &location(path, &fault.pointer, scope), scope, suite, item)
            }
            _ => item.map(Item::place).unwrap_or_default(),
        };
        let mut found = found(fault.message, (fault.received, fault.expected), at, item);
        show_first(&mut found.finding.frames, tally.rule.shows.iter(), scope, suite, item);
        if let Some(subject) = fault.subject {
            found.finding.subject = subject;
            found.finding.renamed_each_run = fault.renamed_each_run;
        }
        tally.find(found);
    }
}

/// What a client has reported of an action that failed, for the end of a message.
fn reported(action: &Value) -> Option<String> {
    const LONGEST: usize = 200;
    let words = |field: &str| action[field].as_str().filter(|text| !text.is_empty());
    if action.get("do").is_none() || action["end"] != "failed" {
        return None;
    }
    let said: String = [words("kind"), words("message")].into_iter().flatten().collect::<Vec<_>>().join(": ");
    (!said.is_empty()).then(|| format!("; the client reported {}", middle(&said, LONGEST)))
}

/// Why a reply says nothing about its subject: the request was rejected for another reason, or the connection was closed.
fn shows_nothing(item: &Value) -> Option<&'static str> {
    let reply = item.get("reply").unwrap_or(item);
    // If the server exited, that counts, even if it also rejected the control.
    let gone = reply.pointer("/sentinel/end").is_some_and(|end| end == "closed")
        && reply.pointer("/sentinel/frames/0").is_some();
    if !gone && reply.pointer("/control/holds").is_some_and(|holds| holds == false) {
        return Some(CONTROL);
    }
    let was_never_sent = End::of(reply) == Some(End::Closed) && reply["frames"].as_array().is_some_and(Vec::is_empty);
    was_never_sent.then_some(GONE)
}

/// Why a response that the rule needs was not read. For an item, conditions that are not about the response must pass.
fn unread_of(tally: &Tally, scope: &Scope, revision: Revision, item: Option<&Item>) -> Option<String> {
    let rule = tally.rule;
    let Some(item) = item else {
        let tested: Vec<&Path> = match &rule.test {
            Test::Expect(clauses) => clauses.iter().map(|clause| &clause.subject).collect(),
            Test::Check { given, .. } => given.iter().flat_map(|(_, template)| template.references()).collect(),
            Test::Observe(paths) => paths.iter().collect(),
        };
        let mut paths = tested.into_iter().chain(rule.filter.iter().map(|clause| &clause.subject));
        let why = paths.find_map(|path| unread(save_of(path, scope)?))?;
        let met = |clause: &Clause| {
            clause.holds(scope, revision) || save_of(&clause.subject, scope).and_then(unread).is_some()
        };
        return rule.filter.iter().all(met).then_some(why);
    };
    let reply = item.value.get("reply");
    let why = unread(reply.unwrap_or(item.value))?;
    let of_reply = |path: &Path| path.root == item.var && (reply.is_none() || path.first_member() == Some("reply"));
    rule.filter.iter().all(|clause| of_reply(&clause.subject) || clause.holds(scope, revision)).then_some(why)
}

/// Why a response, or a page of a list, was not read, if it exceeds a limit.
pub fn unread(reply: &Value) -> Option<String> {
    let why = reply["why"].as_str().unwrap_or("it is too large");
    (reply.get("end")? == "unread").then(|| format!("a response was not read because of a limit: {why}"))
}

/// Why a rule without `every` cannot be judged in this run.
fn absent(clauses: &[Clause], scope: &Scope) -> Option<Unexercised> {
    clauses.iter().find_map(|clause| match scope.lookup(&clause.subject.root) {
        None => Some(Unexercised::nothing_to_test(NOT_ASKED)),
        Some(Value::Array(entries)) => {
            // The path selects one of the entries.
            let nodes = clause.subject.select(scope).unwrap_or_default();
            let index = |location: &str| location.split('/').nth(1)?.parse::<usize>().ok();
            let mut selected = nodes.iter().filter_map(|node| entries.get(index(&node.location)?));
            selected.find_map(shows_nothing).map(Unexercised::in_this_run)
        }
        Some(reply) => shows_nothing(reply).map(Unexercised::in_this_run),
    })
}

/// Whether the conversation of other programs was recorded. There an absent message means only that no client requested
/// it.
fn is_recorded(scope: &Scope) -> bool {
    scope.lookup(SERVER).is_some_and(|server| server["recorded"] == true)
}

/// Whether the expected value should come from another response, which was not requested or not received. That response
/// has findings of its own.
fn is_compared_with_nothing(clause: &Clause, scope: &Scope) -> bool {
    let unanswered = |reply: &Value| matches!(End::of(reply), Some(End::Closed | End::Timeout | End::Unread));
    let never_came = |path: &Path| {
        let Some(reply) = save_of(path, scope) else { return true };
        unanswered(reply) && path.values_in(reply).is_empty()
    };
    clause.matcher.operands().into_iter().any(|operand| {
        let paths = operand.references();
        // One of several alternatives is enough.
        let of_all = !matches!(operand, Template::Array(_)) || paths.iter().all(|path| never_came(path));
        of_all && paths.into_iter().any(never_came)
    })
}

/// `values`: received and expected.
fn found(message: String, values: (Option<Value>, Option<Value>), at: Place, item: Option<&Item>) -> Found {
    let (received, expected) = values;
    let finding = Finding {
        subject: item.map(Item::subject).unwrap_or_default(),
        renamed_each_run: false,
        message,
        expected,
        received,
        pointer: at.in_message(),
        frames: at.frames.clone(),
        messages: Vec::new(),
        alike: 0,
        world: None,
        reproduce: None,
        sdk: None,
        by_hand: None,
        yaml: None,
    };
    let line = item.filter(|item| item.value["kind"] == "junk").and_then(|item| item.value["text"].as_str());
    let line = line.map(kind_of_line);
    let item = item.map_or_else(|| at.clone(), Item::place);
    Found { finding, item, at, is_of_end: false, line }
}

/// A line without what varies each time: times, numbers, addresses.
fn kind_of_line(text: &str) -> String {
    let mut kind = String::new();
    for c in text.chars() {
        match c {
            '0'..='9' if kind.ends_with('0') => {}
            '0'..='9' => kind.push('0'),
            c => kind.push(c),
        }
    }
    kind
}
