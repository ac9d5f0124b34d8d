//! The matchers of the suite language: conditions on the values that the path of a rule selects.

mod compare;
mod expression;
mod kind;
mod list;
mod mismatch;
pub(super) mod show;
mod size;

use serde_json::Value;

pub use compare::equal;
pub use expression::Expression;
pub use kind::Kind;
pub use mismatch::{Mismatch, Unmet};
pub use size::Bound;

use super::{
    format::Format,
    model::{Clause, Template},
    path::Node,
    scope::Scope,
    shape,
};
use conform_model::revision::Revision;

/// Conditions that must all hold.
#[derive(Clone, Debug)]
pub struct Matcher {
    pub conditions: Vec<Condition>,
}

#[derive(Clone, Debug)]
pub enum Condition {
    Equals {
        to: Template,
        ignoring: Vec<String>,
    },
    NotEquals {
        to: Template,
        ignoring: Vec<String>,
    },
    /// A template for a list.
    OneOf(Template),
    Matches(Expression),
    NotMatches(Expression),
    /// No selected value matches all of this.
    None(Matcher),
    Present(bool),
    Number(Bound, Template),
    Length(Bound, Template),
    Unique(Compared),
    AllEqual {
        of: Compared,
        ignoring: Vec<String>,
    },
    Kind(Kind),
    /// The name of a shape.
    Shape(String),
    Format(Format),
    IfPresent(Matcher),
}

/// What `unique` and `all-equal` compare with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compared {
    /// The values that a path with a wildcard or a filter selects, however many.
    Values,
    /// The elements of the list that a path without one selects.
    Elements,
}

impl Clause {
    /// Every mismatch of the values that the subject selects. An unbound name selects nothing.
    pub fn judge(&self, scope: &Scope<'_>, revision: Revision) -> Vec<Mismatch> {
        self.matcher.judge(&self.subject.select(scope).unwrap_or_default(), scope, revision)
    }

    /// Whether the clause passes.
    pub fn holds(&self, scope: &Scope<'_>, revision: Revision) -> bool {
        // Locations are not needed here, so none are built.
        let node = |value| Node { value, location: String::new() };
        if self.subject.is_plural() {
            let nodes: Vec<Node> = self.subject.values(scope).into_iter().flatten().map(node).collect();
            return self.matcher.holds(&nodes, scope, revision);
        }
        self.matcher.holds(self.subject.first(scope).map(node).as_slice(), scope, revision)
    }

    /// Whether it passes only because there is nothing to judge.
    pub fn is_idle(&self, scope: &Scope<'_>) -> bool {
        self.matcher.may_be_idle() && self.matcher.is_idle(&self.subject.select(scope).unwrap_or_default())
    }
}

impl Matcher {
    /// The values that this compares with.
    pub fn operands(&self) -> Vec<&Template> {
        fn of(condition: &Condition) -> Vec<&Template> {
            match condition {
                Condition::Equals { to, .. }
                | Condition::NotEquals { to, .. }
                | Condition::OneOf(to)
                | Condition::Number(_, to)
                | Condition::Length(_, to) => vec![to],
                Condition::IfPresent(inner) | Condition::None(inner) => inner.operands(),
                Condition::Matches(_)
                | Condition::NotMatches(_)
                | Condition::Present(_)
                | Condition::Unique(_)
                | Condition::AllEqual { .. }
                | Condition::Kind(_)
                | Condition::Shape(_)
                | Condition::Format(_) => Vec::new(),
            }
        }
        self.conditions.iter().flat_map(of).collect()
    }

