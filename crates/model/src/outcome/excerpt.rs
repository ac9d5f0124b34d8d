//! Shortens a long line to the part that matters.
//!
//! Widths are terminal columns, ranges are bytes.

mod json;

use std::{borrow::Cow, ops::Range};

pub use json::{locate, short_strings};
use unicode_width::UnicodeWidthChar;

/// The number of columns that a text takes.
pub fn columns(text: &str) -> usize {
    // A fast path for ASCII, since nearly every text is ASCII and some are long.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return text.len();
    }
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// The beginning and end of a text that is too long.
pub fn middle(text: &str, width: usize) -> Cow<'_, str> {
    if columns(text) <= width {
        return Cow::Borrowed(text);
    }
    let room = width.saturating_sub(1);
    let ending = tail(text, room / 3);
    let beginning = head(text, room - columns(ending));
    Cow::Owned(format!("{beginning}…{ending}"))
}

/// Shortens a sentence on what was received and expected. Each part is cut by itself: a cut across both would join the
/// start of one to the end of the other.
pub fn sentence(text: &str, width: usize) -> Cow<'_, str> {
    const BETWEEN: &str = ", expected ";
    let Some((received, expected)) = text.rsplit_once(BETWEEN).filter(|_| columns(text) > width) else {
        return middle(text, width);
    };
    let room = width.saturating_sub(columns(BETWEEN));
    let (long, other) = (columns(received), columns(expected));
    // Space that one part does not need goes to the other.
    let first = (room / 2).max(room.saturating_sub(other)).min(long);
    Cow::Owned(format!("{}{BETWEEN}{}", middle(received, first), middle(expected, room - first)))
}

/// A text that is too long, cut before and after the part that matters, and the new range of that part.
///
/// If the part itself is too long, its beginning is kept.
pub fn around(text: &str, part: Range<usize>, width: usize) -> (String, Range<usize>) {
    if columns(text) <= width {
        return (text.to_owned(), part);
    }
    let (before, inside, after) = (&text[..part.start], &text[part.clone()], &text[part.end..]);
    // One column on each side is for the ellipsis.
    let room = width.saturating_sub(2);
    let spare = room.saturating_sub(columns(inside)).max(room / 4);
    // The name of the field says what the value is.
    let name = before.strip_suffix("\":").and_then(|rest| rest.rfind('"')).map_or(0, |start| columns(&before[start..]));
    let left = (spare / 2).max(spare.saturating_sub(columns(after))).max(name.min(room / 2));
    let shown_before = tail(before, left);
    let shown_inside = head(inside, room - columns(shown_before));
    let rest = room - columns(shown_before) - columns(shown_inside);
    let shown_after = if shown_inside == inside { head(after, rest) } else { "" };

    let mut cut = String::from(if shown_before == before { "" } else { "…" });
    let start = cut.len() + shown_before.len();
    for piece in [shown_before, shown_inside, shown_after] {
        cut.push_str(piece);
    }
    if shown_after != after || shown_inside != inside {
        cut.push('…');
    }
    (cut, start..start + shown_inside.len())
}

/// A message for a report: whole or, if it is long, the part around the location of a JSON Pointer.
pub fn message(json: &str, pointer: Option<&str>) -> String {
    const KEPT: usize = 2000;
    /// Long enough for any text that people read.
    const STRING: usize = 300;
    if columns(json) <= KEPT {
        return json.to_owned();
    }
    let json = &short_strings(json, pointer, STRING);
    match pointer.and_then(|pointer| locate(json, pointer)) {
        Some(part) => around(json, part, KEPT).0,
        None => middle(json, KEPT).into_owned(),
    }
}

/// The longest prefix of at most this many columns.
fn head(text: &str, width: usize) -> &str {
    let mut used = 0;
    let end = text.char_indices().find(|(_, c)| {
        used += c.width().unwrap_or(0);
        used > width
    });
    end.map_or(text, |(at, _)| &text[..at])
}

