//! Matchers as they are typed.

use crate::{
    decode::{OneOrMany, keys},
    format::Format,
    matcher::Kind,
};
use conform_source::yaml::{At, Tree};

keys! {
    /// Conditions on a value. All keys must hold, for each value that the path selects.
    Matcher, "a matcher" {
        /// Equals this value. Numbers compare by value, objects in any order of fields.
        equals: Tree,
        /// Is any other value.
        not_equals: Tree,
        /// Equals one of these.
        one_of: Tree,
        /// Is a string that this regular expression matches.
        matches: At<String>,
        /// Is a string in which this regular expression finds nothing.
        not_matches: At<String>,
        /// No value is like this, or like one of these.
        none: OneOrMany<Matcher>,
        /// Is present, or with `false` is missing.
        present: bool,
        /// Number of characters, elements or fields: a number, or `{ at-least: 1, at-most: 9 }`.
        length: Tree,
        /// Is a number of at least this.
        at_least: Tree,
        /// Is a number of at most this.
        at_most: Tree,
        /// All values are different: the selected ones, or the elements of one array.
        unique: At<bool>,
        /// All values are equal: the selected ones, or the elements of one array.
        all_equal: At<bool>,
        /// Has this JSON type.
        r#type: Kind,
        /// Has this JSON type, or matches this shape in the tested revision.
        shape: At<String>,
        /// Is a string of this format.
        format: Format,
        /// Is missing, or matches this.
        if_present: Box<Matcher>,
        /// With `equals`, `not-equals` and `all-equal`: fields that are not compared.
        ignoring: OneOrMany<At<String>>,
        /// The text of a finding: what was received, or "expected ...", before which a finding names what was received.
        /// Required for built-in clauses with a filter or a regular expression.
        says: At<String>,
    }
}

impl Matcher {
    /// Whether it has a regular expression, at any depth.
    pub fn has_pattern(&self) -> bool {
        let in_none = || self.none.iter().flat_map(|none| &none.0).any(Self::has_pattern);
        self.matches.is_some()
            || self.not_matches.is_some()
            || in_none()
            || self.if_present.as_ref().is_some_and(|inner| inner.has_pattern())
    }
}

keys! {
    LengthBounds, "`length`" {
        at_least: Tree,
        at_most: Tree,
    }
}
