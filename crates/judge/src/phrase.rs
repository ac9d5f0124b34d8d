//! The text of findings: what was received and expected.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    naming::{member_path, named},
    place::Place,
};
use conform_model::{
    evidence::{Cause, End},
    outcome::{excerpt::middle, masked},
};
use conform_suite::{Clause, Mismatch, Path, Scope, Unmet, show, views::ValueType};

/// The start of a message about something that was not received.
const EXPECTED: &str = "expected ";
/// Maximum number of columns of a quoted line.
const QUOTED: usize = 80;

/// One sentence on a mismatch: what was received, and what was expected.
/// `value_type` is the type of what the clause's path starts with.
pub fn phrase(clause: &Clause, mismatch: &Mismatch, scope: &Scope, value_type: &ValueType) -> String {
    let path = &clause.subject;
    if let Some(says) = &clause.says {
        if !says.starts_with(EXPECTED) {
            return says.clone();
        }
        let root = scope.lookup(&path.root);
        return match (reply_without(path, mismatch, scope), root.and_then(|root| root.pointer(&mismatch.location))) {
            (Some(reply), _) => format!("{}, {says}", answer(reply)),
            (None, Some(value)) if !mismatch.location.is_empty() && !value.is_object() && !value.is_array() => {
                format!("{} is {}, {says}", named(&member_path(path, &mismatch.location)), show(value))
            }
            _ if selects_nothing(clause, scope) && !path.has_filter() => {
                format!("{} is missing, {says}", named(&member_path(path, &mismatch.location)))
            }
            _ => says.clone(),
        };
    }
    let (parent, member) = mismatch.location.rsplit_once('/').unwrap_or(("", ""));
    let at = |pointer: &str| scope.lookup(&path.root).and_then(|root| root.pointer(pointer));
    if member == "end"
        && let Some(reply) = at(parent)
    {
        return match wanted_end(mismatch) {
            Some(wanted) => format!("{}, expected {wanted}", answer(reply)),
            None => answer(reply),
        };
    }
    if mismatch.location.is_empty()
        && let Some(root) = scope.lookup(&path.root)
    {
        // The rule expects an error or a result that was not received; the actual outcome says more.
        let reply = root.get("reply").unwrap_or(root);
        let ended_without =
            |end: &str| path.leads_through(end) && reply["end"].as_str().is_some_and(|received| received != end);
        if ended_without("error") {
            let code = mismatch.expected().map_or_else(|| "an error".to_owned(), |code| format!("error {code}"));
            return format!("{}, expected {code}", answer(reply));
        }
        if ended_without("result") {
            return format!("{}, expected a result", answer(reply));
        }
    }
    if path.has_filter()
        && let Some(reply) = reply_without(path, mismatch, scope)
    {
        return answer(reply);
    }
    if let (true, Some(flaw)) = (parent.ends_with("/flaws"), at(&mismatch.location).and_then(Value::as_str)) {
        return flawed(flaw);
    }
    if member == "http"
        && let Some(status) = at(&mismatch.location).and_then(|http| http["status"].as_u64())
    {
        return format!("received HTTP {status}");
    }
    // The rule allows only the head of the response.
    let allows_head = |options: &[Value]| options.first().is_some_and(|first| first == "http-response");
    if member == "kind" && matches!(&mismatch.unmet, Unmet::NotOneOf { options, .. } if allows_head(options)) {
        let body = at(parent).map(|frame| frame.get("message").or(frame.get("text")).unwrap_or(&Value::Null));
        let body = body.map(|body| body.as_str().map_or_else(|| body.to_string(), str::to_owned)).unwrap_or_default();
        return format!("the body is `{}`, expected an empty body", middle(&masked(&body), QUOTED));
    }
    if member == "kind"
        && let Some(frame) = at(parent)
        && let Some(why) = frame["why"].as_str()
    {
        let no_json = matches!(Cause::deserialize(&frame["cause"]), Ok(Cause::NotJson | Cause::TrailingData));
        return no_message(frame["text"].as_str().unwrap_or_default(), why, no_json);
    }
    match member {
        "worked_on" => return "received progress several times after the cancellation".into(),
        "wanted" if at(parent).is_some_and(|item| item.get("logs").or(item.get("level_set")).is_some()) => {
            return "the level of this log message is below the requested level".into();
        }
        "wanted" => return "the client did not request this".into(),
        "answers" => {
            let id = at(parent).and_then(|item| item["message"].get("id")).filter(|id| !id.is_null());
            return match id {
                Some(id) => format!("the server sent a response with the id {id}, but no open request has that id"),
                None => {
                    "the server sent a response without an id, which belongs to no request: it responds to a notification"
                        .into()
                }
            };
        }
        "phase" if at(&mismatch.location).is_some_and(|phase| phase == "closed") => {
            return "received before `initialize` was sent".into();
        }
        "phase" => return "received before `notifications/initialized` was sent".into(),
        "grows" => return "`progress` did not increase".into(),
        _ => {}
    }
    if member == "killed"
        && let Some(how) = at(&mismatch.location).and_then(Value::as_str)
    {
        return format!("the connection ended without a response: {how}");
    }
    if parent.ends_with("/undeclared")
        && let Some(capability) = at(&mismatch.location).and_then(Value::as_str)
    {
        return format!("the client did not declare `{capability}`");
    }
    if path.leads_through("during") {
        return "received while no request of the client was open".into();
    }
    if member == "replies"
        && let Some(exchange) = at(parent)
    {
        return match exchange["replies"].as_u64() {
            Some(0) => "received no response".into(),
            count => format!("received {} responses to one request", count.unwrap_or_default()),
        };
    }
    // A list of the run has the elements of several pages.
    let on_page = mismatch.location.contains("/items/").then(|| scope.lookup(&path.root)).flatten();
    let on_page =
        on_page.and_then(|root| Place::of(root, value_type, &mismatch.location, &Place::default()).in_message());
    let name = member_path(path, on_page.as_ref().unwrap_or(&mismatch.location));
    // The path itself shows what must be absent.
    if path.has_filter()
        && let Unmet::Present(value) = &mismatch.unmet
    {
        return format!("`{name}` is {}, expected any other value", show(value));
    }
    if let (true, Some(Value::Number(_))) = (clause.matcher.forbids() && name == "error.code", at(&mismatch.location)) {
        let root = scope.lookup(&path.root).map(|root| root.get("reply").unwrap_or(root));
        let reply = root.filter(|reply| End::of(reply) == Some(End::Error));
        return format!(
            "{}, expected a response without this code",
            reply.map_or_else(|| mismatch.unmet.to_string(), answer)
        );
    }
    if name.is_empty() { mismatch.unmet.to_string() } else { format!("{} {}", named(&name), mismatch.unmet) }
}

