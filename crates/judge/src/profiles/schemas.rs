//! `$schemas` in profiles: every schema of every listed tool, the whole and its parts.

use std::collections::HashSet;

use serde_json::{Value, json};

/// All parts together at most, in bytes: a part contains its own parts, so deep schemas would take much more than they
/// are. A guess; 100 tools of real servers take less than one MiB.
const MOST: usize = 32 << 20;
/// Keywords with one schema, with a list of schemas, and with schemas by name.
const ONE: [&str; 11] = [
    "items",
    "additionalProperties",
    "additionalItems",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
];
const LISTS: [&str; 5] = ["anyOf", "oneOf", "allOf", "prefixItems", "items"];
const NAMED: [&str; 5] = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
/// Those whose schemas count only where a `$ref` leads.
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

/// `tools` is the list that the survey saved. The flag says whether some parts are left out.
pub fn schemas(tools: &Value) -> (Value, bool) {
    let mut all = Parts { found: Vec::new(), room: MOST, left_out: false };
    let items = tools["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    for (index, tool) in items.iter().enumerate() {
        for (of, field) in [("input", "inputSchema"), ("output", "outputSchema")] {
            let Some(schema) = tool.get(field) else { continue };
            let origin = &tools["origins"][index];
            let whole = Whole { tool: &tool["name"], of, field, schema, used: used(schema), origin };
            let root = all.found.len();
            all.add(&whole, &Part { node: schema, pointer: String::new(), depth: 0, name: None });
            let total = total(&all.found[root.min(all.found.len())..]);
            if let Some(root) = all.found.get_mut(root) {
                root["bytes"] = json!(schema.to_string().len());
                root["total"] = total;
            }
        }
    }
    (Value::Array(all.found), all.left_out)
}

struct Whole<'a> {
    tool: &'a Value,
    of: &'static str,
    field: &'static str,
    schema: &'a Value,
    used: HashSet<String>,
    origin: &'a Value,
}

struct Part<'a> {
    node: &'a Value,
    pointer: String,
    depth: usize,
    name: Option<&'a str>,
}

struct Parts {
    found: Vec<Value>,
    room: usize,
    left_out: bool,
}

impl Parts {
    fn add(&mut self, whole: &Whole, part: &Part) {
        let Part { node, pointer, depth, name } = part;
        let size = node.to_string().len();
        let Some(room) = self.room.checked_sub(size) else {
            self.left_out = true;
            return;
        };
        self.room = room;
        let keywords: Vec<&String> = node.as_object().into_iter().flatten().map(|(keyword, _)| keyword).collect();
        let mut item = json!({
            "tool": whole.tool, "of": whole.of, "pointer": pointer, "depth": depth, "root": pointer.is_empty(),
            "node": node, "keywords": keywords, "origin": origin(whole, pointer),
        });
        if let Some(name) = name {
            item["name"] = json!(name);
        }
        if let Some(reference) = node.get("$ref").and_then(Value::as_str) {
            item["target"] = json!(target(whole.schema, reference, pointer));
        }
        self.found.push(item);
        let inner = depth + usize::from(is_object(node));
        let mut add = |node: &Value, place: &str, name: Option<&str>| {
            if node.is_object() || node.is_boolean() {
                self.add(whole, &Part { node, pointer: format!("{pointer}/{place}"), depth: inner, name });
            }
        };
        for keyword in ONE {
            if let Some(node) = node.get(keyword) {
                add(node, keyword, None);
            }
        }
        for keyword in LISTS {
            for (index, node) in node.get(keyword).and_then(Value::as_array).into_iter().flatten().enumerate() {
                add(node, &format!("{keyword}/{index}"), None);
            }
        }
        for keyword in NAMED {
            for (name, node) in node.get(keyword).and_then(Value::as_object).into_iter().flatten() {
                let place = format!("{keyword}/{}", name.replace('~', "~0").replace('/', "~1"));
                if !DEFINITIONS.contains(&keyword) || !pointer.is_empty() || whole.used.contains(&format!("/{place}")) {
                    add(node, &place, (keyword == "properties").then_some(name));
                }
            }
        }
    }
}

fn origin(whole: &Whole, pointer: &str) -> Value {
    let tool = whole.origin["pointer"].as_str().unwrap_or_default();
    json!({ "frame": whole.origin["frame"], "pointer": format!("{tool}/{}{pointer}", whole.field) })
}

fn is_object(node: &Value) -> bool {
    node["type"] == "object" || node.get("properties").is_some_and(Value::is_object)
}

/// Where a `$ref` in the schema at `pointer` leads.
fn target(schema: &Value, reference: &str, pointer: &str) -> &'static str {
    let Some(fragment) = reference.strip_prefix('#') else { return "external" };
    let fragment = percent_encoding::percent_decode_str(fragment).decode_utf8_lossy();
    if !fragment.is_empty() && !fragment.starts_with('/') {
        // An anchor.
        let has = |node: &Value| node["$anchor"] == *fragment || node["$id"] == format!("#{fragment}");
        return if holds(schema, &has) { "found" } else { "missing" };
    }
    let is_around =
        |target: &str| pointer.strip_prefix(target).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let mut seen = vec![fragment.to_string()];
    let mut todo = seen.clone();
    while let Some(at) = todo.pop() {
        let Some(found) = schema.pointer(&at) else {
            // Only the first one is that of this reference.
            if at == *fragment {
                return "missing";
            }
            continue;
        };
        if is_around(&at) {
            return "recursive";
        }
        references(found, &mut |next| {
            if !seen.contains(&next) {
                seen.push(next.clone());
                todo.push(next);
            }
        });
    }
    "found"
}

