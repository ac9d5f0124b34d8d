//! Schemas for generation: references are resolved, `allOf` is merged, one alternative is chosen.
//!
//! The result is an approximation: every generated value is validated against the original schema before it is used.

use serde_json::{Map, Value, json};

/// Maximum depth, which ends recursive schemas.
pub const DEEPEST: usize = 12;

/// A schema of the server with its definitions.
#[derive(Clone, Copy)]
pub struct Root<'a>(pub &'a Value);

impl Root<'_> {
    /// The schema with its references and `allOf` merged into one object; `false` stays unchanged.
    pub fn flat(self, schema: &Value) -> Map<String, Value> {
        self.flat_to(schema, DEEPEST)
    }

    fn flat_to(self, schema: &Value, depth: usize) -> Map<String, Value> {
        let Some(own) = schema.as_object() else {
            return if *schema == Value::Bool(false) { never() } else { Map::new() };
        };
        let mut merged = own.clone();
        if depth == 0 {
            return merged;
        }
        if let Some(target) =
            ["$ref", "$dynamicRef", "$recursiveRef"].iter().find_map(|name| self.target(own.get(*name)?))
        {
            let referred = self.flat_to(&target, depth - 1);
            merged.retain(|name, _| !name.ends_with("ef") || !name.starts_with('$'));
            merge(&mut merged, referred);
        }
        for part in own.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            merged.shift_remove("allOf");
            merge(&mut merged, self.flat_to(part, depth - 1));
        }
        merged
    }

    /// The schema that a reference points to.
    fn target(self, reference: &Value) -> Option<Value> {
        let reference = reference.as_str()?;
        let Some(fragment) = reference.strip_prefix('#') else { return find(self.0, "$id", reference, DEEPEST) };
        if fragment.is_empty() || fragment.starts_with('/') {
            let decoded = percent_encoding::percent_decode_str(fragment).decode_utf8().ok()?;
            return self.0.pointer(&decoded).cloned();
        }
        ["$anchor", "$dynamicAnchor"].iter().find_map(|name| find(self.0, name, fragment, DEEPEST))
    }

    /// The alternatives of `anyOf` or `oneOf`, each merged with the rest of the schema.
    pub fn alternatives(self, flat: &Map<String, Value>) -> Vec<Map<String, Value>> {
        for name in ["oneOf", "anyOf"] {
            if let Some(branches) = flat.get(name).and_then(Value::as_array) {
                let rest = without(flat, name);
                let joined = |branch: &Value| {
                    let mut joined = self.flat(branch);
                    merge(&mut joined, rest.clone());
                    joined
                };
                return branches.iter().map(joined).collect();
            }
        }
        if let Some(condition) = flat.get("if") {
            let rest = ["if", "then", "else"].iter().fold(flat.clone(), |rest, name| without(&rest, name));
            let mut holds = self.flat(condition);
            merge(&mut holds, flat.get("then").map(|then| self.flat(then)).unwrap_or_default());
            merge(&mut holds, rest.clone());
            let mut fails = flat.get("else").map(|or| self.flat(or)).unwrap_or_default();
            merge(&mut fails, rest);
            return vec![holds, fails];
        }
        Vec::new()
    }
}

fn without(flat: &Map<String, Value>, name: &str) -> Map<String, Value> {
    let mut rest = flat.clone();
    rest.shift_remove(name);
    rest
}

/// The part of a schema with this name.
fn find(schema: &Value, keyword: &str, name: &str, depth: usize) -> Option<Value> {
    let depth = depth.checked_sub(1)?;
    if schema.get(keyword).and_then(Value::as_str) == Some(name) {
        return Some(schema.clone());
    }
    match schema {
        Value::Object(parts) => parts.values().find_map(|part| find(part, keyword, name, depth)),
        Value::Array(parts) => parts.iter().find_map(|part| find(part, keyword, name, depth)),
        _ => None,
    }
}

/// A schema that no value matches.
fn never() -> Map<String, Value> {
    Map::from_iter([("enum".to_owned(), json!([]))])
}

/// Adds the constraints of another schema for the same value.
fn merge(into: &mut Map<String, Value>, other: Map<String, Value>) {
    for (name, value) in other {
        let merged = match into.get(&name) {
            None => value,
            Some(own) => both(&name, own, &value),
        };
        into.insert(name, merged);
    }
}

