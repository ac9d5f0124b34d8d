use serde_json::json;

use super::*;
use crate::path::Path;

fn literal(value: Value) -> Template {
    Template::Literal(value)
}

/// The mismatches of `$x` + `path` under one condition, as `location: message`.
fn told(value: &Value, path: &str, condition: Condition) -> Vec<String> {
    let mut scope = Scope::new();
    scope.bind("x", value);
    let clause = Clause {
        says: None,
        subject: Path::parse(&format!("$x{path}")).unwrap(),
        matcher: Matcher { conditions: vec![condition] },
    };
    let mismatches = clause.judge(&scope, Revision::NEWEST);
    assert_eq!(clause.holds(&scope, Revision::NEWEST), mismatches.is_empty(), "{value} {:?}", clause.matcher);
    mismatches.into_iter().map(|mismatch| format!("{}: {}", mismatch.location, mismatch.unmet)).collect()
}

fn equals(to: Value) -> Condition {
    Condition::Equals { to: literal(to), ignoring: Vec::new() }
}

const FINE: [&str; 0] = [];

#[test]
fn selecting_nothing_fails_what_needs_a_value() {
    let value = json!({});
    assert_eq!(told(&value, ".a", Condition::Present(false)), FINE);
    let inner = Matcher { conditions: vec![equals(json!(1))] };
    assert_eq!(told(&value, ".a", Condition::IfPresent(inner.clone())), FINE);
    assert_eq!(told(&json!({ "a": 2 }), ".a", Condition::IfPresent(inner)), ["/a: is 2, expected 1"]);
    assert_eq!(told(&value, ".a", equals(json!(1))), [": is missing, expected 1"]);
    for condition in [
        Condition::Present(true),
        Condition::Unique(Compared::Elements),
        Condition::AllEqual { of: Compared::Elements, ignoring: Vec::new() },
        Condition::Kind(Kind::Any),
        Condition::Format(Format::NonEmpty),
        Condition::NotEquals { to: literal(json!(1)), ignoring: Vec::new() },
        Condition::OneOf(literal(json!([1]))),
        Condition::Length(Bound::AtLeast, literal(json!(0))),
        Condition::Number(Bound::AtLeast, literal(json!(0))),
    ] {
        assert_eq!(told(&value, ".a", condition), [": is missing"]);
    }
}

#[test]
fn none_holds_where_no_value_is_like_it() {
    let none = || {
        let bounds = [(Bound::AtLeast, 2), (Bound::AtMost, 3)];
        let conditions = bounds.map(|(bound, to)| Condition::Number(bound, literal(json!(to)))).to_vec();
        Condition::None(Matcher { conditions })
    };
    assert_eq!(told(&json!([1, 4, "2"]), "[*]", none()), FINE);
    assert_eq!(told(&json!([]), "[*]", none()), FINE);
    assert_eq!(told(&json!([1, 3]), "[*]", none()), ["/1: is 3, expected another value"]);
}

#[test]
fn each_selected_value_must_hold() {
    let value = json!([1, 2, 1, "1"]);
    assert_eq!(
        told(&value, "[*]", equals(json!(1))),
        ["/1: is 2, expected 1", "/3: is the string \"1\", expected the number 1"]
    );
}

#[test]
fn numbers_are_equal_by_value_and_exactly() {
    assert_eq!(told(&json!(1.0), "", equals(json!(1))), FINE);
    assert_eq!(told(&json!(0.1), "", equals(json!(0.1))), FINE);
    let big = 9_007_199_254_740_993_u64;
    assert_eq!(told(&json!(big), "", equals(json!(big))), FINE);
    assert_eq!(told(&json!(big), "", equals(json!(big - 1))).len(), 1);
    assert_eq!(told(&json!(big), "", equals(json!(9_007_199_254_740_992.0))).len(), 1);
    assert_eq!(told(&json!(u64::MAX), "", Condition::Number(Bound::AtMost, literal(json!(-1)))).len(), 1);
}

#[test]
fn the_first_difference_of_structures_is_named() {
    let value = json!({ "a": { "b": [1, { "c": "x" }] }, "d": 1 });
    assert_eq!(
        told(&value, "", equals(json!({ "a": { "b": [1, { "c": "y" }] }, "d": 1 }))),
        ["/a/b/1/c: differs at /a/b/1/c, which is \"x\", expected \"y\""]
    );
    assert_eq!(
        told(&value, "", equals(json!({ "d": 1 }))),
        ["/a: differs at /a, which is {\"b\":[1,{\"c\":\"x\"}]}, expected nothing"]
    );
    assert_eq!(told(&value, ".a", equals(json!({ "b": [1] }))), ["/a/b: differs at /b, which has 2 items, expected 1"]);
    assert_eq!(told(&value, "", equals(json!({ "d": 1, "a": { "b": [1, { "c": "x" }] } }))), FINE);
    let ignoring = Condition::Equals { to: literal(json!({ "d": 1, "e": 2 })), ignoring: vec!["a".into(), "e".into()] };
    assert_eq!(told(&value, "", ignoring), FINE);
}

