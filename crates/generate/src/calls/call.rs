//! One call.

use serde::Serialize;
use serde_json::Value;

use crate::values::misses::is_tolerated;

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

/// What a call covers: a keyword at a location of the schema, and how the value there is special.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Case {
    pub keyword: String,
    pub schema: String,
    pub kind: &'static str,
}

/// Values for the place of a valid one.
#[derive(Clone, Debug, PartialEq)]
pub struct Beside {
    /// Other valid ones, the plainest first.
    pub plain: Vec<Value>,
    /// Those that violate the schema.
    pub invalid: Vec<Value>,
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
    pub beside: Option<Beside>,
    /// The valid arguments that were changed into invalid ones.
    pub base: Option<Value>,
    pub case: Option<Case>,
    /// Of a stored call: whether many servers accept it on purpose.
    pub tolerated: bool,
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
            beside: None,
            base: None,
            case: None,
            tolerated: false,
        }
    }

    /// Whether many servers accept such a call on purpose.
    pub fn is_tolerated(&self) -> bool {
        let kind = self.case.as_ref().map_or("", |case| case.kind);
        self.kind == Kind::Invalid && (self.tolerated || is_tolerated(&self.keyword, kind))
    }

    /// The same arguments with this value at the place of the call.
    pub fn with(&self, value: &Value) -> Option<Value> {
        let mut arguments = self.arguments.clone();
        *arguments.pointer_mut(&self.at)? = value.clone();
        Some(arguments)
    }

    /// Identifies the call. A call at a bound is not the same as a plain call with the same arguments: only the call at
    /// the bound is compared with values inside of it.
    pub fn key(&self) -> String {
        let inside = self.inside.as_ref().map(Value::to_string).unwrap_or_default();
        let beside = if self.beside.is_some() { "beside" } else { "" };
        format!("{} {} {inside}{beside}", self.kind.word(), self.arguments)
    }
}
