//! Elements with the same value of `key` have the same value in each of these `fields`, or in all fields without any.
//! A field that one of them lacks is not compared, unless `strict` is true. The order of lists does not matter. With
//! `inside`, the fields of `as` are in that field. A field that begins with a slash is a JSON Pointer. `part: once` reports
//! that an element occurs twice, and `part: kept` that the other element lacks a field.

use std::collections::HashMap;

use serde_json::Value;

use crate::checks::{Check, Fault, Given, Report, texts};
use conform_suite::equal;

pub const CHECK: Check =
    Check { name: "same-fields", given: &["items", "as?", "key", "inside?", "fields?", "strict?", "part?"], run };

/// Findings of one comparison.
const FINDINGS: usize = 20;

fn run(given: &Given) -> Report {
    let (key, fields) = (given.text("key"), texts(given.value("fields")));
    let mut first: HashMap<&str, &Value> = HashMap::new();
    for item in given.list("as") {
        if let Some(name) = item[key].as_str() {
            let inner = if given.text("inside").is_empty() { Some(item) } else { item.get(given.text("inside")) };
            if let Some(inner) = inner {
                first.entry(name).or_insert(inner);
            }
        }
    }
    let alone = given.value("as").is_null();
    let mut report = Report::default();
    if alone && given.list("items").len() < 2 {
        return report;
    }
    for (index, item) in given.list("items").iter().enumerate() {
        let Some(name) = item[key].as_str() else { continue };
        let Some(other) = first.get(name).copied() else {
            if alone {
                first.insert(name, item);
                report.checked += 1;
            }
            continue;
        };
        report.checked +=
            usize::from(has_one(item, &fields) || (given.text("part") != "kept" && has_one(other, &fields)));
        let message = match given.text("part") {
            "once" => equal(item, other).then(|| "occurs more than once".to_owned()),
            "kept" => lost(item, other, &fields),
            _ => differing(item, other, &fields, given.value("strict") == true),
        };
        if let Some(message) = message.filter(|_| report.faults.len() < FINDINGS) {
            let (pointer, subject) = (format!("/{index}"), Some(name.to_owned()));
            report.faults.push(Fault { given: "items", pointer, message, subject, ..Fault::default() });
        }
    }
    report
}

fn differing(item: &Value, other: &Value, fields: &[&str], strict: bool) -> Option<String> {
    if fields.is_empty() {
        return (!equal(item, other)).then(|| "occurs more than once, with other fields".to_owned());
    }
    let differs = |field: &&&str| match (field_of(item, field), field_of(other, field)) {
        (Some(one), Some(other)) => !same(one, other),
        (None, None) => false,
        _ => strict,
    };
    let field = fields.iter().find(differs)?;
    let shown = |item: &Value| field_of(item, field).map_or("missing".to_owned(), ToString::to_string);
    Some(format!("`{}` is {} here and {} elsewhere", named(field), shown(item), shown(other)))
}

/// Whether there is anything to compare.
fn has_one(item: &Value, fields: &[&str]) -> bool {
    fields.is_empty() || fields.iter().any(|field| field_of(item, field).is_some())
}

fn lost(item: &Value, other: &Value, fields: &[&str]) -> Option<String> {
    let lost = fields.iter().find(|field| field_of(item, field).is_some() && field_of(other, field).is_none())?;
    Some(format!("`{}` is here and not elsewhere", named(lost)))
}

fn field_of<'v>(item: &'v Value, field: &str) -> Option<&'v Value> {
    if field.starts_with('/') { item.pointer(field) } else { item.get(field) }
}

/// The field as a path.
fn named(field: &str) -> String {
    field.trim_start_matches('/').replace('/', ".")
}

/// Whether two values are equal, or lists with equal elements in any order.
fn same(one: &Value, other: &Value) -> bool {
    let (Value::Array(one), Value::Array(other)) = (one, other) else { return equal(one, other) };
    if one.len() != other.len() {
        return false;
    }
    let mut left: Vec<&Value> = other.iter().collect();
    one.iter().all(|item| {
        let place = left.iter().position(|other| equal(item, other));
        place.map(|place| left.swap_remove(place)).is_some()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::checks::tried;
    use conform_model::revision::Revision;

    fn found(items: Value, other: Value, fields: Value, strict: bool) -> (usize, Vec<String>) {
        let given =
            [("items", items), ("as", other), ("key", json!("uri")), ("fields", fields), ("strict", json!(strict))];
        let report = tried(&CHECK, Revision::NEWEST, given);
        (report.checked, report.faults.into_iter().map(|fault| fault.message).collect())
    }

    #[test]
    fn fields_are_compared_by_key() {
        let one = |size: Value| json!([{ "uri": "a:1", "size": size }]);
        assert_eq!(found(one(json!(1)), one(json!(1.0)), json!(["size"]), false), (1, vec![]));
        assert_eq!(found(one(json!(1)), one(json!(2)), json!(["size"]), false).1, ["`size` is 1 here and 2 elsewhere"]);
        assert_eq!(found(one(json!(1)), json!([{ "uri": "a:1" }]), json!(["size"]), false), (1, vec![]));
        assert_eq!(found(one(json!(1)), json!([{ "uri": "a:1" }]), json!(["size"]), true).1.len(), 1);
        assert_eq!(found(one(json!(1)), json!([{ "uri": "a:2" }]), json!(["size"]), true), (0, vec![]));
    }

    #[test]
    fn a_field_can_be_inside_another() {
        let one = |csp: Value| json!([{ "uri": "a:1", "_meta": { "ui": csp } }]);
        let fields = json!(["/_meta/ui/csp"]);
        let messages = found(one(json!({ "csp": {} })), one(json!({ "csp": [] })), fields.clone(), false).1;
        assert_eq!(messages, ["`_meta.ui.csp` is {} here and [] elsewhere"]);
        let kept = |item: Value, other: Value| {
            let given = [
                ("items", item),
                ("as", other),
                ("key", json!("uri")),
                ("fields", fields.clone()),
                ("part", json!("kept")),
            ];
            tried(&CHECK, Revision::NEWEST, given).faults.len()
        };
        assert_eq!(kept(one(json!({ "csp": {} })), one(json!({}))), 1);
        assert_eq!(
            kept(one(json!({})), one(json!({ "csp": {} }))) + kept(one(json!({ "csp": 1 })), one(json!({ "csp": 2 }))),
            0
        );
    }

    #[test]
    fn the_order_of_lists_does_not_matter() {
        let list = |files: Value| json!([{ "uri": "a:1", "files": files }]);
        let counts = |one: Value, other: Value| found(list(one), list(other), json!(["files"]), true).1.len();
        assert_eq!(counts(json!([1, 2]), json!([2, 1])), 0);
        assert_eq!((counts(json!([1, 1]), json!([1, 2])), counts(json!([1]), json!([1, 1]))), (1, 1));
    }

    #[test]
    fn elements_of_one_list_are_compared_with_the_first() {
        let items = json!([{ "uri": "a:1", "x": 1 }, { "uri": "a:1", "x": 2 }, { "uri": "a:2" }]);
        assert_eq!(found(items.clone(), Value::Null, json!([]), false).1.len(), 1);
        let given = [("items", items), ("key", json!("uri")), ("part", json!("once"))];
        assert_eq!(tried(&CHECK, Revision::NEWEST, given).faults.len(), 0);
        let items = json!([{ "uri": "a:1" }, { "uri": "a:1" }]);
        let given = [("items", items), ("key", json!("uri")), ("part", json!("once"))];
        assert_eq!(tried(&CHECK, Revision::NEWEST, given).faults.len(), 1);
    }
}