#[test]
fn long_values_are_shown_around_their_difference() {
    let (a, b) =
        (format!("{}X{}", "a".repeat(300), "b".repeat(300)), format!("{}Y{}", "a".repeat(300), "b".repeat(300)));
    let message = &told(&json!(a), "", equals(json!(b)))[0];
    assert!(message.contains("aaaXbbb") && message.contains("aaaYbbb") && message.contains('…'), "{message}");
    assert!(message.len() < 250, "{message}");
}

#[test]
fn options_and_opposites() {
    let options = || Condition::OneOf(literal(json!(["result", "error"])));
    assert_eq!(told(&json!("error"), "", options()), FINE);
    assert_eq!(told(&json!("timeout"), "", options()), [": is \"timeout\", expected one of \"result\", \"error\""]);
    let not = |to| Condition::NotEquals { to: literal(to), ignoring: Vec::new() };
    assert_eq!(told(&json!(-32601), "", not(json!(-32601))), [": must not be -32601"]);
    assert_eq!(told(&json!(-32602), "", not(json!(-32601))), FINE);
}

#[test]
fn operands_can_be_references() {
    let value = json!({ "uri": "a", "asked": "b", "allowed": ["a"] });
    let reference = |text| Template::Reference(Path::parse(text).unwrap());
    let equals = |text| Condition::Equals { to: reference(text), ignoring: Vec::new() };
    assert_eq!(told(&value, ".uri", equals("$x.asked")), ["/uri: is \"a\", expected \"b\""]);
    assert_eq!(told(&value, ".uri", equals("$x.nobody")), ["/uri: cannot be compared: `$x.nobody` selects nothing"]);
    assert_eq!(told(&value, ".uri", Condition::OneOf(reference("$x.allowed"))), FINE);
    let or_nobody = |option| Condition::OneOf(Template::Array(vec![reference(option), reference("$x.nobody")]));
    assert_eq!(told(&value, ".uri", or_nobody("$x.uri")), FINE);
    assert_eq!(told(&value, ".uri", or_nobody("$x.asked")), ["/uri: is \"a\", expected \"b\""]);
    assert_eq!(told(&value, ".uri", or_nobody("$x.none")).len(), 1);
    assert_eq!(
        told(&value, ".uri", Condition::OneOf(reference("$x.asked"))),
        ["/uri: cannot be compared: the string \"b\" is not a list of options"]
    );
}

#[test]
fn sizes() {
    let length = |bound, to| Condition::Length(bound, literal(json!(to)));
    assert_eq!(told(&json!("äöü"), "", length(Bound::Exactly, 3)), FINE);
    assert_eq!(told(&json!([1]), "", length(Bound::AtLeast, 2)), [": has 1 item, expected at least 2"]);
    assert_eq!(told(&json!({ "a": 1 }), "", length(Bound::AtMost, 0)), [": has 1 field, expected at most 0"]);
    assert_eq!(told(&json!(5), "", length(Bound::AtMost, 9)), [": is the number 5, which has no length"]);
    let at_least = |to| Condition::Number(Bound::AtLeast, literal(to));
    assert_eq!(told(&json!(0.5), "", at_least(json!(0))), FINE);
    assert_eq!(told(&json!(-1), "", at_least(json!(0))), [": is -1, expected at least 0"]);
    assert_eq!(told(&json!("1"), "", at_least(json!(0))), [": is the string \"1\", expected a number"]);
}

