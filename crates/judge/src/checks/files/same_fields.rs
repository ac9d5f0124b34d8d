//! Elements with the same value of `key` have the same value in each of these `fields`, or in all fields without any.
//! A field that one of them lacks is not compared, unless `strict` is true. The order of lists does not matter. With
//! `inside`, the fields of `as` are in that field. `part: once` reports that an element occurs twice.

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
        report.checked += 1;
        let message = match given.text("part") {
            "once" => equal(item, other).then(|| "occurs more than once".to_owned()),
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
    let differs = |field: &&&str| match (item.get(**field), other.get(**field)) {
        (Some(one), Some(other)) => !same(one, other),
        (None, None) => false,
        _ => strict,
    };
    let field = fields.iter().find(differs)?;
    let shown = |item: &Value| item.get(*field).map_or("missing".to_owned(), ToString::to_string);
    Some(format!("`{field}` is {} here and {} elsewhere", shown(item), shown(other)))
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
