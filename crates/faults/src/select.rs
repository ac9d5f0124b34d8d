//! Which messages an edit changes.

use serde::Deserialize;
use serde_json::Value;

use super::Edit;
use conform_model::revision::Revision;

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    Client,
    Server,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    Request,
    Notification,
    Response,
}

impl Kind {
    fn of(message: &Value) -> Self {
        match (message.get("method"), message.get("id")) {
            (Some(_), Some(_)) => Self::Request,
            (Some(_), None) => Self::Notification,
            (None, _) => Self::Response,
        }
    }
}

/// What is known about a message on its way.
pub struct Passing<'a> {
    pub from: Side,
    /// Whether the program with the fault sends it.
    pub is_own: bool,
    /// The request that the message belongs to.
    pub request: Option<&'a Value>,
    /// `None` until it is negotiated.
    pub revision: Option<Revision>,
}

impl Edit {
    /// Whether the message is one of those that the edit changes.
    pub fn selects(&self, passing: &Passing, message: &Value) -> bool {
        self.from.map_or(passing.is_own, |from| from == passing.from)
            && (self.of.is_empty() || self.of.contains(&Kind::of(message)))
            && (self.on.is_empty() || self.concerns(passing.request, message))
            && self.applies_in(passing.revision)
            && self.larger_than.is_none_or(|bytes| message.to_string().len() > bytes)
            && self.fits(passing.request, Some(message))
    }

    /// Whether the fault shows this time.
    pub fn is_due(&self, selected: &mut usize) -> bool {
        let number = *selected;
        *selected += 1;
        let Some(shown) = number.checked_sub(self.skip) else { return false };
        let every = self.every.unwrap_or(1).max(1);
        (shown + 1).is_multiple_of(every) && self.limit.is_none_or(|limit| shown / every < limit)
    }

    /// Whether the message is named by `on`.
    pub fn concerns(&self, request: Option<&Value>, message: &Value) -> bool {
        let responds = message.get("method").is_none();
        let method = message.get("method").or_else(|| request?.get("method")).and_then(Value::as_str);
        self.on.iter().any(|on| match on.as_str() {
            "*" => responds,
            "error" => responds && message.get("error").is_some(),
            on => method.is_some_and(|method| matches(on, method)),
        })
    }

    pub fn applies_in(&self, revision: Option<Revision>) -> bool {
        let Some(revision) = revision else { return true };
        self.since.is_none_or(|since| since <= revision) && self.until.is_none_or(|until| revision <= until)
    }

    /// Whether the conditions of `when` hold.
    pub fn fits(&self, request: Option<&Value>, message: Option<&Value>) -> bool {
        self.when.iter().all(|(path, expected)| {
            let found = if let Some(path) = path.strip_prefix("/request") {
                request.and_then(|request| request.pointer(path))
            } else {
                let path = path.strip_prefix("/response").or_else(|| path.strip_prefix("/message"));
                path.and_then(|path| message?.pointer(path))
            };
            meets(found, expected)
        })
    }
}

/// Whether a value is as a condition expects it.
fn meets(found: Option<&Value>, expected: &Value) -> bool {
    let text = found.and_then(Value::as_str);
    let number = found.and_then(Value::as_f64);
    let test = expected.as_object().filter(|test| test.len() == 1).and_then(|test| test.iter().next());
    match (test, expected) {
        (Some((name, wanted)), _) => match (name.as_str(), wanted.as_str()) {
            ("not", _) => !meets(found, wanted),
            ("is", _) => found.is_some_and(|found| meets(Some(&kind(found).into()), wanted)),
            ("starts-with", Some(start)) => text.is_some_and(|text| text.starts_with(start)),
            ("ends-with", Some(end)) => text.is_some_and(|text| text.ends_with(end)),
            ("above", _) => number.zip(wanted.as_f64()).is_some_and(|(number, limit)| number > limit),
            ("below", _) => number.zip(wanted.as_f64()).is_some_and(|(number, limit)| number < limit),
            _ => found == Some(expected),
        },
        (None, Value::String(word)) if word == "present" => found.is_some(),
        (None, Value::String(word)) if word == "absent" => found.is_none(),
        (None, Value::Array(any)) => found.is_some_and(|found| found == expected || any.contains(found)),
        (None, _) => found == Some(expected),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Whether a text fits a pattern, in which `*` stands for any text.
pub fn matches(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == text };
    text.strip_prefix(start)
        .is_some_and(|text| (0..=text.len()).any(|at| text.is_char_boundary(at) && matches(rest, &text[at..])))
}