#[test]
fn the_selected_values_or_the_elements_of_the_list_are_compared() {
    let value = json!({ "list": [1, "1", 1.0, { "a": 1, "b": 2 }, { "b": 2.0, "a": 1 }] });
    let repeats = ["/list/2: repeats 1.0", "/list/4: repeats {\"b\":2.0,\"a\":1}"];
    assert_eq!(told(&value, ".list", Condition::Unique(Compared::Elements)), repeats);
    assert_eq!(told(&value, ".list[*]", Condition::Unique(Compared::Values)), repeats);
    let all_equal = |ignoring| Condition::AllEqual { of: Compared::Elements, ignoring };
    let value = json!([{ "a": 1, "at": 1 }, { "a": 1, "at": 2 }]);
    assert_eq!(told(&value, "", all_equal(vec!["at".into()])), FINE);
    assert_eq!(told(&value, "", all_equal(Vec::new())), ["/1/at: differs at /at, which is 2, expected 1"]);
    assert_eq!(told(&json!([]), "", all_equal(Vec::new())), FINE);
    // One list that a wildcard selects is one value.
    let one_list = json!([[1, 2, 2]]);
    let values = Condition::AllEqual { of: Compared::Values, ignoring: Vec::new() };
    assert_eq!(told(&one_list, "[*]", values), FINE);
    assert_eq!(told(&one_list, "[*]", Condition::Unique(Compared::Values)), FINE);
}

#[test]
fn kinds_and_formats() {
    let kind = |kind| Condition::Kind(kind);
    assert_eq!(told(&json!(1.0), "", kind(Kind::Integer)), FINE);
    assert_eq!(told(&json!("12"), "", kind(Kind::Integer)), [": is the string \"12\", expected an integer"]);
    assert_eq!(told(&json!(1.5), "", kind(Kind::Integer)), [": is the number 1.5, expected an integer"]);
    assert_eq!(told(&json!(null), "", kind(Kind::Object)), [": is null, expected an object"]);
    assert_eq!(told(&json!(null), "", kind(Kind::Any)), FINE);
    let uri = || Condition::Format(Format::Uri);
    assert_eq!(told(&json!("a b"), "", uri()), [": is \"a b\", expected an absolute URI (RFC 3986)"]);
    assert_eq!(told(&json!(1), "", uri()), [": is the number 1, expected a string"]);
    let pattern = || Condition::Matches(Expression::new("^a+$").unwrap());
    assert_eq!(told(&json!("aa"), "", pattern()), FINE);
    assert_eq!(told(&json!("b"), "", pattern()), [": is \"b\", expected text that matches /^a+$/"]);
    let other = || Condition::NotMatches(Expression::new("^a+$").unwrap());
    assert_eq!(told(&json!("b"), "", other()), FINE);
    assert_eq!(told(&json!("aa"), "", other()), [": is \"aa\", expected text that does not match /^a+$/"]);
    assert_eq!(told(&json!(1), "", other()), [": is the number 1, expected a string"]);
}

#[test]
fn every_key_of_a_matcher_must_hold() {
    let conditions = vec![Condition::Kind(Kind::String), Condition::Format(Format::NonEmpty)];
    let matcher = Matcher { conditions };
    let value = json!(1);
    let nodes = [Node { value: &value, location: String::new() }];
    assert_eq!(matcher.judge(&nodes, &Scope::new(), Revision::NEWEST).len(), 2);
}

#[test]
fn a_clause_is_idle_where_it_has_nothing_to_judge() {
    let idle = |value: Value, conditions: Vec<Condition>| {
        let mut scope = Scope::new();
        scope.own("x", value);
        Clause { subject: Path::parse("$x.a[*]").unwrap(), matcher: Matcher { conditions }, says: None }.is_idle(&scope)
    };
    let if_present = |inner: Condition| vec![Condition::IfPresent(Matcher { conditions: vec![inner] })];
    let differs = || Condition::NotEquals { to: literal(json!(1)), ignoring: Vec::new() };
    for (value, conditions, expected) in [
        (json!({}), if_present(equals(json!(1))), true),
        (json!({ "a": [1] }), if_present(equals(json!(1))), false),
        // The absence itself is what is judged, so these are not idle.
        (json!({}), if_present(differs()), false),
        (json!({}), vec![Condition::Present(false)], false),
        (json!({}), vec![Condition::None(Matcher { conditions: vec![equals(json!(1))] })], false),
        (json!({ "a": [1] }), vec![Condition::Unique(Compared::Values)], true),
        (json!({ "a": [1, 2] }), vec![Condition::Unique(Compared::Values)], false),
        (json!({ "a": [1] }), vec![Condition::AllEqual { of: Compared::Values, ignoring: Vec::new() }], true),
        (json!({ "a": [1] }), vec![Condition::Present(true), Condition::Unique(Compared::Values)], false),
        (json!({ "a": [1] }), if_present(Condition::Unique(Compared::Elements)), true),
        (json!({ "a": [1] }), vec![equals(json!(1))], false),
    ] {
        assert_eq!(idle(value.clone(), conditions.clone()), expected, "{value} {conditions:?}");
    }
}
