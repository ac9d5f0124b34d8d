//! Clauses: paths, and the matchers that judge what they select.

use super::{Origin, lint::Lint};
use crate::{
    decode::{self, Decode, Pairs},
    file,
    matcher::{Bound, Compared, Condition, Expression, Kind, Matcher},
    model::{Clause, Template},
    path::Path,
};
use conform_source::yaml::{At, Tree, Yaml};

impl Lint<'_> {
    pub fn clauses(&mut self, typed: Option<Pairs<file::Matcher>>) -> Vec<Clause> {
        let clause = |(subject, matcher): (At<String>, file::Matcher)| {
            let subject = self.path(&subject);
            let says = matcher.says.as_ref().map(|says| says.value.clone());
            let is_plural = subject.as_ref().is_some_and(Path::is_plural);
            let matcher = self.matcher(matcher, if is_plural { Compared::Values } else { Compared::Elements });
            Some(Clause { subject: subject?, matcher, says })
        };
        typed.map(|pairs| pairs.0).into_iter().flatten().filter_map(clause).collect()
    }

    fn matcher(&mut self, typed: file::Matcher, of: Compared) -> Matcher {
        let asks_nothing = typed.typed.keys.iter().all(|key| ["ignoring", "says"].contains(&&*key.value));
        if asks_nothing {
            self.problems.add(typed.typed.at, "this matcher is empty");
        }
        let ignoring: Vec<String> =
            typed.ignoring.map(|names| names.0.into_iter().map(|name| name.value).collect()).unwrap_or_default();
        let compares = typed.equals.is_some() || typed.not_equals.is_some() || typed.all_equal.is_some();
        if let Some(key) = typed.typed.keys.iter().find(|key| key.value == "ignoring" && !compares && !asks_nothing) {
            self.problems.add(key.at, "`ignoring` needs `equals`, `not-equals` or `all-equal`");
        }

        let mut conditions = Vec::new();
        let equals = typed.equals.and_then(|tree| self.operand(&tree));
        conditions.extend(equals.map(|to| Condition::Equals { to, ignoring: ignoring.clone() }));
        let other = typed.not_equals.and_then(|tree| self.operand(&tree));
        conditions.extend(other.map(|to| Condition::NotEquals { to, ignoring: ignoring.clone() }));
        conditions.extend(typed.one_of.and_then(|tree| self.options(&tree)).map(Condition::OneOf));
        conditions.extend(typed.matches.and_then(|pattern| self.pattern(&pattern)).map(Condition::Matches));
        conditions.extend(typed.not_matches.and_then(|pattern| self.pattern(&pattern)).map(Condition::NotMatches));
        for inner in typed.none.map(|inner| inner.0).into_iter().flatten() {
            conditions.push(Condition::None(self.inner(inner, Compared::Elements, "none")));
        }
        conditions.extend(typed.present.map(Condition::Present));
        conditions.extend(typed.length.map(|tree| self.length(&tree)).unwrap_or_default());
        let least = typed.at_least.and_then(|tree| self.bound(&tree));
        conditions.extend(least.map(|least| Condition::Number(Bound::AtLeast, least)));
        let most = typed.at_most.and_then(|tree| self.bound(&tree));
        conditions.extend(most.map(|most| Condition::Number(Bound::AtMost, most)));
        conditions.extend(self.switch(typed.unique, Condition::Unique(of)));
        conditions.extend(self.switch(typed.all_equal, Condition::AllEqual { of, ignoring }));
        conditions.extend(typed.r#type.map(Condition::Kind));
        conditions.extend(typed.shape.map(|shape| self.shape(shape)));
        conditions.extend(typed.format.map(Condition::Format));
        conditions.extend(typed.if_present.map(|inner| Condition::IfPresent(self.inner(*inner, of, "if-present"))));
        Matcher { conditions }
    }

    fn inner(&mut self, typed: file::Matcher, of: Compared, key: &str) -> Matcher {
        if let Some(says) = &typed.says {
            self.problems.add(says.at, format!("`says` must be next to `{key}`, not in it"));
        }
        self.matcher(typed, of)
    }

    /// The value to compare with. A streamed root cannot be one, since its items are not kept.
    fn operand(&mut self, tree: &Tree) -> Option<Template> {
        let template = self.template(tree)?;
        if let Some(path) = template.references().into_iter().find(|path| path.streamed) {
            self.problems.add(tree.at, format!("`${}` is a stream and cannot be an operand", path.root));
        }
        Some(template)
    }

    fn options(&mut self, tree: &Tree) -> Option<Template> {
        match self.operand(tree)? {
            Template::Literal(serde_json::Value::Array(options)) if options.is_empty() => {
                self.problems.add(tree.at, "a list of options must not be empty");
                None
            }
            Template::Literal(value) if !value.is_array() => {
                decode::wrong(tree, "a list of options, or a reference to one", self.problems)
            }
            options => Some(options),
        }
    }

    fn pattern(&mut self, pattern: &At<String>) -> Option<Expression> {
        if self.origin == Origin::Trusted {
            return Some(Expression::trusted(pattern.value.clone()));
        }
        match Expression::new(&pattern.value) {
            Ok(expression) => Some(expression),
            Err(error) => {
                let error = error.to_string();
                let what = error.lines().last().unwrap_or_default().trim_start_matches("error: ");
                self.problems.add(pattern.at, format!("invalid regular expression: {what}"));
                None
            }
        }
    }

    fn length(&mut self, tree: &Tree) -> Vec<Condition> {
        if !matches!(tree.value, Yaml::Map(_)) {
            let exactly = self.bound(tree).map(|to| Condition::Length(Bound::Exactly, to));
            return exactly.into_iter().collect();
        }
        let Some(bounds) = file::LengthBounds::decode(tree, self.problems) else { return Vec::new() };
        if bounds.typed.keys.is_empty() {
            self.problems.add(tree.at, "`length` has `at-least`, `at-most` or both");
        }
        let at_least = bounds.at_least.and_then(|tree| self.bound(&tree));
        let at_most = bounds.at_most.and_then(|tree| self.bound(&tree));
        let at_least = at_least.map(|to| Condition::Length(Bound::AtLeast, to));
        at_least.into_iter().chain(at_most.map(|to| Condition::Length(Bound::AtMost, to))).collect()
    }

    fn bound(&mut self, tree: &Tree) -> Option<Template> {
        match self.operand(tree)? {
            Template::Literal(value) if !value.is_number() => {
                decode::wrong(tree, "a number, or a reference to one", self.problems)
            }
            bound => Some(bound),
        }
    }

    /// A condition without an operand, which can only be `true`.
    fn switch(&mut self, on: Option<At<bool>>, condition: Condition) -> Option<Condition> {
        let on = on?;
        if !on.value {
            self.problems.add(on.at, "expected `true`");
        }
        Some(condition)
    }

    fn shape(&mut self, shape: At<String>) -> Condition {
        if let Some(kind) = Kind::ALL.into_iter().find(|kind| kind.name() == shape.value) {
            return Condition::Kind(kind);
        }
        self.one_known(&shape, "shape", &self.known.shapes);
        Condition::Shape(shape.value)
    }
}
