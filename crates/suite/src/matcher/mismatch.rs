//! Why a matcher fails, as data, and the words for it.

use std::fmt;

use serde_json::Value;

use super::show;

/// One reason why a matcher fails.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// JSON Pointer from the value of the subject's root name; empty where nothing was selected.
    pub location: String,
    pub unmet: Unmet,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Unmet {
    /// Nothing was selected. This value was expected, if `equals` names one.
    Missing(Option<Value>),
    /// A value where none is allowed.
    Present(Value),
    NotOneOf {
        received: Value,
        options: Vec<Value>,
    },
    /// The first difference in words, and both values if a diff of them helps: received and expected.
    Different(String, Option<(Value, Value)>),
    /// Another condition, in words.
    Other(String),
}

impl Mismatch {
    pub(super) fn new(location: &str, words: impl Into<String>) -> Self {
        Self { location: location.to_owned(), unmet: Unmet::Other(words.into()) }
    }

    /// The expected value, if the rule states a single one.
    pub const fn expected(&self) -> Option<&Value> {
        match &self.unmet {
            Unmet::Missing(expected) => expected.as_ref(),
            Unmet::Different(_, Some((_, expected))) => Some(expected),
            _ => None,
        }
    }

    /// Received and expected, where a diff of them helps.
    pub fn into_values(self) -> (Option<Value>, Option<Value>) {
        match self.unmet {
            Unmet::Missing(expected) => (None, expected),
            Unmet::Different(_, Some((received, expected))) => (Some(received), Some(expected)),
            _ => (None, None),
        }
    }
}

/// Continues a sentence that starts with the subject: "is -32603, expected -32602".
impl fmt::Display for Unmet {
    fn fmt(&self, words: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(None) => words.write_str("is missing"),
            Self::Missing(Some(expected)) => write!(words, "is missing, expected {}", show::value(expected)),
            Self::Present(value) => write!(words, "is {}, expected nothing", show::value(value)),
            Self::NotOneOf { received, options } => {
                let list = options.iter().map(show::value).collect::<Vec<_>>().join(", ");
                let expected = match options.len() {
                    0 => "one of an empty list".to_owned(),
                    1 => list,
                    _ => format!("one of {list}"),
                };
                write!(words, "is {}, expected {expected}", show::value(received))
            }
            Self::Different(said, _) | Self::Other(said) => words.write_str(said),
        }
    }
}
