//! How a JSON value differs from the YAML that it was read from, if either version of YAML may have been used.

use serde_json::{Map, Value};

use super::{
    parsed_yaml::Yaml,
    scalar::{is_same_date, is_same_number, readings},
};
use conform_suite::push_token;

#[derive(Debug, PartialEq)]
pub struct Difference {
    pub kind: Kind,
    pub pointer: String,
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A field that only one of them has.
    Fields,
    /// A value of another type.
    Type,
    /// Another value of the same type.
    Value,
}

/// Characters of a value in a message.
const SHOWN: usize = 80;

pub fn differences(yaml: &Yaml, json: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    compare(yaml, json, &mut String::new(), &mut found);
    found
}

fn compare(yaml: &Yaml, json: &Value, at: &mut String, found: &mut Vec<Difference>) {
    match (yaml, json) {
        (Yaml::Tagged, _) => {}
        (Yaml::Scalar { text, is_plain }, _) => found.extend(of_scalar(text, *is_plain, json, at)),
        (Yaml::List(items), Value::Array(values)) => {
            if items.len() != values.len() {
                let message = format!("has {} elements, the file has {}", values.len(), items.len());
                found.push(Difference { kind: Kind::Value, pointer: at.clone(), message });
                return;
            }
            for (index, (item, value)) in items.iter().zip(values).enumerate() {
                inside(&index.to_string(), item, value, at, found);
            }
        }
        (Yaml::Map(members), Value::Object(fields)) => of_map(members, fields, at, found),
        (yaml, json) => {
            let wanted = if matches!(yaml, Yaml::List(_)) { "a list" } else { "a mapping" };
            let message = format!("is {}, the file has {wanted}", shown(json));
            found.push(Difference { kind: Kind::Type, pointer: at.clone(), message });
        }
    }
}

fn inside(token: &str, yaml: &Yaml, json: &Value, at: &mut String, found: &mut Vec<Difference>) {
    let length = at.len();
    push_token(at, token);
    compare(yaml, json, at, found);
    at.truncate(length);
}

fn of_map(members: &[(Yaml, Yaml)], fields: &Map<String, Value>, at: &mut String, found: &mut Vec<Difference>) {
    let names: Option<Vec<Vec<String>>> = members.iter().map(|(key, _)| names_of(key)).collect();
    // Keys that are no scalars have no JSON, and only YAML 1.1 has merge keys.
    let Some(names) = names.filter(|names| !names.iter().any(|names| names[0] == "<<")) else { return };
    let all: Vec<(&Vec<String>, &Yaml)> = names.iter().zip(members.iter().map(|(_, value)| value)).collect();
    for (names, value) in &all {
        if let Some((name, field)) = names.iter().find_map(|name| fields.get_key_value(name.as_str())) {
            // Of a key that occurs twice, either one may count.
            let named_so = |other: &&(&Vec<String>, &Yaml)| other.0[0] == names[0];
            let mut same = all.iter().filter(named_so);
            if !same.any(|(_, yaml)| differences(yaml, field).is_empty()) {
                inside(name, value, field, at, found);
            }
        } else {
            let message = format!("the file has the field `{}`, the entry does not", names[0]);
            found.push(Difference { kind: Kind::Fields, pointer: at.clone(), message });
        }
    }
    let is_known = |name: &String| names.iter().any(|names| names.contains(name));
    for name in fields.keys().filter(|name| !is_known(name)) {
        let mut pointer = at.clone();
        push_token(&mut pointer, name);
        let message = "the entry has this field, the file does not".to_owned();
        found.push(Difference { kind: Kind::Fields, pointer, message });
    }
}

/// How JSON may write a key.
fn names_of(key: &Yaml) -> Option<Vec<String>> {
    let Yaml::Scalar { text, is_plain } = key else { return None };
    let mut names = vec![text.clone()];
    if *is_plain {
        names.extend(readings(text).iter().filter(|reading| !reading.is_string()).map(ToString::to_string));
    }
    Some(names)
}

fn of_scalar(text: &str, is_plain: bool, json: &Value, at: &str) -> Option<Difference> {
    let readings = if is_plain { readings(text) } else { vec![Value::from(text)] };
    let fits = |reading: &Value| match (reading, json) {
        (Value::String(reading), Value::String(json)) => reading == json || is_plain && is_same_date(reading, json),
        (reading, json) => is_same_number(reading, json),
    };
    if readings.iter().any(fits) {
        return None;
    }
    let kind_of = std::mem::discriminant::<Value>;
    let kind = if readings.iter().any(|reading| kind_of(reading) == kind_of(json)) { Kind::Value } else { Kind::Type };
    let written = match readings.as_slice() {
        [] => format!("{text}, which JSON does not have"),
        [first, ..] => shown(first),
    };
    Some(Difference { kind, pointer: at.to_owned(), message: format!("is {}, the file has {written}", shown(json)) })
}

fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::parsed_yaml::parse, *};

    fn kinds(yaml: &str, json: &Value) -> Vec<(Kind, String)> {
        let differences = differences(&parse(yaml).unwrap(), json);
        differences.into_iter().map(|difference| (difference.kind, difference.pointer)).collect()
    }

    #[test]
    fn either_version_of_yaml_may_be_used() {
        let yaml = "a: 1.0\nb: on\nc: 2026-09-13\nd: 017\ne: ~\nf: 'yes'\n";
        assert_eq!(kinds(yaml, &json!({ "a": 1, "b": "on", "c": "2026-09-13", "d": 15, "e": null, "f": "yes" })), []);
        let other = json!({ "a": 1.0, "b": true, "c": "2026-09-13T00:00:00Z", "d": 17, "e": null, "f": "yes" });
        assert_eq!(kinds(yaml, &other), []);
        assert_eq!(kinds("a: {yes: 1}", &json!({ "a": { "true": 1 } })), []);
        assert_eq!(kinds("a: 1\na: 2\n", &json!({ "a": 1 })), []);
        assert_eq!(kinds("a: &x {b: 1}\nc: {<<: *x}\n", &json!({ "a": { "b": 1 }, "c": { "b": 1 } })), []);
    }

    #[test]
    fn each_difference_is_of_one_kind() {
        let at = |pointer: &str| pointer.to_owned();
        assert_eq!(kinds("a: x\nb: 1\n", &json!({ "a": "x" })), [(Kind::Fields, at(""))]);
        assert_eq!(kinds("a: x\n", &json!({ "a": "x", "path": "p" })), [(Kind::Fields, at("/path"))]);
        assert_eq!(kinds("a: true\n", &json!({ "a": "true" })), [(Kind::Type, at("/a"))]);
        assert_eq!(kinds("a: [x, y]\n", &json!({ "a": "x, y" })), [(Kind::Type, at("/a"))]);
        assert_eq!(kinds("a: {b: 1}\n", &json!({ "a": "{}" })), [(Kind::Type, at("/a"))]);
        assert_eq!(kinds("a: [x, y]\n", &json!({ "a": ["x"] })), [(Kind::Value, at("/a"))]);
        assert_eq!(kinds("a: long text\n", &json!({ "a": "long" })), [(Kind::Value, at("/a"))]);
        assert_eq!(kinds("a: .nan\n", &json!({ "a": null })), [(Kind::Type, at("/a"))]);
    }
}
