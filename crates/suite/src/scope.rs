//! The values of names while a suite is gathered or judged.
//!
//! Scopes are layered: a loop adds a layer with its variable, and an inner name hides an outer one.

use std::borrow::Cow;

use serde_json::Value;

#[derive(Clone, Debug, Default)]
pub struct Scope<'a> {
    outer: Option<&'a Scope<'a>>,
    names: Vec<(Cow<'a, str>, Cow<'a, Value>)>,
}

impl<'a> Scope<'a> {
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty layer over `outer`.
    pub fn over(outer: &'a Scope<'a>) -> Self {
        Self { outer: Some(outer), names: Vec::new() }
    }

    /// Binds a name to a borrowed value.
    pub fn bind(&mut self, name: impl Into<Cow<'a, str>>, value: &'a Value) {
        self.set(name.into(), Cow::Borrowed(value));
    }

    /// Binds a name to an owned value.
    pub fn own(&mut self, name: impl Into<Cow<'a, str>>, value: Value) {
        self.set(name.into(), Cow::Owned(value));
    }

    pub fn lookup(&self, name: &str) -> Option<&Value> {
        match self.names.iter().find(|(known, _)| known == name) {
            Some((_, value)) => Some(value),
            None => self.outer?.lookup(name),
        }
    }

    fn set(&mut self, name: Cow<'a, str>, value: Cow<'a, Value>) {
        match self.names.iter_mut().find(|(known, _)| *known == name) {
            Some(entry) => entry.1 = value,
            None => self.names.push((name, value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_inner_layer_hides_the_outer() {
        let (one, two) = (json!(1), json!(2));
        let mut outer = Scope::new();
        outer.bind("a", &one);
        outer.own("b", json!("b"));
        let mut inner = Scope::over(&outer);
        inner.bind("a", &two);
        assert_eq!(inner.lookup("a"), Some(&two));
        assert_eq!(inner.lookup("b"), Some(&json!("b")));
        assert_eq!(inner.lookup("c"), None);
        assert_eq!(outer.lookup("a"), Some(&one));
    }

    #[test]
    fn binding_again_replaces() {
        let mut scope = Scope::new();
        scope.own("a", json!(1));
        scope.own("a", json!(2));
        assert_eq!(scope.lookup("a"), Some(&json!(2)));
    }
}
