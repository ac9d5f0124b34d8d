//! Resolves templates: replaces references with the values that they select.

use std::borrow::Cow;

use regex::Regex;
use serde_json::{Map, Value};

use super::{
    model::{Make, Template},
    path::Path,
    scope::Scope,
};

/// A reference that selects nothing where a value is required.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The reference as it was written.
    pub path: String,
}

impl Template {
    /// The value of a field in a literal object.
    pub fn member(&self, name: &str) -> Option<Self> {
        match self {
            Self::Object(fields) => fields.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone()),
            Self::Literal(value) => value.get(name).cloned().map(Self::Literal),
            Self::Reference(_) | Self::Array(_) | Self::Made(..) => None,
        }
    }

    /// Every reference inside.
    pub fn references(&self) -> Vec<&Path> {
        match self {
            Self::Literal(_) => Vec::new(),
            Self::Reference(path) => vec![path],
            Self::Array(items) | Self::Made(_, items) => items.iter().flat_map(Self::references).collect(),
            Self::Object(members) => members.iter().flat_map(|(_, template)| template.references()).collect(),
        }
    }

    /// As [`Template::resolve`], without copying existing values.
    pub fn look_up<'s>(&'s self, scope: &'s Scope<'_>) -> Result<Cow<'s, Value>, Missing> {
        match self {
            Self::Literal(value) => Ok(Cow::Borrowed(value)),
            Self::Reference(path) if !path.is_plural() => {
                path.first(scope).map(Cow::Borrowed).ok_or_else(|| Missing { path: path.text.clone() })
            }
            other => other.resolve(scope).map(Cow::Owned),
        }
    }

    /// The alternatives in this list. A reference that selects nothing is skipped.
    pub fn alternatives<'s>(&'s self, scope: &'s Scope<'_>) -> Result<Cow<'s, Value>, Missing> {
        match self {
            Self::Array(items) if items.iter().any(|item| item.look_up(scope).is_ok()) => {
                Ok(Cow::Owned(items.iter().filter_map(|item| item.resolve(scope).ok()).collect()))
            }
            other => other.look_up(scope),
        }
    }

    /// The value with every reference replaced. In an object, a field is omitted if its reference selects nothing.
    /// Elsewhere that is an error.
    pub fn resolve(&self, scope: &Scope<'_>) -> Result<Value, Missing> {
        match self {
            Self::Literal(value) => Ok(value.clone()),
            Self::Reference(path) => referenced(path, scope).ok_or_else(|| Missing { path: path.text.clone() }),
            Self::Array(items) => items.iter().map(|item| item.resolve(scope)).collect(),
            Self::Made(make, parts) => made(*make, parts, scope),
            Self::Object(members) => {
                let mut object = Map::with_capacity(members.len());
                for (name, template) in members {
                    let value = match template {
                        Self::Reference(path) => referenced(path, scope),
                        other => Some(other.resolve(scope)?),
                    };
                    if let Some(value) = value {
                        object.insert(name.clone(), value);
                    }
                }
                Ok(Value::Object(object))
            }
        }
    }
}

/// A path that may select several values (`[*]`, a filter) always stands for a list, even of one or no value, so that
/// the type does not depend on the server.
fn referenced(path: &Path, scope: &Scope<'_>) -> Option<Value> {
    if path.is_plural() {
        return Some(path.values(scope)?.into_iter().cloned().collect());
    }
    path.first(scope).cloned()
}

fn made(make: Make, parts: &[Template], scope: &Scope<'_>) -> Result<Value, Missing> {
    let parts = parts.iter().map(|part| part.resolve(scope)).collect::<Result<Vec<Value>, Missing>>()?;
    let missing =
        || Missing { path: Make::ALL.iter().find(|(_, known)| *known == make).map_or("", |(name, _)| name).into() };
    let texts: Vec<&str> = parts.iter().map(Value::as_str).collect::<Option<_>>().ok_or_else(missing)?;
    match (make, texts.as_slice()) {
        (Make::Join, texts) => Ok(texts.concat().into()),
        (Make::Parent, [text]) => parent(text).map(Value::from).ok_or_else(missing),
        (Make::Matches, [text, pattern]) => matches(text, pattern).ok_or_else(missing),
        _ => Err(missing()),
    }
}

