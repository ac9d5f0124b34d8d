//! A path: a name in scope, followed by a query in the subset of RFC 9535 that suites need
//! (`$read.result.contents[*].uri`). A test compares the results with another implementation.

use std::ops::ControlFlow;

use serde_json::Value;

mod chain;
mod filter;

pub use chain::push_token;
pub use filter::{Demand, Filter};

use self::chain::{Nowhere, Segment};
use super::scope::Scope;

/// Longer paths are rejected, so that nested filters cannot exhaust the stack.
const LONGEST: usize = 500;

const PARTS: &str =
    "a path has `.name`, `['name', 'other']`, `..name`, `[0]`, `[1:3]`, `[*]` and filters like `[?@.a == 'b' && !@.c]`";

#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// The name in scope, without `$`.
    pub root: String,
    /// The text as written.
    pub text: String,
    /// Whether the root is a stream of everything in the run, judged item by item.
    pub streamed: bool,
    segments: Vec<Segment>,
}

/// One value that a path selects.
#[derive(Clone, Debug, PartialEq)]
pub struct Node<'a> {
    pub value: &'a Value,
    /// JSON Pointer from the value of the path's root name.
    pub location: String,
}

impl Path {
    pub fn parse(text: &str) -> Result<Self, String> {
        let Some((root, rest)) = split_root(text) else {
            return Err("a path starts with `$` and a name".to_owned());
        };
        if text.len() > LONGEST {
            return Err(format!("a path has at most {LONGEST} characters"));
        }
        if !rest.is_empty() && !rest.starts_with(['.', '[']) {
            return Err("after the name of a path comes `.` or `[`".to_owned());
        }
        let segments = chain::parse(rest).ok_or_else(|| format!("cannot read `{rest}`: {PARTS}"))?;
        Ok(Self { root: root.to_owned(), text: text.to_owned(), streamed: false, segments })
    }

    /// The selected values, in document order; `None` if the root name is unbound.
    pub fn select<'s>(&self, scope: &'s Scope<'_>) -> Option<Vec<Node<'s>>> {
        scope.lookup(&self.root).map(|value| self.select_in(value))
    }

    /// The value that a path without plural segments selects.
    pub fn first<'s>(&self, scope: &'s Scope<'_>) -> Option<&'s Value> {
        let value = scope.lookup(&self.root)?;
        chain::follow(value, &self.segments)
    }

