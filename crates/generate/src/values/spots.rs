//! Where the parts of a schema apply to a value. Unlike [`places`](super::schema::places), nothing is merged: a keyword is
//! found at its own location, also in the branches of `oneOf`, in `then` and in definitions.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::schema::{Root, looks_like};

/// Maximum number of parts and places of one value.
const MOST: usize = 400;
/// Maximum number of applicators and references above one part.
const DEEPEST: usize = 40;

/// A part of the schema, and a place in the value that it applies to.
#[derive(Clone, Debug)]
pub struct Spot {
    /// The location of the part in the schema, as a JSON Pointer. What a `$ref` refers to has its own location.
    pub schema: String,
    /// The place in the value, as a JSON Pointer.
    pub at: String,
    pub part: Map<String, Value>,
}

/// One segment of a JSON Pointer.
pub fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Whether a name matches a pattern of `patternProperties`.
pub fn matches(pattern: &str, name: &str) -> bool {
    regress::Regex::with_flags(pattern, "u").is_ok_and(|regex| regex.find(name).is_some())
}

/// All parts that apply to the value, outer ones first.
pub fn spots(root: Root, value: &Value) -> Vec<Spot> {
    let mut walk = Walk { root, found: Vec::new() };
    walk.visit(root.0, "", value, "", DEEPEST);
    walk.found
}

struct Walk<'a> {
    root: Root<'a>,
    found: Vec<Spot>,
}

impl Walk<'_> {
    fn visit(&mut self, part: &Value, schema: &str, value: &Value, at: &str, depth: usize) {
        let Some(part) = part.as_object() else { return };
        if depth == 0 || self.found.len() >= MOST {
            return;
        }
        self.found.push(Spot { schema: schema.to_owned(), at: at.to_owned(), part: part.clone() });
        if let Some(reference) = part.get("$ref").and_then(Value::as_str)
            && let Some(pointer) = reference.strip_prefix('#').filter(|rest| rest.is_empty() || rest.starts_with('/'))
            && let Some(target) = self.root.0.pointer(pointer)
        {
            self.visit(target, pointer, value, at, depth - 1);
        }
        let fits = |branch: &Value| branch.is_object() && looks_like(&self.root.flat(branch), value);
        let mut same: Vec<(String, &Value)> = Vec::new();
        for name in ["allOf", "anyOf", "oneOf"] {
            let branches = part.get(name).and_then(Value::as_array).into_iter().flatten().enumerate();
            let chosen = branches.filter(|(_, branch)| name == "allOf" || fits(branch));
            same.extend(chosen.map(|(index, branch)| (format!("{name}/{index}"), branch)));
        }
        if let Some(condition) = part.get("if") {
            let name = if holds(&self.root.flat(condition), value) { "then" } else { "else" };
            same.extend(part.get(name).map(|branch| (name.to_owned(), branch)));
        }
        for name in ["dependentSchemas", "dependencies"] {
            let all = part.get(name).and_then(Value::as_object).into_iter().flatten();
            let present = all.filter(|(member, _)| value.get(member.as_str()).is_some());
            same.extend(present.map(|(member, branch)| (format!("{name}/{}", escaped(member)), branch)));
        }
        for (name, branch) in same {
            self.visit(branch, &format!("{schema}/{name}"), value, at, depth - 1);
        }
        match value {
            Value::Object(members) => self.members(part, schema, members, at, depth),
            Value::Array(items) => self.items(part, schema, items, at, depth),
            _ => {}
        }
    }

    fn members(
        &mut self,
        part: &Map<String, Value>,
        schema: &str,
        members: &Map<String, Value>,
        at: &str,
        depth: usize,
    ) {
        let named = part.get("properties").and_then(Value::as_object);
        let patterns = part.get("patternProperties").and_then(Value::as_object);
        for (name, value) in members {
            let inner = format!("{at}/{}", escaped(name));
            let mut is_known = false;
            if let Some(own) = named.and_then(|named| named.get(name)) {
                is_known = true;
                self.visit(own, &format!("{schema}/properties/{}", escaped(name)), value, &inner, depth - 1);
            }
            for (pattern, own) in patterns.into_iter().flatten().filter(|(pattern, _)| matches(pattern, name)) {
                is_known = true;
                let location = format!("{schema}/patternProperties/{}", escaped(pattern));
                self.visit(own, &location, value, &inner, depth - 1);
            }
            if let Some(others) = part.get("additionalProperties").filter(|_| !is_known) {
                self.visit(others, &format!("{schema}/additionalProperties"), value, &inner, depth - 1);
            }
        }
    }

    /// The first two items and the last one stand for all.
    fn items(&mut self, part: &Map<String, Value>, schema: &str, items: &[Value], at: &str, depth: usize) {
        let tuple = ["prefixItems", "items"].iter().find_map(|name| Some((*name, part.get(*name)?.as_array()?)));
        let rest = match part.get("items") {
            Some(own) if !own.is_array() => Some(("items", own)),
            Some(_) => part.get("additionalItems").map(|own| ("additionalItems", own)),
            None => None,
        };
        let known = tuple.map(|(_, parts)| parts.len()).unwrap_or_default();
        for (index, value) in items.iter().enumerate() {
            let inner = format!("{at}/{index}");
            if let Some((name, parts)) = tuple
                && let Some(own) = parts.get(index)
            {
                self.visit(own, &format!("{schema}/{name}/{index}"), value, &inner, depth - 1);
            } else if let Some((name, own)) = rest
                && (index < known + 2 || index + 1 == items.len())
            {
                self.visit(own, &format!("{schema}/{name}"), value, &inner, depth - 1);
            }
            if let Some(contained) = part.get("contains")
                && looks_like(&self.root.flat(contained), value)
            {
                self.visit(contained, &format!("{schema}/contains"), value, &inner, depth - 1);
            }
        }
    }
}

