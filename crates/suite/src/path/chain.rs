//! The segments of a path: fields, descendant fields, indices, slices, `[*]` and filters.

use std::ops::ControlFlow;

use serde_json::{Map, Value};

use super::filter::Filter;

#[derive(Clone, Debug, PartialEq)]
pub enum Segment {
    Member(String),
    /// Each of these fields.
    Members(Vec<String>),
    Index(i64),
    All,
    /// From one index up to another one, which is excluded.
    Slice(Option<i64>, Option<i64>),
    Where(Filter),
    /// A field at any depth.
    Below(String),
}

impl Segment {
    /// Whether it may select more than one value.
    pub const fn is_plural(&self) -> bool {
        !matches!(self, Self::Member(_) | Self::Index(_))
    }

    /// Whether it iterates over the items of an array.
    pub const fn is_item_by_item(&self) -> bool {
        matches!(self, Self::All | Self::Where(_))
    }

    /// Whether a segment that iterates over all items or fields selects this one.
    fn lets_through(&self, value: &Value) -> bool {
        match self {
            Self::Where(filter) => filter.holds(value),
            _ => true,
        }
    }
}

/// Parses a chain of `.name`, `..name`, `['name', 'name']`, `[0]`, `[1:3]`, `[*]` and `[?filter]`. Returns `None` if
/// the text contains anything else.
pub fn parse(text: &str) -> Option<Vec<Segment>> {
    take(text).filter(|(_, rest)| rest.is_empty()).map(|(segments, _)| segments)
}

/// Parses a chain at the beginning of a text, and returns the rest.
pub fn take(mut rest: &str) -> Option<(Vec<Segment>, &str)> {
    let mut segments = Vec::new();
    while rest.starts_with(['.', '[']) {
        if let Some(after) = rest.strip_prefix("..") {
            let (name, after) = match after.strip_prefix('[') {
                Some(inside) => quoted(inside).and_then(|(name, after)| Some((name, after.strip_prefix(']')?)))?,
                None => name(after)?,
            };
            segments.push(Segment::Below(name.to_owned()));
            rest = after;
        } else if let Some(after) = rest.strip_prefix('.') {
            if let Some(after) = after.strip_prefix('*') {
                segments.push(Segment::All);
                rest = after;
                continue;
            }
            let (name, after) = name(after)?;
            segments.push(Segment::Member(name.to_owned()));
            rest = after;
        } else {
            let after = rest.strip_prefix('[')?;
            let (segment, after) = match after.chars().next()? {
                '*' => (Segment::All, &after[1..]),
                '?' => {
                    let (filter, after) = Filter::parse(&after[1..])?;
                    (Segment::Where(filter), after)
                }
                '\'' | '"' => {
                    let (name, mut after) = quoted(after)?;
                    let mut names = vec![name.to_owned()];
                    while let Some(next) = after.trim_start_matches(' ').strip_prefix(',') {
                        let (name, rest) = quoted(next.trim_start_matches(' '))?;
                        names.push(name.to_owned());
                        after = rest;
                    }
                    let segment =
                        if names.len() == 1 { Segment::Member(names.remove(0)) } else { Segment::Members(names) };
                    (segment, after)
                }
                _ => {
                    let (inside, _) = after.split_once(']')?;
                    let bound = |text: &str| if text.is_empty() { Some(None) } else { integer(text).map(Some) };
                    let segment = match inside.split_once(':') {
                        Some((from, to)) => Segment::Slice(bound(from)?, bound(to)?),
                        None => Segment::Index(integer(inside)?),
                    };
                    (segment, &after[inside.len()..])
                }
            };
            segments.push(segment);
            rest = after.strip_prefix(']')?;
        }
    }
    Some((segments, rest))
}

fn name(text: &str) -> Option<(&str, &str)> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii();
    let (name, rest) = text.split_at(text.find(|c| !is_name(c)).unwrap_or(text.len()));
    (!name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit())).then_some((name, rest))
}

/// Parses a quoted name, without escapes.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let (name, rest) = text[1..].split_once(quote)?;
    (!name.contains(|c: char| c == '\\' || c < ' ')).then_some((name, rest))
}

/// Parses an integer in canonical form.
pub fn integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let canonical = text == "0" || (digits.len() < 16 && !digits.starts_with('0'));
    let is_one = canonical && !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    is_one.then(|| text.parse().ok())?
}

/// Records the location of the visited value, or does nothing.
pub trait Trail {
    /// What is needed to return to the parent.
    type Turn;

    fn enter(&mut self, token: Token) -> Self::Turn;
    fn leave(&mut self, turn: Self::Turn);
}

#[derive(Clone, Copy)]
pub enum Token<'t> {
    Member(&'t str),
    Item(usize),
}

/// For callers that do not need locations.
pub struct Nowhere;

impl Trail for Nowhere {
    type Turn = ();

