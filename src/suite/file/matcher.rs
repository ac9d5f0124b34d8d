//! Matchers as they are typed.

use crate::suite::{
    decode::{OneOrMany, keys},
    format::Format,
    matcher::Kind,
    yaml::{At, Tree},
};

keys! {
    /// What is asked of a value. All keys must hold, for each value that the path selects.
    Matcher, "a matcher" {
        /// Is this value. Numbers compare by value, objects in any order of members.
        equals: Tree,
        /// Is any other value.
        not_equals: Tree,
        /// Is one of these.
        one_of: Tree,
        /// Is a string in which this regular expression finds something.
        matches: At<String>,
        /// Is a string in which this regular expression finds nothing.
        not_matches: At<String>,
        /// No value is like this, or like one of these.
        none: OneOrMany<Matcher>,
        /// Is there, or with false is not.
        present: bool,
        /// Has so many characters, items or members: a number, or `{ at-least: 1, at-most: 9 }`.
        length: Tree,
        /// Is a number not below this.
        at_least: Tree,
        /// Is a number not above this.
        at_most: Tree,
        /// No value comes twice, among the selected ones or the items of the one array.
        unique: At<bool>,
        /// All values are the same, among the selected ones or the items of the one array.
        all_equal: At<bool>,
        /// Is of this JSON type.
        r#type: Kind,
        /// Is of this JSON type, or fits this shape in the revision at hand.
        shape: At<String>,
        /// Is a string of this form.
        format: Format,
        /// Is not there, or is this.
        if_present: Box<Matcher>,
        /// With `equals`, `not-equals` and `all-equal`: members that are not compared.
        ignoring: OneOrMany<At<String>>,
        /// The words of a finding: what was received, or "expected ..." where nothing was. Built-in clauses with a filter have it.
        says: At<String>,
    }
}

keys! {
    LengthBounds, "`length`" {
        at_least: Tree,
        at_most: Tree,
    }
}
