//! The evidence of a finding: expected and received values, and the messages with the error marked.

use std::ops::Range;

use serde_json::Value;

use super::page::{FAINT, GREEN, Page, RED, TEXT, span};
use crate::{
    diff::{Contrast, Line, Side, contrast, shown},
    text::plain,
};
use conform_model::outcome::{
    Finding, ShownFrame,
    excerpt::{columns, locate, middle, short_strings},
};

/// Maximum number of lines of a diff without --verbose.
const DIFF_LINES: usize = 16;
/// Maximum number of lines for a message without a mark.
const MESSAGE_LINES: usize = 2;
/// Maximum number of lines for an HTTP head.
const HEAD_LINES: usize = 5;
/// Between the first line of the head of a request or response and its headers.
const HEADERS: &str = " · ";
/// `expected  `, `received  `
const LABEL: usize = 10;

/// Expected against received.
pub fn values(page: &mut Page, indent: usize, finding: &Finding) {
    let room = page.width().saturating_sub(indent + LABEL);
    let one = |page: &mut Page, label, ink, value: &Value| {
        let text = middle(&plain(&value.to_string()), room).into_owned();
        page.line(indent, &[span(FAINT, label), span(ink, text)]);
    };
    match (&finding.expected, &finding.received) {
        (None, None) => {}
        (Some(expected), None) if is_told(finding, expected) => {}
        (None, Some(received)) if is_told(finding, received) => {}
        (Some(expected), None) => one(page, "expected  ", GREEN, expected),
        (None, Some(received)) => one(page, "received  ", RED, received),
        (Some(expected), Some(received)) => match contrast(expected, received, room) {
            // The message already contains the values, and there is nothing to mark in them.
            Contrast::Lines { fault: None, .. } if is_told(finding, expected) && is_told(finding, received) => {}
            Contrast::Lines { expected, received, fault } => {
                page.line(indent, &[span(FAINT, "expected  "), span(GREEN, expected)]);
                page.line(indent, &[span(FAINT, "received  "), span(RED, received.as_str())]);
                if let Some(fault) = fault {
                    marker(page, indent + LABEL, &received, fault);
                }
            }
            Contrast::Parts(lines) if lines.iter().all(|line| is_said(finding, line)) => {}
            Contrast::Parts(lines) => parts(page, indent, &lines),
        },
    }
}

fn is_told(finding: &Finding, value: &Value) -> bool {
    finding.message.contains(&value.to_string())
}

/// A line of a diff that the message already contains.
fn is_said(finding: &Finding, line: &Line) -> bool {
    line.side == Side::Gap || finding.message.contains(line.text.trim())
}

fn parts(page: &mut Page, indent: usize, lines: &[Line]) {
    page.line(indent, &[span(GREEN, "- expected"), span(TEXT, "  "), span(RED, "+ received")]);
    let limit = if page.is_verbose() { lines.len() } else { DIFF_LINES };
    for Line { side, text } in lines.iter().take(limit) {
        let (sign, ink) = match side {
            Side::Both => ("  ", FAINT),
            Side::Expected => ("- ", GREEN),
            Side::Received => ("+ ", RED),
            Side::Gap => ("  …", FAINT),
        };
        page.line(indent, &[span(ink, sign), span(ink, text.as_str())]);
    }
    if lines.len() > limit {
        page.line(indent, &[span(FAINT, format!("  … and {} more lines", lines.len() - limit))]);
    }
}

/// The messages of the finding, each on one line, or only their numbers if the messages are not known.
pub fn messages(page: &mut Page, indent: usize, finding: &Finding) {
    if finding.messages.is_empty() && !finding.frames.is_empty() {
        let numbers: Vec<_> = finding.frames.iter().map(|frame| format!("#{frame}")).collect();
        page.hang(indent, &[span(FAINT, "messages  ")], FAINT, &numbers.join(", "));
    }
    let digits = finding.messages.iter().map(|message| message.frame.to_string().len()).max().unwrap_or(0);
    let sides = finding.messages.iter().map(|message| columns(&message.from.to_string())).max().unwrap_or(0).max(6);
    for (at, message) in finding.messages.iter().enumerate() {
        let lead = format!("#{:<digits$} {:<sides$}  ", message.frame, message.from);
        let room = page.width().saturating_sub(indent + columns(&lead));
        let ink = if message.from.is_client() { FAINT } else { TEXT };
        if is_head(&message.text) {
            // Any header may be the one that it is about.
            if page.is_verbose() && !message.headers.is_empty() {
                let first = message.text.split(HEADERS).next().unwrap_or_default();
                page.hang(indent, &[span(FAINT, lead.as_str())], ink, first);
                for header in &message.headers {
                    page.hang(indent + columns(&lead), &[], FAINT, header);
                }
                continue;
            }
            page.hang(indent, &[span(FAINT, lead.as_str())], ink, &middle(&plain(&message.text), HEAD_LINES * room));
            continue;
        }
        let whole = &message.text;
        let message = &terse(message, finding, room);
        let fault = if at + 1 == finding.messages.len() { fault(message, finding) } else { None };
        if let Some(fault) = fault {
            let (text, part) = shown(&message.text, fault, room);
            page.line(indent, &[span(FAINT, lead.as_str()), span(ink, text.as_str())]);
            marker(page, indent + columns(&lead), &text, part);
            if page.is_verbose() && columns(&plain(whole)) > room {
                page.hang(indent + columns(&lead), &[span(FAINT, "text  ")], FAINT, whole);
            }
        } else if page.is_verbose() {
            page.hang(indent, &[span(FAINT, lead.as_str())], ink, &plain(whole));
        } else {
            page.hang(indent, &[span(FAINT, lead.as_str())], ink, &brief(&plain(&message.text), room));
        }
    }
}