/// Whether the value meets the condition of `if`, as far as constants show it.
fn holds(condition: &Map<String, Value>, value: &Value) -> bool {
    let parts = condition.get("properties").and_then(Value::as_object).into_iter().flatten();
    let meets = |(name, part): (&String, &Value)| {
        let Some(own) = value.get(name.as_str()) else { return true };
        let named = part.get("enum").and_then(Value::as_array).is_none_or(|options| options.contains(own));
        named && part.get("const").is_none_or(|only| only == own)
    };
    looks_like(condition, value) && parts.into_iter().all(meets)
}

/// Values in which a recursive part is nested so many times: its innermost value, and all of it.
pub fn nested(found: &[Spot], value: &Value, levels: usize) -> Vec<(String, Value)> {
    let mut outermost: HashMap<&str, &Spot> = HashMap::new();
    let mut all = Vec::new();
    for inner in found {
        let outer = *outermost.entry(&inner.schema).or_insert(inner);
        let Some(path) = inner.at.strip_prefix(&outer.at).filter(|path| path.starts_with('/')) else { continue };
        // One pair for each recursive part is enough.
        if all.iter().any(|(at, _): &(String, Value)| at.starts_with(&format!("{}{path}", outer.at))) {
            continue;
        }
        let Some(whole) = value.pointer(&outer.at) else { continue };
        let Some(mut made) = value.pointer(&inner.at).cloned() else { continue };
        for _ in 0..levels {
            let mut next = whole.clone();
            let Some(place) = next.pointer_mut(path) else { break };
            *place = made;
            made = next;
        }
        let mut arguments = value.clone();
        let Some(place) = arguments.pointer_mut(&outer.at) else { continue };
        *place = made;
        all.push((format!("{}{}", outer.at, path.repeat(levels)), arguments));
    }
    all
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_part_is_found_at_its_own_location() {
        let schema = json!({
            "type": "object",
            "properties": {
                "shape": { "oneOf": [
                    { "type": "object", "properties": { "t": { "const": "a" } }, "required": ["t"] },
                    { "type": "object", "properties": { "t": { "const": "b" }, "w": { "minimum": 1 } }, "required": ["t"] },
                ] },
                "tree": { "$ref": "#/$defs/node" },
            },
            "patternProperties": { "^n_": { "type": "integer" } },
            "additionalProperties": { "type": "string" },
            "$defs": { "node": { "type": "object", "properties": { "kids": { "type": "array", "items": { "$ref": "#/$defs/node" } } } } },
        });
        let value = json!({ "shape": { "t": "b", "w": 2 }, "tree": { "kids": [{ "kids": [] }] }, "n_a": 1, "z": "" });
        let all = spots(Root(&schema), &value);
        let has = |schema: &str, at: &str| all.iter().any(|spot| spot.schema == schema && spot.at == at);
        assert!(
            has("/properties/shape/oneOf/1/properties/w", "/shape/w") && !has("/properties/shape/oneOf/0", "/shape")
        );
        assert!(has("/patternProperties/^n_", "/n_a") && has("/additionalProperties", "/z"));
        assert!(has("/$defs/node", "/tree") && has("/$defs/node", "/tree/kids/0"));
        let deep = nested(&all, &value, 3);
        assert_eq!(deep.len(), 1, "{deep:?}");
        assert_eq!(deep[0].0, "/tree/kids/0/kids/0/kids/0");
        assert!(deep[0].1.pointer(&deep[0].0).is_some());
    }
}