/// The longest suffix of at most this many columns.
fn tail(text: &str, width: usize) -> &str {
    let mut used = 0;
    let start = text.char_indices().rev().find(|(_, c)| {
        used += c.width().unwrap_or(0);
        used > width
    });
    start.map_or(text, |(at, c)| &text[at + c.len_utf8()..])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn cuts_anything(text in r#"(\PC|["\\{}\[\],:]){0,60}"#, pointer in "(/(a|0|\\PC)){0,3}", width in 0..50_usize) {
            let part = locate(&text, &pointer).unwrap_or(0..0);
            let (cut, part) = around(&text, part, width);
            prop_assert!(columns(&cut) <= width.max(2));
            prop_assert!(text.contains(&cut[part]));
            prop_assert!(columns(&middle(&text, width)) <= width.max(1));
        }
    }

    #[test]
    fn keeps_both_ends_of_a_long_line() {
        assert_eq!(middle("short", 5), "short");
        assert_eq!(middle("0123456789abcdef", 10), "012345…def");
        assert_eq!(middle("日本語日本語日本語", 9), "日本語…語");
        assert_eq!(middle("anything", 0), "…");
    }

    #[test]
    fn cuts_what_was_received_and_what_was_expected_apart() {
        let text = format!("`name` is \"{}1\", expected \"{}2\"", "a".repeat(100), "b".repeat(100));
        let cut = sentence(&text, 60);
        assert_eq!(cut, "`name` is \"aaaaa…aaaaa1\", expected \"bbbbbbbbbbbbbbb…bbbbbb2\"");
        assert_eq!(columns(&cut), 60);
        let short = format!("`name` is \"{}1\", expected 2", "a".repeat(100));
        assert_eq!(sentence(&short, 40), "`name` is \"aaaaaaa…aaaaaaa1\", expected 2");
        assert_eq!(sentence("`a` is 1, expected 2", 20), "`a` is 1, expected 2");
        assert_eq!(sentence(&"c".repeat(9), 4), "cc…c");
    }

    #[test]
    fn cuts_around_the_part_that_matters() {
        let text = format!("{}[here]{}", "a".repeat(100), "b".repeat(100));
        let (cut, part) = around(&text, 100..106, 20);
        assert_eq!(cut, "…aaaaaa[here]bbbbbb…");
        assert_eq!(&cut[part], "[here]");

        let (cut, part) = around(&text, 0..3, 20);
        assert_eq!((cut.as_str(), part), ("aaaaaaaaaaaaaaaaaa…", 0..3));

        let (cut, part) = around(&text, 203..206, 20);
        assert_eq!((cut.as_str(), &cut[part]), ("…bbbbbbbbbbbbbbbbbb", "bbb"));
    }

    #[test]
    fn keeps_the_beginning_of_a_part_that_is_too_long() {
        let text = format!("{}[{}]", "a".repeat(100), "b".repeat(100));
        let (cut, part) = around(&text, 100..202, 20);
        assert_eq!(cut, "…aaaa[bbbbbbbbbbbbb…");
        assert!(cut[part].starts_with('['));
        for width in 0..30 {
            assert!(columns(&around(&text, 100..202, width).0) <= width.max(2));
        }
    }

    #[test]
    fn keeps_of_a_long_message_what_is_pointed_at() {
        let json = format!(r#"{{"a": "{0}", "b": "here", "c": "{0}"}}"#, "x".repeat(5000));
        let kept = message(&json, Some("/b"));
        assert!(kept.contains(r#""b": "here""#) && columns(&kept) <= 2000, "{kept}");
        assert_eq!(message(r#"{"a": 1}"#, Some("/a")), r#"{"a": 1}"#);
        assert!(columns(&message(&json, None)) <= 2000);
        // A field after a long string that is not pointed at.
        let json = format!(r#"{{"_meta":{{"icon":"{0}"}},"isError":false,"more":"{0}"}}"#, "x".repeat(5000));
        assert!(message(&json, None).contains(r#""isError":false"#));
    }
}
