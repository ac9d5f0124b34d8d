//! Masks bearer tokens in reports: the first characters are enough to find them.

use std::{borrow::Cow, sync::LazyLock};

use regex::{Captures, Regex};

/// The part of a token that is shown, and the minimum length of the rest.
const TOKEN: &str = r"(?i)\b(?<shown>bearer\s+[a-z0-9_.~+/-]{4})(?<rest>[a-z0-9_.~+/=-]{8,})";

/// The text with all tokens cut to their first characters.
pub fn masked(text: &str) -> Cow<'_, str> {
    static TOKENS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(TOKEN).ok());
    let Some(tokens) = &*TOKENS else { return Cow::Borrowed(text) };
    tokens.replace_all(text, |found: &Captures| {
        // A text without digits is a word.
        let is_token = found[0].bytes().any(|byte| byte.is_ascii_digit());
        if is_token { format!("{}…", &found["shown"]) } else { found[0].to_owned() }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_token_only_the_beginning_is_shown() {
        assert_eq!(masked(r#"{"Authorization":"Bearer eyJhbGciOi.J9abc="}"#), r#"{"Authorization":"Bearer eyJh…"}"#);
        assert_eq!(masked("a bearer  abcdefghijk1, b Bearer zzzz23456789"), "a bearer  abcd…, b Bearer zzzz…");
    }

    #[test]
    fn words_are_shown_whole() {
        for text in ["Bearer authentication-required", "Bearer …", "no bearer", "Bearer a1b2"] {
            assert_eq!(masked(text), text);
        }
    }
}
