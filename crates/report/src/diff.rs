//! The difference between an expected and a received value.
//!
//! The result is plain data of bounded size, so that each format can show it in its own way. All text is escaped.

use std::ops::Range;

use serde_json::{Map, Value};
use similar::{DiffOp, TextDiff};

use super::text::plain;
use conform_model::outcome::excerpt::{around, columns, middle};

/// Maximum number of compared lines of each value, counted from the first difference.
const COMPARED: usize = 400;
/// Lines shown on either side of a difference.
const CONTEXT: usize = 2;

pub enum Contrast {
    /// One line for each value. `fault` is the range of bytes of the received value that differs, if it is only a part.
    Lines { expected: String, received: String, fault: Option<Range<usize>> },
    /// The lines around each difference of two long values.
    Parts(Vec<Line>),
}

pub struct Line {
    pub side: Side,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Both,
    Expected,
    Received,
    /// Lines were omitted.
    Gap,
}

/// Compares two values, for a display of this width.
pub fn contrast(expected: &Value, received: &Value, width: usize) -> Contrast {
    let (old, new) = (expected.to_string(), received.to_string());
    let long = columns(&old) > width || columns(&new) > width;
    if long && both_have_members(expected, received) {
        return Contrast::Parts(parts(expected, &in_order_of(expected, received), width));
    }
    let (old_part, new_part) = parting(&old, &new);
    // If the values share only their quotes, marking the difference says nothing.
    let partly = new.len() - new_part.len() > 2 && !new_part.is_empty();
    let (expected, _) = shown(&old, old_part, width);
    let (received, fault) = shown(&new, new_part, width);
    Contrast::Lines { expected, received, fault: partly.then_some(fault) }
}

fn both_have_members(a: &Value, b: &Value) -> bool {
    matches!((a, b), (Value::Object(_), Value::Object(_)) | (Value::Array(_), Value::Array(_)))
}

fn parts(expected: &Value, received: &Value, width: usize) -> Vec<Line> {
    let (old, new) = (format!("{expected:#}"), format!("{received:#}"));
    let (mut old, mut new) = (members(&old), members(&new));
    let alike = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let skipped = alike.saturating_sub(CONTEXT + 1);
    let mut left_out = skipped > 0;
    for lines in [&mut old, &mut new] {
        lines.drain(..skipped);
        lines.truncate(COMPARED);
    }

    let mut shown_lines = Vec::new();
    let mut push = |side, text: &str, part: Range<usize>| {
        shown_lines.push(Line { side, text: shown(text, part, width).0 });
    };
    for group in TextDiff::from_slices(&old, &new).grouped_ops(CONTEXT) {
        if left_out || group.first().is_some_and(|op| op.old_range().start > 0) {
            push(Side::Gap, "", 0..0);
        }
        left_out = false;
        for op in group {
            if let DiffOp::Equal { .. } = op {
                old[op.old_range()].iter().for_each(|line| push(Side::Both, line, 0..0));
                continue;
            }
            // Corresponding lines are cut at the same place.
            let pairs = |at: usize| Some((old[op.old_range()].get(at)?, new[op.new_range()].get(at)?));
            for (at, line) in old[op.old_range()].iter().enumerate() {
                push(Side::Expected, line, pairs(at).map_or(0..0, |(a, b)| parting(a, b).0));
            }
            for (at, line) in new[op.new_range()].iter().enumerate() {
                push(Side::Received, line, pairs(at).map_or(0..0, |(a, b)| parting(a, b).1));
            }
        }
    }
    shown_lines
}

/// Lines without trailing commas. Otherwise a line would differ just because the next field is missing.
fn members(pretty: &str) -> Vec<&str> {
    pretty.lines().map(|line| line.strip_suffix(',').unwrap_or(line)).collect()
}

/// The received value with its fields in the order of the expected one: the order has no meaning.
fn in_order_of(expected: &Value, received: &Value) -> Value {
    match (expected, received) {
        (Value::Object(expected), Value::Object(received)) => {
            let known =
                expected.iter().filter_map(|(key, value)| Some((key.clone(), in_order_of(value, received.get(key)?))));
            let new = received.iter().filter(|(key, _)| !expected.contains_key(*key));
            Value::Object(known.chain(new.map(|(key, value)| (key.clone(), value.clone()))).collect::<Map<_, _>>())
        }
        (Value::Array(expected), Value::Array(received)) => {
            let known = expected.iter().zip(received).map(|(a, b)| in_order_of(a, b));
            known.chain(received.iter().skip(expected.len()).cloned()).collect()
        }
        _ => received.clone(),
    }
}

