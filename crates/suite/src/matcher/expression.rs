//! A regular expression, compiled at first use: a run needs only a few of them.

use std::{fmt, sync::OnceLock};

use regex::Regex;

#[derive(Clone, Debug)]
pub struct Expression {
    text: String,
    compiled: OnceLock<Regex>,
}

impl Expression {
    pub fn new(text: &str) -> Result<Self, regex::Error> {
        Regex::new(text).map(|regex| Self { text: text.to_owned(), compiled: regex.into() })
    }

    /// A pattern that is known to compile.
    pub fn trusted(text: String) -> Self {
        Self { text, compiled: OnceLock::new() }
    }

    pub fn finds_something(&self, text: &str) -> bool {
        let compile = || Regex::new(&self.text).unwrap_or_else(|error| unreachable!("it was trusted: {error}"));
        self.compiled.get_or_init(compile).is_match(text)
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