/// Whether the path of the clause leads nowhere.
pub fn selects_nothing(clause: &Clause, scope: &Scope) -> bool {
    clause.subject.select(scope).is_none_or(|nodes| nodes.is_empty())
}

/// The reply in which a path selected nothing.
fn reply_without<'s>(path: &Path, mismatch: &Mismatch, scope: &'s Scope) -> Option<&'s Value> {
    let root = scope.lookup(&path.root).filter(|_| mismatch.location.is_empty())?;
    let reply = root.get("reply").unwrap_or(root);
    reply["end"].is_string().then_some(reply)
}

/// Describes a line that is not a message. For plain text, the position of a JSON syntax error says nothing.
fn no_message(text: &str, why: &str, no_json: bool) -> String {
    let text = text.trim();
    if text.get(..15).is_some_and(|head| head.eq_ignore_ascii_case("content-length:")) {
        "this is a header of the Language Server Protocol; an MCP message is one line of JSON".into()
    } else if text.is_empty() {
        "received an empty line".into()
    } else if no_json && !text.starts_with(['{', '[']) {
        format!("received the text `{}`, which is not JSON", middle(&masked(text), QUOTED))
    } else {
        format!("received an invalid message: {why}")
    }
}

/// Describes an unusual line or body.
fn flawed(flaw: &str) -> String {
    match flaw {
        "bom" => "the message starts with a byte order mark".into(),
        "invalid-utf8" => "the message is not valid UTF-8".into(),
        "unterminated" => "the message does not end with a newline".into(),
        "blank-lines" => "there are empty lines around the message".into(),
        "duplicate-key" => "the message contains an object with a duplicate key".into(),
        other => format!("invalid message: {other}"),
    }
}

