//! Matchers that compare with a bound: `at-least`, `at-most` and `length`.

use serde_json::{Number, Value};

use super::{Mismatch, compare::order, show};
use crate::path::Node;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    AtLeast,
    AtMost,
    Exactly,
}

impl Bound {
    fn holds(self, number: &Number, bound: &Number) -> bool {
        let order = order(number, bound);
        match self {
            Self::AtLeast => order.is_ge(),
            Self::AtMost => order.is_le(),
            Self::Exactly => order.is_eq(),
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::AtLeast => "at least ",
            Self::AtMost => "at most ",
            Self::Exactly => "",
        }
    }
}

pub(super) fn number(node: &Node<'_>, bound: Bound, to: &Value) -> Option<Mismatch> {
    let message = match (node.value, to) {
        (Value::Number(number), Value::Number(to)) if bound.holds(number, to) => return None,
        (Value::Number(number), Value::Number(to)) => format!("is {number}, expected {}{to}", bound.words()),
        (Value::Number(_), _) => no_number(to),
        (other, _) => format!("is {}, expected a number", show::described(other)),
    };
    Some(Mismatch::new(&node.location, message))
}

pub(super) fn length(node: &Node<'_>, bound: Bound, to: &Value) -> Option<Mismatch> {
    let (length, unit) = match node.value {
        Value::String(text) => (text.chars().count(), "character"),
        Value::Array(items) => (items.len(), "item"),
        Value::Object(fields) => (fields.len(), "field"),
        other => {
            let message = format!("is {}, which has no length", show::described(other));
            return Some(Mismatch::new(&node.location, message));
        }
    };
    let message = match to {
        Value::Number(to) if bound.holds(&Number::from(length), to) => return None,
        Value::Number(to) => {
            let plural = if length == 1 { "" } else { "s" };
            format!("has {length} {unit}{plural}, expected {}{to}", bound.words())
        }
        other => no_number(other),
    };
    Some(Mismatch::new(&node.location, message))
}

fn no_number(bound: &Value) -> String {
    format!("cannot be compared: the bound is {}", show::described(bound))
}