/// The rest of each text without their common beginning and end.
fn parting(a: &str, b: &str) -> (Range<usize>, Range<usize>) {
    let alike = |pairs: &mut dyn Iterator<Item = (char, char)>| {
        pairs.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum::<usize>()
    };
    let start = alike(&mut a.chars().zip(b.chars()));
    let end = alike(&mut a[start..].chars().rev().zip(b[start..].chars().rev()));
    (start..a.len() - end, start..b.len() - end)
}

/// An escaped text, cut around a part of it, and the new range of that part.
pub fn shown(text: &str, part: Range<usize>, width: usize) -> (String, Range<usize>) {
    let pieces = [&text[..part.start], &text[part.clone()], &text[part.end..]].map(plain);
    let start = pieces[0].len();
    let end = start + pieces[1].len();
    let safe = pieces.concat();
    if part.is_empty() && part.start == 0 {
        return (middle(&safe, width).into_owned(), 0..0);
    }
    around(&safe, start..end, width)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lines(expected: &Value, received: &Value, width: usize) -> Vec<String> {
        match contrast(expected, received, width) {
            Contrast::Lines { expected, received, .. } => vec![expected, received],
            Contrast::Parts(lines) => lines
                .into_iter()
                .map(|Line { side, text }| match side {
                    Side::Both => format!("  {text}"),
                    Side::Expected => format!("- {text}"),
                    Side::Received => format!("+ {text}"),
                    Side::Gap => "...".to_owned(),
                })
                .collect(),
        }
    }

    #[test]
    fn points_at_the_difference_of_two_short_values() {
        let Contrast::Lines { received, fault, .. } = contrast(&json!("file:///a.md"), &json!("file:///A.md"), 60)
        else {
            panic!("one line each");
        };
        assert_eq!(&received[fault.unwrap()], "A");
    }

    #[test]
    fn points_nowhere_when_nothing_is_alike() {
        for (expected, received) in
            [(json!(1), json!("text")), (json!("one"), json!("two")), (json!({"a": 1}), json!(null))]
        {
            assert!(matches!(contrast(&expected, &received, 60), Contrast::Lines { fault: None, .. }));
        }
    }

    #[test]
    fn shows_only_where_two_long_values_differ() {
        let expected = json!({"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": {"g": "old", "h": 6}});
        let received = json!({"f": {"h": 6, "g": "new"}, "a": 1, "b": 2, "c": 3, "d": 4, "e": 5});
        let shown = lines(&expected, &received, 30);
        let wanted = [
            "...",
            "    \"e\": 5",
            "    \"f\": {",
            "-     \"g\": \"old\"",
            "+     \"g\": \"new\"",
            "      \"h\": 6",
            "    }",
        ];
        assert_eq!(shown, wanted);
    }

    #[test]
    fn cuts_long_strings_at_the_difference() {
        let text = |c: &str| Value::from(format!("{}{c}{}", "x".repeat(5000), "y".repeat(5000)));
        let shown = lines(&text("1"), &text("2"), 21);
        assert_eq!(shown, ["…xxxxxxxxx1yyyyyyyyy…", "…xxxxxxxxx2yyyyyyyyy…"]);

        let shown = lines(&json!({"a": text("1"), "b": 0}), &json!({"a": text("2"), "b": 0}), 21);
        assert_eq!(shown, ["  {", "- …xxxxxxxxx1yyyyyyyyy…", "+ …xxxxxxxxx2yyyyyyyyy…", "    \"b\": 0", "  }"]);
    }

    #[test]
    fn stays_small_whatever_is_compared() {
        let list = |from: u32| (from..from + 50_000).collect::<Vec<_>>();
        let shown = lines(&json!(list(0)), &json!(list(100_000)), 40);
        assert!(shown.len() <= 2 * COMPARED + 1, "{}", shown.len());
    }
}
