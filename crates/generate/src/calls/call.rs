//! One call.

use serde::Serialize;
use serde_json::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    Valid,
    Invalid,
    Hostile,
}

impl Kind {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Invalid => "invalid",
            Self::Hostile => "hostile",
        }
    }

    pub fn named(word: &str) -> Option<Self> {
        [Self::Valid, Self::Invalid, Self::Hostile].into_iter().find(|kind| kind.word() == word)
    }
}

/// Arguments, and why they were chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub arguments: Value,
    pub kind: Kind,
    /// The keyword whose bound is tested or that is violated.
    pub keyword: String,
    /// The JSON pointer in the arguments.
    pub at: String,
    /// The hostile or invalid part, as part of a sentence.
    pub why: String,
    /// The same arguments with a value inside the bound.
    pub inside: Option<Value>,
}

impl Call {
    /// A call with valid arguments.
    pub fn plain(arguments: Value) -> Self {
        Self {
            arguments,
            kind: Kind::Valid,
            keyword: String::new(),
            at: String::new(),
            why: String::new(),
            inside: None,
        }
    }

    /// Identifies the call. A call at a bound is not the same as a plain call with the same arguments: only the call at
    /// the bound is compared with values inside of it.
    pub fn key(&self) -> String {
        let inside = self.inside.as_ref().map(Value::to_string).unwrap_or_default();
        format!("{} {} {inside}", self.kind.word(), self.arguments)
    }
}