/// The pattern was checked when the suite was loaded.
fn matches(text: &str, pattern: &str) -> Option<Value> {
    /// A text of the server may have any number.
    const MOST: usize = 100;
    let pattern = Regex::new(pattern).ok()?;
    Some(pattern.find_iter(text).take(MOST).map(|found| found.as_str()).collect())
}

/// The URI without its last segment. The authority is not a segment.
fn parent(uri: &str) -> Option<&str> {
    let (parent, _) = uri.rsplit_once('/')?;
    (!parent.is_empty() && !parent.ends_with([':', '/'])).then_some(parent)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn reference(text: &str) -> Template {
        Template::Reference(Path::parse(text).unwrap())
    }

    fn scope() -> Scope<'static> {
        let mut scope = Scope::new();
        scope.own("dir", json!({ "uri": "file:///d", "size": 3, "kids": [{ "n": 1 }, { "n": 2 }] }));
        scope
    }

    #[test]
    fn a_reference_keeps_value_and_type() {
        let template = Template::Object(vec![
            ("uri".into(), reference("$dir.uri")),
            ("deep".into(), Template::Array(vec![reference("$dir.size"), Template::Literal(json!("$dir.size"))])),
        ]);
        assert_eq!(template.resolve(&scope()), Ok(json!({ "uri": "file:///d", "deep": [3, "$dir.size"] })));
    }

    #[test]
    fn a_member_that_points_nowhere_is_left_out() {
        let template = Template::Object(vec![("cursor".into(), reference("$dir.next")), ("x".into(), reference("$y"))]);
        assert_eq!(template.resolve(&scope()), Ok(json!({})));
    }

    #[test]
    fn elsewhere_pointing_nowhere_is_an_error() {
        let missing = Missing { path: "$dir.next".into() };
        assert_eq!(reference("$dir.next").resolve(&scope()), Err(missing.clone()));
        let nested = Template::Object(vec![("a".into(), Template::Array(vec![reference("$dir.next")]))]);
        assert_eq!(nested.resolve(&scope()), Err(missing));
    }

    #[test]
    fn texts_are_made_from_others() {
        let parent =
            |uri: &str| Template::Made(Make::Parent, vec![Template::Literal(json!(uri))]).resolve(&scope()).ok();
        assert_eq!(parent("skill://a/b/SKILL.md"), Some(json!("skill://a/b")));
        assert_eq!(parent("skill://a/SKILL.md"), Some(json!("skill://a")));
        for none in ["skill://a", "file:///a", "urn:a", "/", ""] {
            assert_eq!(parent(none), None, "{none}");
        }
        let join = |parts| Template::Made(Make::Join, parts).resolve(&scope());
        let root = Template::Made(Make::Parent, vec![Template::Literal(json!("skill://a/SKILL.md"))]);
        assert_eq!(join(vec![root.clone(), Template::Literal(json!("/x"))]), Ok(json!("skill://a/x")));
        assert_eq!(
            join(vec![reference("$dir.uri"), reference("$dir.none")]),
            Err(Missing { path: "$dir.none".into() })
        );
        let matches = |text: &str| {
            let parts = vec![Template::Literal(json!(text)), Template::Literal(json!("[a-z]+:x"))];
            Template::Made(Make::Matches, parts).resolve(&scope())
        };
        assert_eq!(matches("see a:x, b:x and c:y"), Ok(json!(["a:x", "b:x"])));
        assert_eq!(matches("nothing"), Ok(json!([])));
        assert_eq!(join(vec![reference("$dir.size")]), Err(Missing { path: "$join".into() }));
    }

    #[test]
    fn a_path_to_many_is_a_list_whatever_it_finds() {
        assert_eq!(reference("$dir.kids[*].n").resolve(&scope()), Ok(json!([1, 2])));
        assert_eq!(reference("$dir.kids[?@.n == 2].n").resolve(&scope()), Ok(json!([2])));
        assert_eq!(reference("$dir.none[*]").resolve(&scope()), Ok(json!([])));
    }
}
