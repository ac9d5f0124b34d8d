//! Bearer tokens that a server tells, as reports show them: their beginning is enough to find them.

use std::{borrow::Cow, sync::LazyLock};

use regex::{Captures, Regex};

/// How much of a token is shown, and how much more there has to be for it to be one.
const TOKEN: &str = r"(?i)\b(?<shown>bearer\s+[a-z0-9_.~+/-]{4})(?<rest>[a-z0-9_.~+/=-]{8,})";

/// A text with the beginnings of tokens alone.
pub fn masked(text: &str) -> Cow<'_, str> {
    static TOKENS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(TOKEN).ok());
    let Some(tokens) = &*TOKENS else { return Cow::Borrowed(text) };
    tokens.replace_all(text, |found: &Captures| {
        // Words have no digits.
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
