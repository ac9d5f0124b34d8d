//! Paths that are a plain chain of members, indices and `[*]`.

use serde_json::Value;

use super::Node;

#[derive(Clone, Debug, PartialEq)]
pub enum Segment {
    Member(String),
    Index(i64),
    All,
}

/// Reads a chain of `.name`, `['name']`, `[0]` and `[*]`; `None` where there is anything else.
pub fn parse(mut rest: &str) -> Option<Vec<Segment>> {
    let mut segments = Vec::new();
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('.') {
            if let Some(after) = after.strip_prefix('*') {
                segments.push(Segment::All);
                rest = after;
                continue;
            }
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii();
            let end = after.find(|c| !is_name(c)).unwrap_or(after.len());
            let (name, after) = after.split_at(end);
            if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
                return None;
            }
            segments.push(Segment::Member(name.to_owned()));
            rest = after;
        } else {
            let after = rest.strip_prefix('[')?;
            let (segment, after) = match after.chars().next()? {
                '*' => (Segment::All, &after[1..]),
                quote @ ('\'' | '"') => {
                    let (name, after) = after[1..].split_once(quote)?;
                    if name.contains(|c: char| c == '\\' || c < ' ') {
                        return None;
                    }
                    (Segment::Member(name.to_owned()), after)
                }
                _ => {
                    let (index, _) = after.split_once(']')?;
                    let digits = index.strip_prefix('-').unwrap_or(index);
                    let canonical = index == "0" || (digits.len() < 16 && !digits.starts_with('0'));
                    if !canonical || digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
                        return None;
                    }
                    (Segment::Index(index.parse().ok()?), &after[index.len()..])
                }
            };
            segments.push(segment);
            rest = after.strip_prefix(']')?;
        }
    }
    Some(segments)
}

/// Follows the segments, from `value` that stands at `location`.
pub fn walk<'v>(value: &'v Value, segments: &[Segment], location: &mut String, found: &mut Vec<Node<'v>>) {
    let Some((segment, rest)) = segments.split_first() else {
        found.push(Node { value, location: location.clone() });
        return;
    };
    let length = location.len();
    let mut enter = |token: &str, value: &'v Value| {
        push_token(location, token);
        walk(value, rest, location, found);
        location.truncate(length);
    };
    match (segment, value) {
        (Segment::Member(name), Value::Object(members)) => {
            if let Some(value) = members.get(name) {
                enter(name, value);
            }
        }
        (Segment::Index(index), Value::Array(items)) => {
            let from_end = usize::try_from(index.unsigned_abs()).ok().and_then(|back| items.len().checked_sub(back));
            let at = if *index < 0 { from_end } else { usize::try_from(*index).ok() };
            if let Some((at, value)) = at.and_then(|at| Some((at, items.get(at)?))) {
                enter(&at.to_string(), value);
            }
        }
        (Segment::All, Value::Array(items)) => {
            for (at, value) in items.iter().enumerate() {
                enter(&at.to_string(), value);
            }
        }
        (Segment::All, Value::Object(members)) => {
            for (name, value) in members {
                enter(name, value);
            }
        }
        _ => {}
    }
}

/// Appends one token to a JSON Pointer.
pub fn push_token(pointer: &mut String, token: &str) {
    pointer.push('/');
    if token.contains(['~', '/']) {
        pointer.push_str(&token.replace('~', "~0").replace('/', "~1"));
    } else {
        pointer.push_str(token);
    }
}
