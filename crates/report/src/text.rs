//! Escapes text of a server, and wraps it.
//!
//! Characters that control a terminal or that are invisible are escaped: control characters, overrides of the writing
//! direction, and invisible characters.

use std::{borrow::Cow, fmt::Write as _};

use unicode_width::UnicodeWidthChar;

use conform_model::outcome::excerpt::columns;

/// The text with every character that is not displayed as itself written as `\n` or `\u001b`.
pub fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        // Writing to a string does not fail.
        let _ = match c {
            '\n' => shown.write_str("\\n"),
            '\r' => shown.write_str("\\r"),
            '\t' => shown.write_str("\\t"),
            '\u{10000}'.. if hidden(c) => write!(shown, "\\u{{{:x}}}", u32::from(c)),
            c if hidden(c) => write!(shown, "\\u{:04x}", u32::from(c)),
            c => shown.write_char(c),
        };
    }
    Cow::Owned(shown)
}

/// The same JSON, in which every such character is escaped, except the line breaks between its parts.
pub fn visible(json: &str) -> String {
    let mut shown = String::with_capacity(json.len() + 1);
    for c in json.chars() {
        if hidden(c) && c != '\n' {
            shown.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            shown.push(c);
        }
    }
    shown
}

fn hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

/// Prose on one line, without the line breaks of its source.
pub fn flow(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Lines of at most this width, wrapped at spaces, and inside a word only if it is longer than a line.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = vec![String::new()];
    let mut used = 0;
    for (at, word) in text.split(' ').enumerate() {
        let long = columns(word);
        if at > 0 && used + 1 + long <= width {
            lines.last_mut().expect("never empty").push(' ');
            used += 1;
        } else if used > 0 {
            lines.push(String::new());
            used = 0;
        }
        for c in word.chars() {
            let wide = c.width().unwrap_or(0);
            if used + wide > width {
                lines.push(String::new());
                used = 0;
            }
            lines.last_mut().expect("never empty").push(c);
            used += wide;
        }
    }
    lines
}

/// The first of these lines. If there are more, the last of them ends with an ellipsis.
pub fn first_lines(text: &str, width: usize, most: usize) -> Vec<String> {
    let mut lines = wrap(text, width);
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            while columns(last) + 1 > width && last.pop().is_some() {}
            last.push('…');
        }
    }
    lines
}

/// A command on lines of about this width, wrapped before options with backslashes, so that a shell reads one command.
pub fn wrap_command(command: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for part in options(command) {
        let line = lines.last_mut().expect("never empty");
        // One column is for the backslash.
        if line.is_empty() || columns(line) + columns(part) < width {
            line.push_str(part);
        } else {
            line.push('\\');
            lines.push(format!("  {part}"));
        }
    }
    lines
}

/// A command in parts. Each except the first begins with an option that is not inside quotes.
fn options(command: &str) -> Vec<&str> {
    let (mut parts, mut start) = (Vec::new(), 0);
    let (mut quote, mut escaped, mut last) = (None, false, '\0');
    for (at, c) in command.char_indices() {
        if quote.is_none() && !escaped && last == ' ' && c == '-' {
            parts.push(&command[start..at]);
            start = at;
        }
        last = if escaped { '\\' } else { c };
        match (quote, c) {
            _ if escaped => escaped = false,
            (None | Some('"'), '\\') => escaped = true,
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if c == open => quote = None,
            _ => {}
        }
    }
    parts.push(&command[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_what_a_terminal_would_act_on() {
        assert_eq!(plain("\u{1b}[31mred\u{7}\0"), r"\u001b[31mred\u0007\u0000");
        assert_eq!(plain("a\r\n\tb"), r"a\r\n\tb");
        assert_eq!(plain("\u{9b}2J\u{7f}"), r"\u009b2J\u007f");
    }

    #[test]
    fn shows_what_a_reader_could_not_see() {
        assert_eq!(plain("abc\u{202e}fdp.exe"), r"abc\u202efdp.exe");
        assert_eq!(plain("a\u{200b}b\u{feff}\u{e0041}"), r"a\u200bb\ufeff\u{e0041}");
    }

    #[test]
    fn json_stays_the_same() {
        let value = serde_json::json!({ "a\u{202e}": "\u{9b}2J\u{e0041}\n", "é": "日" });
        let shown = visible(&format!("{value:#}"));
        assert!(shown.contains(r"\u202e") && shown.contains(r"\udb40\udc41") && shown.contains("日"), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).ok(), Some(value));
    }

    #[test]
    fn leaves_every_other_writing_alone() {
        for text in ["plain", "שלום", "日本語", "🦀", "e\u{301}"] {
            assert!(matches!(plain(text), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn breaks_commands_before_options() {
        let command = "run --stdio './a -server' --filter rule";
        assert_eq!(wrap_command(command, 80), [command]);
        assert_eq!(wrap_command(command, 30), [r"run --stdio './a -server' \", "  --filter rule"]);
        assert_eq!(wrap_command(command, 8), ["run \\", r"  --stdio './a -server' \", "  --filter rule"]);
        assert_eq!(wrap_command(r"a\ -b 'it'\'' -c' -d", 3), [r"a\ -b 'it'\'' -c' \", "  -d"]);
    }

    #[test]
    fn a_text_that_is_too_long_is_cut_once_at_its_end() {
        assert_eq!(first_lines("one two three", 7, 2), ["one two", "three"]);
        assert_eq!(first_lines("one two three", 7, 1), ["one tw…"]);
        assert_eq!(first_lines("one two three four", 8, 2), ["one two", "three…"]);
        assert_eq!(first_lines("日本語日本語", 5, 1), ["日本…"]);
    }

    #[test]
    fn breaks_at_spaces_and_inside_words_that_are_too_long() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("a 0123456789 b", 4), ["a", "0123", "4567", "89 b"]);
        assert_eq!(wrap("日本語", 5), ["日本", "語"]);
        assert_eq!(wrap("", 5), [""]);
    }
}