fn both(keyword: &str, one: &Value, other: &Value) -> Value {
    let larger = |sign: f64| {
        let (a, b) = (one.as_f64().unwrap_or_default(), other.as_f64().unwrap_or_default());
        if (a - b) * sign >= 0.0 { one.clone() } else { other.clone() }
    };
    match keyword {
        "properties" | "patternProperties" | "dependentRequired" | "$defs" | "definitions" => {
            let mut all = one.as_object().cloned().unwrap_or_default();
            for (name, part) in other.as_object().into_iter().flatten() {
                let joined = match all.get(name) {
                    Some(own) if own != part && keyword.ends_with("roperties") => json!({ "allOf": [own, part] }),
                    _ => part.clone(),
                };
                all.insert(name.clone(), joined);
            }
            all.into()
        }
        "required" => {
            let mut all = one.as_array().cloned().unwrap_or_default();
            all.extend(
                other
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter(|name| !one.as_array().is_some_and(|own| own.contains(name)))
                    .cloned(),
            );
            all.into()
        }
        "enum" => {
            let common = |value: &&Value| other.as_array().is_some_and(|others| others.contains(value));
            one.as_array().into_iter().flatten().filter(common).cloned().collect()
        }
        "type" => {
            let (own, others) = (types(Some(one)), types(Some(other)));
            let fits = |kind: &&String| {
                others.contains(kind) || (*kind == "integer" && others.iter().any(|other| other == "number"))
            };
            let mut common: Vec<String> = own.iter().filter(fits).cloned().collect();
            if common.is_empty()
                && own.iter().any(|kind| kind == "number")
                && others.iter().any(|kind| kind == "integer")
            {
                common.push("integer".into());
            }
            json!(common)
        }
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => larger(1.0),
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => larger(-1.0),
        "items" | "additionalProperties" if one.is_object() && other.is_object() && one != other => {
            json!({ "allOf": [one, other] })
        }
        "items" | "additionalProperties" if *other == Value::Bool(false) => other.clone(),
        _ => one.clone(),
    }
}

fn types(named: Option<&Value>) -> Vec<String> {
    match named {
        Some(Value::String(kind)) => vec![kind.clone()],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// Keywords that apply to only one type.
const SIGNS: [(&str, &[&str]); 4] = [
    (
        "object",
        &[
            "properties",
            "required",
            "additionalProperties",
            "minProperties",
            "maxProperties",
            "patternProperties",
            "propertyNames",
        ],
    ),
    ("array", &["items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"]),
    ("string", &["pattern", "minLength", "maxLength", "format"]),
    ("number", &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]),
];

/// The types that a schema allows, as far as it shows; empty: any type.
pub fn kinds(flat: &Map<String, Value>) -> Vec<String> {
    let named = types(flat.get("type"));
    if !named.is_empty() || flat.contains_key("enum") || flat.contains_key("const") {
        return named;
    }
    let shown = SIGNS.iter().find(|(_, signs)| signs.iter().any(|sign| flat.contains_key(*sign)));
    shown.map(|(kind, _)| vec![(*kind).to_owned()]).unwrap_or_default()
}

pub fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() && number.as_f64().is_none_or(|number| number.fract() != 0.0) => {
            "number"
        }
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Whether a value probably matches this alternative.
pub fn looks_like(flat: &Map<String, Value>, value: &Value) -> bool {
    let kinds = kinds(flat);
    let kind = kind_of(value);
    let is_kind =
        kinds.is_empty() || kinds.iter().any(|known| known == kind || (known == "number" && kind == "integer"));
    let named = flat.get("const").is_none_or(|only| only == value)
        && flat.get("enum").and_then(Value::as_array).is_none_or(|options| options.contains(value));
    let required = flat.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let has_all = !value.is_object() || required.into_iter().all(|name| value.get(name).is_some());
    let tags = flat.get("properties").and_then(Value::as_object).into_iter().flatten();
    let tagged = tags.into_iter().all(|(name, part)| match (part.get("const"), value.get(name)) {
        (Some(only), Some(tag)) => only == tag,
        _ => true,
    });
    is_kind && named && has_all && tagged
}

/// Calls a function for each place of the value, with its pointer, its name and its schema.
pub fn places(root: Root, schema: &Value, value: &Value, most: usize) -> Vec<(String, String, Map<String, Value>)> {
    let mut found = Vec::new();
    let mut waiting = vec![(String::new(), String::new(), root.flat(schema), value)];
    while let Some((pointer, name, mut flat, value)) = waiting.pop() {
        for _ in 0..DEEPEST {
            let branches = root.alternatives(&flat);
            let Some(fitting) = branches.into_iter().find(|branch| looks_like(branch, value)) else { break };
            flat = fitting;
        }
        let mut inner = Vec::new();
        match value {
            Value::Object(members) => {
                for (member, value) in members {
                    let part = flat
                        .get("properties")
                        .and_then(|parts| parts.get(member))
                        .or_else(|| flat.get("additionalProperties"));
                    let Some(part) = part.filter(|part| part.is_object()) else { continue };
                    let escaped = member.replace('~', "~0").replace('/', "~1");
                    inner.push((format!("{pointer}/{escaped}"), member.clone(), root.flat(part), value));
                }
            }
            Value::Array(items) => {
                for (index, value) in items.iter().enumerate().take(2) {
                    let part = flat.get("prefixItems").and_then(|parts| parts.get(index)).or_else(|| flat.get("items"));
                    let part = part.map(|part| part.get(index).filter(|_| part.is_array()).unwrap_or(part));
                    let Some(part) = part.filter(|part| part.is_object()) else { continue };
                    inner.push((format!("{pointer}/{index}"), name.clone(), root.flat(part), value));
                }
            }
            _ => {}
        }
        inner.reverse();
        waiting.extend(inner);
        found.push((pointer, name, flat));
        if found.len() >= most {
            break;
        }
    }
    found
}
