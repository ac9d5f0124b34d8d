//! Where the parts of a JSON text are, also if it is not quite valid.

use std::{borrow::Cow, ops::Range};

use super::head;

/// An object or array with only the beginning of each long string, such as base64, so that the names of fields stay in
/// view. The string at the JSON Pointer is kept.
pub fn short_strings<'t>(json: &'t str, pointer: Option<&str>, width: usize) -> Cow<'t, str> {
    if !json.starts_with(['{', '[']) || locate(json, "").is_none_or(|all| all.end < json.len()) {
        return Cow::Borrowed(json);
    }
    let kept = pointer.and_then(|pointer| locate(json, pointer));
    let (mut short, mut copied) = (String::new(), 0);
    let mut scan = Scan { json, at: 0 };
    while let Some(found) = json[scan.at..].find('"') {
        let start = scan.at + found;
        scan.at = start;
        if scan.string().is_none() {
            break;
        }
        let end = scan.at - 1;
        let inside = &json[start + 1..end];
        let shown = head(inside, width);
        let is_kept = shown == inside || kept == Some(start..scan.at);
        if is_kept || scan.peek() == Some(b':') {
            continue;
        }
        // Not in the middle of an escape.
        let unicode = shown.rfind("\\u").filter(|at| shown.len() - at < 6);
        let shown = shown[..unicode.unwrap_or(shown.len())].trim_end_matches('\\');
        short += &json[copied..start + 1 + shown.len()];
        short.push('…');
        copied = end;
    }
    if copied == 0 { Cow::Borrowed(json) } else { Cow::Owned(short + &json[copied..]) }
}

/// The range of the value at a JSON Pointer in a JSON text.
pub fn locate(json: &str, pointer: &str) -> Option<Range<usize>> {
    let mut scan = Scan { json, at: 0 };
    for token in pointer.strip_prefix('/').into_iter().flat_map(|rest| rest.split('/')) {
        scan.enter(&token.replace("~1", "/").replace("~0", "~"))?;
    }
    scan.value()
}

/// A position in a JSON text. Every method returns `None` if the text is not as expected.
struct Scan<'a> {
    json: &'a str,
    at: usize,
}

impl Scan<'_> {
    /// Moves from an object or array to the value of its field or index.
    fn enter(&mut self, token: &str) -> Option<()> {
        let object = match self.peek()? {
            b'{' => true,
            b'[' => false,
            _ => return None,
        };
        self.at += 1;
        for number in 0.. {
            if matches!(self.peek()?, b'}' | b']') {
                return None;
            }
            let found = if object {
                let key = self.value()?;
                (self.peek()? == b':').then(|| self.at += 1)?;
                serde_json::from_str::<String>(&self.json[key]).ok()? == token
            } else {
                number.to_string() == token
            };
            if found {
                return Some(());
            }
            self.value()?;
            if self.peek()? == b',' {
                self.at += 1;
            }
        }
        None
    }

    /// Skips one value of any type.
    fn value(&mut self) -> Option<Range<usize>> {
        self.peek()?;
        let start = self.at;
        let mut depth = 0_usize;
        loop {
            match self.byte()? {
                b'"' => self.string()?,
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    depth = depth.checked_sub(1)?;
                    self.at += 1;
                }
                _ if depth > 0 => self.at += 1,
                _ => {
                    let rest = &self.json[self.at..];
                    self.at += rest.find(|c: char| ",]} \t\r\n".contains(c)).unwrap_or(rest.len());
                }
            }
            if depth == 0 {
                return (self.at > start).then_some(start..self.at);
            }
        }
    }

    fn string(&mut self) -> Option<()> {
        loop {
            self.at += 1;
            match self.byte()? {
                b'\\' => self.at += 1,
                b'"' => break,
                _ => {}
            }
        }
        self.at += 1;
        Some(())
    }

    /// The next byte that is not whitespace.
    fn peek(&mut self) -> Option<u8> {
        while self.byte()?.is_ascii_whitespace() {
            self.at += 1;
        }
        self.byte()
    }

    fn byte(&self) -> Option<u8> {
        self.json.as_bytes().get(self.at).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortens_long_strings_that_are_not_pointed_at() {
        let long = "x".repeat(100);
        let json = format!(r#"{{"{long}":1,"a":["{long}"],"b":"{long}","c":"\u00e9\\"}}"#);
        let short = format!(r#"{{"{long}":1,"a":["xxxx…"],"b":"{long}","c":"…"}}"#);
        assert_eq!(short_strings(&json, Some("/b"), 4), short);
        assert_eq!(short_strings(&json, None, 100), json);
        for text in ["Started \"here\"", "{\"a\":\"open", "{\"a\":\"long\"} x", ""] {
            assert_eq!(short_strings(text, None, 1), text);
        }
    }

    #[test]
    fn finds_what_a_pointer_names() {
        let json = r#"{"id": 1, "a\"b": {"x/y": [true, {"k": "v,]}"} , [ ] ]}, "n": -1.5e3}"#;
        let at = |pointer: &str| locate(json, pointer).map(|range| &json[range]);
        assert_eq!(at("/id"), Some("1"));
        assert_eq!(at("/a\"b/x~1y/0"), Some("true"));
        assert_eq!(at("/a\"b/x~1y/1/k"), Some(r#""v,]}""#));
        assert_eq!(at("/a\"b/x~1y/2"), Some("[ ]"));
        assert_eq!(at("/n"), Some("-1.5e3"));
        assert_eq!(at(""), Some(json));
        assert_eq!(at("/absent"), None);
        assert_eq!(at("/a\"b/x~1y/3"), None);
        assert_eq!(at("/id/deeper"), None);
    }

    #[test]
    fn finds_nothing_in_what_is_no_json() {
        for text in ["", "{", "{\"a\"", "{\"a\":", "[1,", "Server started", "\"\\", "{\"a\":\"\\u00"] {
            assert_eq!(locate(text, "/a/0"), None, "{text}");
        }
    }
}
