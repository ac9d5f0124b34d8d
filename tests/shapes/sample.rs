//! Values generated from a schema: valid samples, and the same with one change.
//!
//! It supports only the keywords that the official schemas and ours use.

use serde_json::{Map, Value, json};

/// The smallest sample, the largest, and between them each field and each alternative alone.
pub fn all(schema: &Value) -> Vec<Value> {
    Sampler { root: schema }.of(schema, 0)
}

struct Sampler<'a> {
    root: &'a Value,
}

/// Below this depth only the smallest and the largest samples are generated, because every type is also sampled itself.
const WHOLE: usize = 1;
const DEEPEST: usize = 7;

impl Sampler<'_> {
    fn of(&self, schema: &Value, depth: usize) -> Vec<Value> {
        if depth > DEEPEST {
            return Vec::new();
        }
        let mut made = Vec::new();
        if let Some(name) = schema["$ref"].as_str() {
            made.extend(self.of(self.root.pointer(&name[1..]).expect("a definition"), depth));
        }
        for branch in ["anyOf", "oneOf"].iter().flat_map(|keyword| array(&schema[*keyword])) {
            made.extend(self.of(branch, depth));
        }
        for branch in ["then", "else"].iter().filter_map(|keyword| schema.get(*keyword)) {
            made.extend(self.of(branch, depth));
        }
        if let Some(parts) = schema["allOf"].as_array() {
            if parts.iter().any(|part| part.get("if").is_some()) {
                made.extend(parts.iter().flat_map(|part| self.of(part, depth)));
            } else {
                made.extend(self.merged(parts, depth));
            }
        }
        made.extend(schema.get("const").cloned());
        made.extend(array(&schema["enum"]).iter().cloned());
        if !made.is_empty() {
            return made;
        }
        match &schema["type"] {
            Value::String(json) => self.of_type(json, schema, depth),
            Value::Array(types) => {
                types.iter().filter_map(Value::as_str).flat_map(|json| self.of_type(json, schema, depth)).collect()
            }
            _ if schema.get("properties").is_some() => self.objects(schema, depth),
            _ => vec![json!("anything"), json!({ "any": "thing" }), Value::Null],
        }
    }

    fn of_type(&self, json: &str, schema: &Value, depth: usize) -> Vec<Value> {
        match json {
            "string" => match schema["format"].as_str() {
                Some("uri") => vec![json!("file:///a")],
                Some("uri-template") => vec![json!("file:///{a}")],
                _ => vec![json!("text")],
            },
            "integer" => vec![json!(1), json!(2.0)],
            "number" => vec![json!(0.5), json!(1)],
            "boolean" => vec![json!(true)],
            "null" => vec![Value::Null],
            "array" => {
                let items = self.of(&schema["items"], depth + 1);
                let mut made = vec![json!([])];
                made.extend(items.iter().map(|item| json!([item])));
                made.extend((items.len() > 1).then(|| json!(items)));
                made.extend(
                    schema["maxItems"].as_u64().map(|most| json!(vec!["text"; usize::try_from(most).expect("few")])),
                );
                made
            }
            _ => self.objects(schema, depth),
        }
    }

    fn objects(&self, schema: &Value, depth: usize) -> Vec<Value> {
        let required: Vec<&str> = array(&schema["required"]).iter().filter_map(Value::as_str).collect();
        let members: Vec<(&String, Vec<Value>)> = schema["properties"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, of)| (name, self.of(of, depth + 1)))
            .filter(|(_, made)| !made.is_empty())
            .collect();
        let first = |wanted: &dyn Fn(&str) -> bool| -> Map<String, Value> {
            members
                .iter()
                .filter(|(name, _)| wanted(name))
                .map(|(name, made)| ((*name).clone(), made[0].clone()))
                .collect()
        };
        let smallest = first(&|name| required.contains(&name));
        let mut made = vec![Value::Object(smallest.clone())];
        let largest: Map<String, Value> =
            members.iter().map(|(name, made)| ((*name).clone(), made[made.len() - 1].clone())).collect();
        if depth <= WHOLE {
            for (name, values) in &members {
                for value in values {
                    let mut object = smallest.clone();
                    object.insert((*name).clone(), value.clone());
                    made.push(Value::Object(object));
                }
            }
        }
        made.push(Value::Object(largest));
        if let Some(of) = schema.get("additionalProperties").filter(|of| of.is_object()) {
            made.extend(self.of(of, depth + 1).into_iter().map(|value| json!({ "key": value })));
        }
        made
    }

    /// Objects that match all parts.
    fn merged(&self, parts: &[Value], depth: usize) -> Vec<Value> {
        parts.iter().map(|part| self.of(part, depth)).fold(vec![json!({})], |merged, more| {
            let base = merged[0].clone();
            let onto = |base: &Value, value: &Value| match (base, value) {
                (Value::Object(base), Value::Object(more)) => {
                    base.iter().chain(more).map(|(name, value)| (name.clone(), value.clone())).collect()
                }
                _ => value.clone(),
            };
            let widened = merged.iter().map(|value| onto(value, more.first().unwrap_or(&base)));
            widened.chain(more.iter().map(|value| onto(&base, value))).collect()
        })
    }
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The value with one node replaced or removed, down to a few levels.
pub fn broken(value: &Value) -> Vec<Value> {
    broken_within(value, 3)
}

fn broken_within(value: &Value, levels: usize) -> Vec<Value> {
    let mut made = vec![json!("unknown"), json!(7), json!(-1.5), Value::Null, json!([]), json!({})];
    match value {
        Value::Object(members) => {
            made.push(json!({ "key": 1 }));
            for (name, member) in members {
                let mut without = members.clone();
                without.shift_remove(name);
                made.push(Value::Object(without));
                let inner = if levels > 0 { broken_within(member, levels - 1) } else { Vec::new() };
                made.extend(inner.into_iter().map(|other| {
                    let mut with = members.clone();
                    with.insert(name.clone(), other);
                    Value::Object(with)
                }));
            }
        }
        Value::Array(items) => {
            made.extend([json!([null]), json!(["unknown"])]);
            if let (Some(first), true) = (items.first(), levels > 0) {
                made.extend(broken_within(first, levels - 1).into_iter().map(|other| json!([other])));
            }
        }
        _ => {}
    }
    made
}