    /// Every reason why the matcher fails for `nodes`. It must pass for each of them. If nothing is selected,
    /// everything but `present: false`, `none` and `if-present` fails.
    pub fn judge(&self, nodes: &[Node<'_>], scope: &Scope<'_>, revision: Revision) -> Vec<Mismatch> {
        if nodes.is_empty() {
            return self.conditions.iter().find(|c| c.needs_one()).map(|c| missing(c, scope)).into_iter().collect();
        }
        self.conditions.iter().flat_map(|condition| condition.judge(nodes, scope, revision)).collect()
    }

    /// Whether the matcher passes. Builds no messages, because conditions fail often.
    pub fn holds(&self, nodes: &[Node<'_>], scope: &Scope<'_>, revision: Revision) -> bool {
        let holds = |condition: &Condition| match nodes {
            [] => !condition.needs_one(),
            _ => condition.holds(nodes, scope, revision),
        };
        self.conditions.iter().all(holds)
    }

    /// Whether it passes only because these values give it nothing to judge.
    fn is_idle(&self, nodes: &[Node<'_>]) -> bool {
        self.conditions.iter().all(|condition| condition.is_idle(nodes))
    }

    /// Whether that can happen with this matcher at all, which is fast to check.
    fn may_be_idle(&self) -> bool {
        let may = |condition: &Condition| {
            matches!(condition, Condition::IfPresent(_) | Condition::Unique(_) | Condition::AllEqual { .. })
        };
        self.conditions.iter().all(may)
    }

    /// Whether it compares values with each other.
    pub fn compares(&self) -> bool {
        self.conditions.iter().any(|condition| matches!(condition, Condition::Unique(_) | Condition::AllEqual { .. }))
    }

    /// Whether it only states what must be absent.
    pub fn forbids(&self) -> bool {
        let forbids = |condition: &Condition| match condition {
            Condition::NotEquals { .. } | Condition::Present(false) | Condition::None(_) => true,
            Condition::IfPresent(inner) => inner.forbids(),
            _ => false,
        };
        self.conditions.iter().all(forbids)
    }
}

fn missing(condition: &Condition, scope: &Scope<'_>) -> Mismatch {
    let expected = match condition {
        Condition::Equals { to, .. } => to.resolve(scope).ok(),
        _ => None,
    };
    Mismatch { location: String::new(), unmet: Unmet::Missing(expected) }
}

impl Condition {
    const fn needs_one(&self) -> bool {
        !matches!(self, Self::Present(false) | Self::None(_) | Self::IfPresent(_))
    }

    /// `if-present` without a value is idle, unless the inner matcher requires absence. `unique` and `all-equal` are
    /// idle with a single value.
    fn is_idle(&self, nodes: &[Node<'_>]) -> bool {
        match self {
            Self::IfPresent(inner) if nodes.is_empty() => !inner.forbids(),
            Self::IfPresent(inner) => inner.is_idle(nodes),
            Self::Unique(of) | Self::AllEqual { of, .. } => list::items(nodes, *of).len() < 2,
            _ => false,
        }
    }

    fn holds(&self, nodes: &[Node<'_>], scope: &Scope<'_>, revision: Revision) -> bool {
        let all = |fits: &dyn Fn(&Value) -> bool| nodes.iter().all(|node| fits(node.value));
        let texts = |fits: &dyn Fn(&str) -> bool| all(&|value| value.as_str().is_some_and(fits));
        let against = |operand: &Template, fits: &dyn Fn(&Value, &Value) -> bool| {
            operand.look_up(scope).is_ok_and(|operand| all(&|value| fits(value, &operand)))
        };
        match self {
            Self::Present(wanted) => *wanted,
            Self::IfPresent(inner) => inner.holds(nodes, scope, revision),
            Self::Kind(kind) => all(&|value| kind.fits(value)),
            Self::Format(format) => texts(&|text| format.fits(text)),
            Self::Matches(pattern) => texts(&|text| pattern.finds_something(text)),
            Self::NotMatches(pattern) => texts(&|text| !pattern.finds_something(text)),
            Self::None(inner) => !nodes.iter().any(|node| inner.holds(std::slice::from_ref(node), scope, revision)),
            Self::Equals { to, ignoring } => against(to, &|a, b| compare::equal_ignoring(a, b, ignoring)),
            Self::NotEquals { to, ignoring } => against(to, &|a, b| !compare::equal_ignoring(a, b, ignoring)),
            other => other.judge(nodes, scope, revision).is_empty(),
        }
    }

    fn judge(&self, nodes: &[Node<'_>], scope: &Scope<'_>, revision: Revision) -> Vec<Mismatch> {
        match self {
            Self::Unique(of) => list::unique(&list::items(nodes, *of)),
            Self::AllEqual { of, ignoring } => list::all_equal(&list::items(nodes, *of), ignoring),
            Self::IfPresent(inner) => inner.judge(nodes, scope, revision),
            Self::Present(true) => Vec::new(),
            Self::Present(false) => nodes
                .iter()
                .map(|node| Mismatch { location: node.location.clone(), unmet: Unmet::Present(node.value.clone()) })
                .collect(),
            Self::Shape(name) => nodes.iter().flat_map(|node| ill_shaped(node, name, revision)).collect(),
            Self::Kind(kind) => each(nodes, |value| kind.judge(value)),
            Self::Format(format) => each(nodes, |value| {
                string(value, |text| (!format.fits(text)).then(|| format!("expected {}", format.words())))
            }),
            Self::Matches(pattern) => each(nodes, |value| {
                string(value, |text| {
                    (!pattern.finds_something(text)).then(|| format!("expected text that matches /{pattern}/"))
                })
            }),
            Self::NotMatches(pattern) => each(nodes, |value| {
                string(value, |text| {
                    pattern.finds_something(text).then(|| format!("expected text that does not match /{pattern}/"))
                })
            }),
            Self::None(inner) => nodes
                .iter()
                .filter(|node| inner.holds(std::slice::from_ref(*node), scope, revision))
                .map(|node| {
                    Mismatch::new(&node.location, format!("is {}, expected another value", show::value(node.value)))
                })
                .collect(),
            Self::Equals { to, ignoring } => against(nodes, to, scope, |node, to| compare::equals(node, to, ignoring)),
            Self::NotEquals { to, ignoring } => {
                against(nodes, to, scope, |node, to| compare::differs(node, to, ignoring))
            }
            Self::OneOf(options) => match options.alternatives(scope) {
                Ok(options) => nodes.iter().filter_map(|node| compare::one_of(node, &options)).collect(),
                Err(missing) => vec![nothing_to_compare_with(nodes, &missing.path)],
            },
            Self::Number(bound, to) => against(nodes, to, scope, |node, to| size::number(node, *bound, to)),
            Self::Length(bound, to) => against(nodes, to, scope, |node, to| size::length(node, *bound, to)),
        }
    }
}

/// Applies a function that returns an error message to each node.
fn each(nodes: &[Node<'_>], judge: impl Fn(&Value) -> Option<String>) -> Vec<Mismatch> {
    let wrong = |node: &Node<'_>| judge(node.value).map(|message| Mismatch::new(&node.location, message));
    nodes.iter().filter_map(wrong).collect()
}

/// Applies a function of node and operand to each node. The operand may be a reference.
fn against(
    nodes: &[Node<'_>],
    operand: &Template,
    scope: &Scope<'_>,
    judge: impl Fn(&Node<'_>, &Value) -> Option<Mismatch>,
) -> Vec<Mismatch> {
    match operand.look_up(scope) {
        Ok(operand) => nodes.iter().filter_map(|node| judge(node, &operand)).collect(),
        Err(missing) => vec![nothing_to_compare_with(nodes, &missing.path)],
    }
}

fn nothing_to_compare_with(nodes: &[Node<'_>], path: &str) -> Mismatch {
    let location = nodes.first().map_or("", |node| &node.location);
    Mismatch::new(location, format!("cannot be compared: `{path}` selects nothing"))
}

fn string(value: &Value, judge: impl Fn(&str) -> Option<String>) -> Option<String> {
    match value {
        Value::String(text) => judge(text).map(|expected| format!("is {}, {expected}", show::value(value))),
        _ => Some(format!("is {}, expected a string", show::described(value))),
    }
}

fn ill_shaped(node: &Node<'_>, name: &str, revision: Revision) -> Vec<Mismatch> {
    let place = |violation: shape::Violation| {
        let location = format!("{}{}", node.location, violation.pointer);
        Mismatch::new(&location, format!("does not fit `{name}`: {}", violation.message))
    };
    shape::violations(name, revision, node.value).into_iter().map(place).collect()
}

#[cfg(test)]
mod tests;