    /// As [`Path::select`], with `value` as the root.
    pub fn select_in<'v>(&self, value: &'v Value) -> Vec<Node<'v>> {
        let mut nodes = Vec::new();
        let _ = chain::visit(value, &self.segments, &mut String::new(), &mut |value, location| {
            nodes.push(Node { value, location: location.clone() });
            ControlFlow::Continue(())
        });
        nodes
    }

    /// As [`Path::select`], without locations.
    pub fn values<'s>(&self, scope: &'s Scope<'_>) -> Option<Vec<&'s Value>> {
        scope.lookup(&self.root).map(|value| self.values_in(value))
    }

    /// As [`Path::values`], with `value` as the root.
    pub fn values_in<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        let mut values = Vec::new();
        let _ = chain::visit(value, &self.segments, &mut Nowhere, &mut |value, Nowhere| {
            values.push(value);
            ControlFlow::Continue(())
        });
        values
    }

    /// Whether it selects the whole value of its root.
    pub fn is_whole(&self) -> bool {
        self.segments.is_empty()
    }

    /// Whether it may select more than one value, so that in a template it stands for a list.
    pub fn is_plural(&self) -> bool {
        self.segments.iter().any(Segment::is_plural)
    }

    /// The name of the first field after the root, if the first segment is a field.
    pub fn first_member(&self) -> Option<&str> {
        match self.segments.first() {
            Some(Segment::Member(name)) => Some(name),
            _ => None,
        }
    }

    /// The name of the last field, if the last segment is a field.
    pub fn last_member(&self) -> Option<&str> {
        match self.segments.last() {
            Some(Segment::Member(name)) => Some(name),
            _ => None,
        }
    }

    /// Whether it leads through a field of this name.
    pub fn leads_through(&self, member: &str) -> bool {
        self.segments.iter().any(|segment| matches!(segment, Segment::Member(name) if name == member))
    }

    /// Whether what it selects of a list's pages may have their items, which are in this field of a result.
    pub fn may_select_in_pages(&self, items: &str) -> bool {
        self.leads_through(items) || matches!(self.last_member(), None | Some("pages" | "result"))
    }

    /// Whether it selects by a condition.
    pub fn has_filter(&self) -> bool {
        self.segments.iter().any(|segment| matches!(segment, Segment::Where(_)))
    }

    /// The field that each segment selects, or `None` for the elements of a list.
    pub fn members(&self) -> impl Iterator<Item = Option<&str>> {
        self.segments.iter().map(|segment| match segment {
            Segment::Member(name) | Segment::Below(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// The filter on the items of the root, if the path starts with one.
    pub fn first_filter(&self) -> Option<&Filter> {
        match self.segments.first() {
            Some(Segment::Where(filter)) => Some(filter),
            _ => None,
        }
    }

    /// Whether the path starts with `[*]` or a filter. Then it needs only one item of its root at a time, and the whole
    /// root need not be in memory.
    pub fn is_item_by_item(&self) -> bool {
        self.segments.first().is_some_and(Segment::is_item_by_item)
    }
}

/// The name after `$`, and what follows it.
pub fn split_root(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix('$')?;
    if !rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        return None;
    }
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-'));
    Some(rest.split_at(end.unwrap_or(rest.len())))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;
    use serde_json_path::JsonPath;

    use super::*;

    fn selected(text: &str, value: &Value) -> Vec<(String, Value)> {
        let path = Path::parse(text).expect(text);
        path.select_in(value).into_iter().map(|node| (node.location, node.value.clone())).collect()
    }

    #[test]
    fn a_name_alone_stands_for_its_value() {
        let value = json!({ "a": 1 });
        assert_eq!(selected("$x", &value), [(String::new(), value.clone())]);
        assert!(Path::parse("$x").unwrap().is_whole());
        assert!(!Path::parse("$x.a").unwrap().is_whole());
    }

    #[test]
    fn plain_chains_select_with_their_location() {
        let value = json!({ "list": [{ "u/r~i": 1 }, { "u/r~i": 2 }, 3], "_meta": { "a.b": null } });
        assert_eq!(
            selected("$x.list[*]['u/r~i']", &value),
            [("/list/0/u~1r~0i".to_owned(), json!(1)), ("/list/1/u~1r~0i".to_owned(), json!(2))]
        );
        assert_eq!(selected("$x.list[-1]", &value), [("/list/2".to_owned(), json!(3))]);
        assert_eq!(selected("$x._meta[\"a.b\"]", &value), [("/_meta/a.b".to_owned(), Value::Null)]);
        assert_eq!(selected("$x.list[3]", &value), []);
        assert_eq!(selected("$x.list.uri", &value), []);
        assert_eq!(selected("$x[0]", &value), []);
        assert_eq!(selected("$x._meta.*", &value), [("/_meta/a.b".to_owned(), Value::Null)]);
    }

    #[test]
    fn filters_slices_and_descendants_are_rfc_9535() {
        let value = json!([{ "k": 1, "v": "a" }, { "k": 2, "v": "b" }, { "k": 1, "v": "c" }]);
        let values = |text| selected(text, &value).into_iter().map(|(_, value)| value).collect::<Vec<_>>();
        assert_eq!(values("$x[?@.k == 1].v"), [json!("a"), json!("c")]);
        assert_eq!(values("$x[1:].v"), [json!("b"), json!("c")]);
        assert_eq!(values("$x..k"), [json!(1), json!(2), json!(1)]);
    }

    #[test]
    fn what_is_no_path_is_refused() {
        for text in [
            "x",
            "$",
            "$1",
            "$x.",
            "$x[",
            "$x bar",
            "$x.a-b",
            "$x[01]",
            "$x['a]",
            "$x[?@.a ==]",
            "$x[*]]",
            r"$x['\u",
            r"$x['\u12",
            "$x[0,1]",
            "$x[::2]",
            "$x[?length(@.a) == 1]",
            "$x[?@.a == $.b]",
            "$x[?@[*] == 1]",
        ] {
            assert!(Path::parse(text).is_err(), "{text}");
        }
        assert!(Path::parse(&format!("$x{}", "[?@.a".repeat(200))).is_err());
    }

    #[test]
    fn only_a_filter_or_all_items_can_be_streamed() {
        for text in ["$t[*]", "$t[*].a", "$t[?@.a == 'x,$]'].b", "$t[?(@.a[0] == 1)]", "$t.*", "$t[?@.a][0]"] {
            assert!(Path::parse(text).unwrap().is_item_by_item(), "{text}");
        }
        for text in ["$t", "$t[0]", "$t[1:]", "$t..a", "$t.a"] {
            assert!(!Path::parse(text).unwrap().is_item_by_item(), "{text}");
        }
    }

    /// Filters, and near misses. `[-1]` is excluded, since the other implementation does not support it in comparisons.
    const FILTER: &str = "(!? ?\\(?@(\\.\\.?[abc]|\\.\\.\\['a'\\]|\\[[01]\\]|\\[\\*\\]|\\[\\?@\\.a( == 1)?\\]|\\['a'\\]){0,2}\
        ( ?(==|!=) ?@\\.b| ?(==|!=|<|<=|>|>=) ?('b'|\"b\"|''|1|-2|0|1\\.0|true|false|null)){0,1}\\)?( && | \\|\\| |&&|\\|\\|)?){1,3}";

    #[test]
    fn the_filters_of_rules_are_simple() {
        for text in [
            "[?@.method == 'a' && (@.end == 'result' || !@.by)].result.tools[*]",
            "[?@.a.b['c/d'].e]",
            "[?!@.resumes && @.events[?@.about == 'this']][0]",
            "[?@.error.code == -32021].x",
            "[?@.status >= 200 && @.status < 300]",
            "[?@.brief == false && @.c != null]",
            "[?@.message..['_meta'] && @..b]",
            "[?@.a == @.b.c]",
        ] {
            assert!(chain::parse(text).is_some(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn parsing_and_selecting_never_panics(text in "\\$?[a-z.*\\[\\]'\"0-9?@=$, -]{0,40}", any in ".{0,40}") {
            let value = json!({ "a": [1, { "b": null }], "": { "c": "d" } });
            for text in [text, any.clone(), format!("${any}"), format!("$x[{any}]")] {
                if let Ok(path) = Path::parse(&text) {
                    path.select_in(&value);
                    path.is_item_by_item();
                    path.first_member();
                }
            }
        }

        #[test]
        fn simple_filters_agree_with_the_full_machinery(filter in FILTER, tail in "(\\.[a-c]|\\[[01]\\]|\\[\\*\\]){0,2}") {
            let value = json!([
                { "a": "b", "b": [{ "a": 1 }, { "a": "b" }], "c": null }, { "a": 1, "c": { "a": { "b": true } } },
                { "a": -2.0, "b": { "a": false } }, [1, [2]], "b", 1.0, null, { "a": [], "b": "" },
            ]);
            let text = format!("[?{filter}]{tail}");
            if let Some(segments) = chain::parse(&text) {
                let full = JsonPath::parse(&format!("${text}")).expect("what is simple is a filter");
                let located = full.query_located(&value);
                let expected: Vec<_> = located.iter().map(|n| (n.location().to_json_pointer(), n.node().clone())).collect();
                prop_assert!(segments[0].is_plural());
                prop_assert_eq!(selected(&format!("$x{text}"), &value), expected);
            }
        }

        #[test]
        fn plain_chains_agree_with_the_full_machinery(rest in "(\\.\\.?[a-c]|(\\.\\.)?\\['[a-c]'\\]|\\['[a-c]' ?, ?'[a-c]'\\]|\\[-?[0-3]\\]|\\[(-?[0-3])?:(-?[0-3])?\\]|\\[\\*\\]|\\.\\*){0,4}") {
            let value = json!({ "a": [{ "b": [1, 2], "c": 3 }, [4]], "b": { "a": { "c": [5] } }, "c": null });
            let segments = chain::parse(&rest);
            if let Ok(full) = JsonPath::parse(&format!("${rest}")) {
                prop_assert!(segments.is_some(), "{rest} is plain");
                let located = full.query_located(&value);
                let expected: Vec<_> = located.iter().map(|n| (n.location().to_json_pointer(), n.node().clone())).collect();
                prop_assert_eq!(selected(&format!("$x{rest}"), &value), expected);
            } else {
                prop_assert!(segments.is_none(), "{rest} is no path");
            }
        }
    }
}