/// Describes what the clauses selected nothing of.
pub fn absence(clauses: &[Clause]) -> String {
    let mut members: Vec<_> =
        clauses.iter().map(|clause| member_path(&clause.subject, "").replace("[*]", "")).collect();
    members.dedup();
    let named: Vec<_> = members.iter().take(3).map(|member| format!("`{member}`")).collect();
    // A filter expression means nothing to the reader.
    match members.iter().any(|member| member.is_empty() || member.contains("[?")) {
        true => "received no such message".into(),
        false if clauses.iter().any(|clause| clause.matcher.compares()) => {
            format!("received fewer than two values of {}", named.join(" or "))
        }
        false => format!("received no {}", named.join(" or ")),
    }
}

/// The outcome of a request, as a sentence.
fn answer(reply: &Value) -> String {
    let why = reply["why"].as_str().unwrap_or_default();
    match reply["end"].as_str() {
        Some("result") => "received a result".into(),
        Some("error") => {
            let (code, message) = (&reply["error"]["code"], reply["error"]["message"].as_str().unwrap_or_default());
            format!("received error {code} ({})", cut(message))
        }
        Some("message") => {
            let message = &reply["message"];
            let method = message["method"].as_str().unwrap_or("a notification");
            let about = message["params"]["uri"].as_str().map(|uri| format!(" for {}", cut(uri))).unwrap_or_default();
            format!("received {method}{about}")
        }
        // The reply of `await` has no request frame.
        Some("timeout") if reply["frames"] == json!([]) => "received no such message in time".into(),
        Some("timeout") => "received no response in time".into(),
        Some("none") => "received no response".into(),
        Some("closed") => format!("the connection ended before the response: {why}"),
        Some("malformed") => format!("the response is not valid JSON-RPC: {why}"),
        Some("unread") => format!("the response was not read: {why}"),
        Some("answered") => match reply.pointer("/http/status") {
            // Whatever else it is, a document is not meant as a message.
            Some(status) if reply["body"].is_object() || reply["http"]["redirect"].is_object() => {
                format!("received HTTP {status}")
            }
            Some(status) => format!("received HTTP {status} without a JSON-RPC response to the request"),
            None => "received no JSON-RPC response".into(),
        },
        Some("page-limit") => "the list did not end within the page limit".into(),
        Some("cursor-repeats") => "`nextCursor` is a cursor of an earlier page".into(),
        Some("complete") => "received a list".into(),
        other => format!("the request ended as {}", other.unwrap_or("nothing known")),
    }
}

fn wanted_end(mismatch: &Mismatch) -> Option<String> {
    let name = |end: &str| match end {
        "result" => "a result".to_owned(),
        "error" => "an error".to_owned(),
        "complete" => "a complete list".to_owned(),
        "open" => "an open subscription".to_owned(),
        "message" => "a notification".to_owned(),
        "timeout" => "none".to_owned(),
        other => other.to_owned(),
    };
    match mismatch.expected() {
        Some(Value::String(end)) => Some(name(end)),
        Some(Value::Array(ends)) => {
            Some(ends.iter().filter_map(Value::as_str).map(name).collect::<Vec<_>>().join(" or "))
        }
        _ => None,
    }
}

fn cut(text: &str) -> String {
    let mut line: String = text.chars().take(100).collect();
    if line.len() < text.len() {
        line.push('…');
    }
    line
}