    fn enter(&mut self, _: Token) {}
    fn leave(&mut self, (): ()) {}
}

/// Records a JSON Pointer.
impl Trail for String {
    type Turn = usize;

    fn enter(&mut self, token: Token) -> usize {
        let length = self.len();
        match token {
            Token::Member(name) => push_token(self, name),
            Token::Item(at) => push_token(self, &at.to_string()),
        }
        length
    }

    fn leave(&mut self, length: usize) {
        self.truncate(length);
    }
}

/// Calls `found` with every value that the segments select in `value`, in document order, until it breaks.
pub fn visit<'v, T: Trail>(
    value: &'v Value,
    segments: &[Segment],
    trail: &mut T,
    found: &mut impl FnMut(&'v Value, &T) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let Some((segment, rest)) = segments.split_first() else { return found(value, trail) };
    let mut enter = |token: Token, value: &'v Value, segments: &[Segment]| {
        let turn = trail.enter(token);
        let enough = visit(value, segments, trail, found);
        trail.leave(turn);
        enough
    };
    match (segment, value) {
        (Segment::Below(_), Value::Array(items)) => {
            items.iter().enumerate().try_for_each(|(at, value)| enter(Token::Item(at), value, segments))
        }
        (Segment::Below(name), Value::Object(members)) => {
            if let Some(value) = member(members, name) {
                enter(Token::Member(name), value, rest)?;
            }
            members.iter().try_for_each(|(name, value)| enter(Token::Member(name), value, segments))
        }
        (Segment::All | Segment::Where(_), Value::Array(items)) => {
            let mut chosen = items.iter().enumerate().filter(|(_, value)| segment.lets_through(value));
            chosen.try_for_each(|(at, value)| enter(Token::Item(at), value, rest))
        }
        (Segment::All | Segment::Where(_), Value::Object(members)) => {
            let mut chosen = members.iter().filter(|(_, value)| segment.lets_through(value));
            chosen.try_for_each(|(name, value)| enter(Token::Member(name), value, rest))
        }
        (Segment::Slice(from, to), Value::Array(items)) => {
            let (from, to) = (from.map_or(0, |at| bound(at, items)), to.map_or(items.len(), |at| bound(at, items)));
            (from..to).try_for_each(|at| enter(Token::Item(at), &items[at], rest))
        }
        (Segment::Member(name), Value::Object(members)) => match member(members, name) {
            Some(value) => enter(Token::Member(name), value, rest),
            None => ControlFlow::Continue(()),
        },
        (Segment::Members(names), Value::Object(members)) => {
            let mut present = names.iter().filter_map(|name| Some((name, member(members, name)?)));
            present.try_for_each(|(name, value)| enter(Token::Member(name), value, rest))
        }
        (Segment::Index(index), Value::Array(items)) => match position(*index, items) {
            Some(at) => enter(Token::Item(at), &items[at], rest),
            None => ControlFlow::Continue(()),
        },
        _ => ControlFlow::Continue(()),
    }
}

/// Whether the segments select anything.
pub fn selects(value: &Value, segments: &[Segment]) -> bool {
    visit(value, segments, &mut Nowhere, &mut |_, _| ControlFlow::Break(())).is_break()
}

/// The value at a chain of fields and indices.
pub fn follow<'v>(value: &'v Value, segments: &[Segment]) -> Option<&'v Value> {
    segments.iter().try_fold(value, child)
}

fn child<'v>(value: &'v Value, segment: &Segment) -> Option<&'v Value> {
    match (segment, value) {
        (Segment::Member(name), Value::Object(members)) => member(members, name),
        (Segment::Index(index), Value::Array(items)) => position(*index, items).map(|at| &items[at]),
        _ => None,
    }
}

/// Objects in messages are mostly small, where comparing names is faster than hashing one.
fn member<'v>(members: &'v Map<String, Value>, name: &str) -> Option<&'v Value> {
    const SMALL: usize = 8;
    if members.len() > SMALL {
        return members.get(name);
    }
    members.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
}

/// The array index for the start or end of a slice.
fn bound(index: i64, items: &[Value]) -> usize {
    let away = usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX);
    if index < 0 { items.len().saturating_sub(away) } else { away.min(items.len()) }
}

/// Negative indices count from the end.
fn position(index: i64, items: &[Value]) -> Option<usize> {
    let away = usize::try_from(index.unsigned_abs()).ok()?;
    let at = if index < 0 { items.len().checked_sub(away)? } else { away };
    (at < items.len()).then_some(at)
}

/// Appends one token to a JSON Pointer.
pub fn push_token(pointer: &mut String, token: &str) {
    pointer.push('/');
    if token.bytes().any(|byte| matches!(byte, b'~' | b'/')) {
        pointer.push_str(&token.replace('~', "~0").replace('/', "~1"));
    } else {
        pointer.push_str(token);
    }
}