/// A message that is too long without the end of its long strings and without what is long in `_meta`, except what is at fault.
pub fn terse(message: &ShownFrame, finding: &Finding, room: usize) -> ShownFrame {
    const STRING: usize = 80;
    let mut message = message.clone();
    let pointer = finding.pointer.as_deref();
    if columns(&message.text) > room {
        message.text = short_strings(&message.text, pointer, STRING).into_owned();
    }
    if pointer.is_some_and(|pointer| !pointer.contains("/_meta")) && columns(&message.text) > room {
        omit_meta(&mut message.text, room);
    }
    message
}

/// Omits `_meta` of a result while a message is too long, and what is long in that of params. Which keys a request has there,
/// and in which revision it is, may be why the response is wrong.
fn omit_meta(text: &mut String, room: usize) {
    const LONG: [&str; 3] = [
        "/result/_meta",
        "/params/_meta/io.modelcontextprotocol~1clientCapabilities",
        "/params/_meta/io.modelcontextprotocol~1clientInfo",
    ];
    for meta in LONG {
        if columns(text) > room
            && let Some(part) = locate(text, meta)
        {
            text.replace_range(part, "{…}");
        }
    }
}

/// A message without its version if it takes more than one line, and then on two lines at most. What the server put into
/// `_meta` is omitted first.
fn brief(text: &str, room: usize) -> String {
    const VERSION: &str = "\"jsonrpc\":\"2.0\",";
    if columns(text) <= room {
        return text.to_owned();
    }
    let mut text = text.to_owned();
    omit_meta(&mut text, MESSAGE_LINES * room + VERSION.len() - 1);
    middle(&text.replacen(VERSION, "…", 1), MESSAGE_LINES * room).into_owned()
}

/// Whether it is the head of an HTTP request or response.
fn is_head(text: &str) -> bool {
    let mut words = text.split(' ');
    let first = words.next().unwrap_or_default();
    first == "HTTP"
        || !first.is_empty()
            && first.bytes().all(|byte| byte.is_ascii_uppercase())
            && words
                .next()
                .is_some_and(|second| ["/", "http://", "https://"].iter().any(|start| second.starts_with(start)))
}

/// The wrong field or key, or if a field is missing, the bracket of its object.
pub fn fault(message: &ShownFrame, finding: &Finding) -> Option<Range<usize>> {
    let mut pointer = finding.pointer.as_deref()?;
    if message.text.starts_with('…') {
        // The message was too long to be kept whole, so the pointer cannot be resolved.
        let member = format!("{}:{}", Value::from(pointer.rsplit('/').next()?), finding.received.as_ref()?);
        let start = message.text.find(&member)?;
        return Some(start..start + member.len());
    }
    loop {
        let (parent, _) = pointer.rsplit_once('/')?;
        if let Some(range) = locate(&message.text, pointer) {
            if let Some(key) = wrong_key(message, pointer, &range, finding) {
                return Some(key);
            }
            // Marking the bracket is enough: marking the whole object would include correct fields.
            let is_whole = !message.text[range.clone()].starts_with(['{', '[']);
            return Some(if is_whole { range } else { range.start..range.start + 1 });
        }
        pointer = parent;
    }
}

/// The key of the field, if that is what was wrong.
fn wrong_key(message: &ShownFrame, pointer: &str, value: &Range<usize>, finding: &Finding) -> Option<Range<usize>> {
    let received = finding.received.as_ref().filter(|received| received.is_string())?;
    let name = pointer.rsplit('/').next()?.replace("~1", "/").replace("~0", "~");
    let key = received.to_string();
    if received != &Value::from(name) || message.text[value.clone()] == key {
        return None;
    }
    let start = message.text[..value.start].rfind(&key)?;
    Some(start..start + key.len())
}

fn marker(page: &mut Page, indent: usize, text: &str, part: Range<usize>) {
    let before = columns(&text[..part.start]);
    let marks = columns(&text[part]).max(1);
    page.line(indent + before, &[span(RED, "^".repeat(marks))]);
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::*;

    #[test]
    fn a_long_message_shows_what_is_at_fault_and_not_an_icon_before_it() {
        let icon = "A".repeat(500);
        let result = json!({ "result": { "_meta": { "icon": icon }, "structuredContent": { "n": 1 }, "content": [] } });
        let of = |pointer: &str, text: &str| {
            let message = json!({ "frame": 1, "from": "server", "text": text });
            let finding =
                from_value(json!({ "subject": "", "message": "", "pointer": pointer, "messages": [message] }));
            let finding: Finding = finding.expect("a finding");
            terse(&finding.messages[0], &finding, 100).text
        };
        let shown = of("/result/content", &result.to_string());
        assert_eq!(shown, r#"{"result":{"_meta":{…},"structuredContent":{"n":1},"content":[]}}"#);
        assert!(of("/result/_meta/icon", &result.to_string()).contains(&icon));
        assert_eq!(of("/result/content", &"not JSON ".repeat(20)), "not JSON ".repeat(20));
    }
}