/// The definitions that the rest of a schema uses, as JSON Pointers. Generators leave others behind, which no host reads:
/// eighteen of the 24 tools of one published server have the same nine.
fn used(schema: &Value) -> HashSet<String> {
    let mut rest = schema.clone();
    if let Some(fields) = rest.as_object_mut() {
        fields.retain(|keyword, _| !DEFINITIONS.contains(&keyword.as_str()));
    }
    let mut used = HashSet::new();
    let mut todo = vec![&rest];
    while let Some(part) = todo.pop() {
        references(part, &mut |to| {
            // A reference may lead into a definition.
            let definition: String = to.split_inclusive('/').take(3).collect();
            let definition = definition.strip_suffix('/').unwrap_or(&definition).to_owned();
            if let Some(found) = schema.pointer(&definition).filter(|_| used.insert(definition)) {
                todo.push(found);
            }
        });
    }
    used
}

/// Calls back with the local targets of all references in a value.
fn references(value: &Value, tell: &mut impl FnMut(String)) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value.as_str().and_then(|text| text.strip_prefix('#')) {
                    Some(next) if name == "$ref" => tell(next.to_owned()),
                    _ => references(value, tell),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, tell)),
        _ => {}
    }
}

fn holds(value: &Value, is: &impl Fn(&Value) -> bool) -> bool {
    is(value)
        || match value {
            Value::Object(fields) => fields.values().any(|value| holds(value, is)),
            Value::Array(items) => items.iter().any(|value| holds(value, is)),
            _ => false,
        }
}

/// Counts over the parts of one whole schema.
fn total(parts: &[Value]) -> Value {
    let (mut properties, mut optional, mut unions, mut enum_values, mut levels) = (0, 0, 0, 0, 0);
    for part in parts {
        let node = &part["node"];
        let length = |name: &str| node.get(name).and_then(Value::as_array).map_or(0, Vec::len);
        if let Some(named) = node.get("properties").and_then(Value::as_object) {
            let required = node["required"].as_array().map(Vec::as_slice).unwrap_or_default();
            properties += named.len();
            optional += named.keys().filter(|name| !required.iter().any(|known| known == *name)).count();
        }
        unions += ["anyOf", "oneOf"].iter().filter(|name| node.get(**name).is_some_and(Value::is_array)).count();
        unions += usize::from(length("type") > 1);
        enum_values += length("enum");
        if is_object(node) {
            levels = levels.max(part["depth"].as_u64().unwrap_or_default() + 1);
        }
    }
    json!({ "properties": properties, "optional": optional, "unions": unions, "enum_values": enum_values, "levels": levels })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(schema: &Value) -> Vec<Value> {
        let tools = json!({
            "items": [{ "name": "t", "inputSchema": schema }],
            "origins": [{ "frame": 7, "pointer": "/result/tools/0" }],
        });
        let (found, left_out) = schemas(&tools);
        assert!(!left_out);
        found.as_array().cloned().unwrap_or_default()
    }

    #[test]
    fn every_part_has_its_place_depth_and_name() {
        let found = of(&json!({ "type": "object", "required": ["a"], "properties": {
            "a": { "type": "array", "items": { "enum": [1, 2] } },
            "b/c": { "type": "object", "properties": { "d": { "type": ["string", "null"] } } },
        } }));
        let places: Vec<_> = found
            .iter()
            .map(|part| (part["pointer"].as_str(), part["depth"].as_u64(), part["name"].as_str()))
            .collect();
        assert_eq!(
            places,
            [
                (Some(""), Some(0), None),
                (Some("/properties/a"), Some(1), Some("a")),
                (Some("/properties/a/items"), Some(1), None),
                (Some("/properties/b~1c"), Some(1), Some("b/c")),
                (Some("/properties/b~1c/properties/d"), Some(2), Some("d")),
            ]
        );
        assert_eq!(
            found[0]["total"],
            json!({ "properties": 3, "optional": 2, "unions": 1, "enum_values": 2, "levels": 2 })
        );
        assert_eq!(
            found[2]["origin"],
            json!({ "frame": 7, "pointer": "/result/tools/0/inputSchema/properties/a/items" })
        );
    }

    #[test]
    fn references_lead_somewhere_nowhere_or_back() {
        let schema = |reference: &str| {
            let found = of(&json!({
                "type": "object",
                "properties": { "a": { "$ref": reference } },
                "$defs": { "leaf": { "type": "string" }, "tree": { "items": { "$ref": "#/$defs/tree" } } },
            }));
            found.iter().find(|part| part["name"] == "a").map(|part| part["target"].clone())
        };
        let cases = [
            ("#/$defs/leaf", "found"),
            ("#/$defs/none", "missing"),
            ("#", "recursive"),
            ("https://example.com/s.json", "external"),
            ("#anchor", "missing"),
        ];
        for (reference, expected) in cases {
            assert_eq!(schema(reference), Some(json!(expected)), "{reference}");
        }
        let defined = json!({ "tree": { "items": { "$ref": "#/$defs/tree" } }, "unused": {} });
        let tree = of(&json!({ "properties": { "a": { "$ref": "#/$defs/tree" } }, "$defs": defined }));
        assert!(tree.iter().any(|part| part["target"] == "recursive"));
        assert!(tree.iter().all(|part| part["pointer"] != "/$defs/unused"));
    }
}
