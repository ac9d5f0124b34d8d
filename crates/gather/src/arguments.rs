//! Builds arguments for a tool from its input schema: the minimal valid ones, and some invalid ones.
//!
//! The results are validated before use, so a schema that cannot be compiled yields nothing.

use std::cell::Cell;

use serde_json::{Map, Value, json};

use conform_suite::foreign::{dialect, resolved, violations};

/// Maximum nesting, since schemas can be recursive.
const DEEPEST: usize = 8;
/// Maximum number of values built, valid or not, since branches can be nested.
const MOST_MADE: usize = 500;
/// A name and value that no tool knows.
const NONSENSE: &str = "mcp-conform-none-of-these";

/// The required arguments. Without `invent`, only values in the schema itself are used.
pub fn minimal(schema: &Value, invent: bool) -> Option<Value> {
    let arguments = Maker { root: schema, invent, left: Cell::new(MOST_MADE) }.object(schema, DEEPEST)?;
    violations(schema, &arguments)?.is_empty().then_some(arguments)
}

/// The required arguments as a user would complete them: values in the schema, and otherwise `…` or the like.
pub fn example(schema: &Value) -> Value {
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let given = Maker { root: schema, invent: false, left: Cell::new(MOST_MADE) };
    let value = |name: &str| {
        let property = &schema["properties"][name];
        let value = given.value(property, DEEPEST).filter(|value| !value.is_null());
        (name.to_owned(), value.unwrap_or_else(|| placeholder(meant(property, schema))))
    };
    required.map(value).collect::<Map<_, _>>().into()
}

/// A value of the type of a property that has to be replaced.
fn placeholder(property: &Value) -> Value {
    match property["type"].as_str().or_else(|| property["type"].get(0)?.as_str()) {
        Some("integer" | "number") => property.get("minimum").cloned().unwrap_or_else(|| json!(1)),
        Some("boolean") => json!(false),
        Some("array") => json!([]),
        Some("object") => example(property),
        _ => json!("…"),
    }
}

/// The arguments plus any duration that the caller can set: a hundredth of its default.
pub fn hurried(schema: &Value, arguments: Value) -> Value {
    let brief = |(name, property): (&String, &Value)| {
        let usual = property["default"].as_f64().filter(|_| says_how_long(name))?;
        let brief = usual / 100.0;
        let brief = match property["type"].as_str() {
            Some("integer") => format!("{:.0}", brief.ceil()).parse::<i64>().ok()?.into(),
            _ => json!(brief),
        };
        Some((name.clone(), brief))
    };
    let mut hurried = arguments.clone();
    let Some(members) = hurried.as_object_mut() else { return arguments };
    members.extend(schema["properties"].as_object().into_iter().flatten().filter_map(brief));
    if violations(schema, &hurried).is_some_and(|told| told.is_empty()) { hurried } else { arguments }
}

/// Matches `duration`, `delay_ms`, `sleepSeconds`, but not `timeout`: a shorter one makes a tool fail sooner.
fn says_how_long(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["duration", "delay", "sleep", "wait"].iter().any(|word| name.starts_with(word))
}

/// Invalid arguments, each with the reason: `right` with one change.
pub fn wrong(schema: &Value, right: &Value) -> Vec<Value> {
    let fits = |arguments: &Value| violations(schema, arguments).map(|told| told.is_empty());
    let Some(right) = Some(right).filter(|right| fits(right) == Some(true)).and_then(Value::as_object) else {
        return Vec::new();
    };
    let (mut probes, mut can_be_told) = (Vec::new(), true);
    let mut probe = |kind: &str, words: String, arguments: Map<String, Value>| {
        let arguments = Value::Object(arguments);
        let known = probes.iter().any(|probe: &Value| probe["kind"] == kind);
        if known || !can_be_told {
            return;
        }
        let fits = fits(&arguments);
        // Once a schema cannot be validated, stop: each attempt costs time.
        can_be_told = fits.is_some();
        if fits == Some(false) {
            probes.push(json!({ "kind": kind, "wrong": words, "arguments": arguments }));
        }
    };
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    // A missing argument with a default may be filled in.
    let needed = |property: &Value| !is_mirrored(property) && property.get("default").is_none();
    for name in required.filter(|name| needed(&schema["properties"][name])) {
        let mut arguments = right.clone();
        arguments.shift_remove(name);
        probe("missing", format!("`{name}` is missing"), arguments);
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten().filter(|(_, p)| !is_mirrored(p)) {
        let property = meant(property, schema);
        let with = |value: Value| {
            let mut arguments = right.clone();
            arguments.insert(name.clone(), value);
            arguments
        };
        if let Some((value, what)) = other_type(property) {
            probe("type", format!("`{name}` is {what}"), with(value));
        }
        if property["enum"].as_array().is_some_and(|options| options.iter().all(Value::is_string)) {
            probe("enum", format!("`{name}` is not one of the enum values"), with(json!(NONSENSE)));
        }
        if let Some(value) = beyond(property) {
            probe("range", format!("`{name}` is out of range"), with(value));
        }
        // This is invalid only in the default dialect; older ones do not define the keyword.
        if schema.get("$schema").is_none()
            && dialect(schema).is_some()
            && let Some(first) = property["prefixItems"].get(0).and_then(other_type)
        {
            probe(
                "dialect",
                format!("the first item of `{name}` is {}", first.1),
                with(odd_first(property, schema, first.0)),
            );
        }
    }
    probes
}

/// The schema of a property for values other than null.
fn meant<'a>(property: &'a Value, root: &'a Value) -> &'a Value {
    let property = resolved(property, root);
    let branches = ["anyOf", "oneOf"].into_iter().find_map(|name| property[name].as_array());
    let mut others = branches.into_iter().flatten().filter(|branch| branch["type"] != "null");
    match (others.next(), others.next()) {
        (Some(only), None) => resolved(only, root),
        _ => property,
    }
}

/// Over HTTP, it would also have to be in a header, which is another deviation.
fn is_mirrored(property: &Value) -> bool {
    property.get("x-mcp-header").is_some()
}

/// A value that even a lenient server would not convert to the type.
fn other_type(property: &Value) -> Option<(Value, &'static str)> {
    Some(match property["type"].as_str()? {
        // Some servers wrap any value in a list.
        "string" | "array" => (json!({ NONSENSE: [] }), "an object"),
        "number" | "integer" | "boolean" => (json!(NONSENSE), "a word"),
        "object" => (json!(7), "a number"),
        _ => return None,
    })
}

/// An array with only the first item invalid, and of the minimum length, so that older dialects accept its length.
fn odd_first(property: &Value, root: &Value, first: Value) -> Value {
    let maker = Maker { root, invent: true, left: Cell::new(MOST_MADE) };
    let least = property["minItems"].as_u64().and_then(|least| usize::try_from(least).ok()).unwrap_or_default();
    let others = (1..least.min(DEEPEST)).map_while(|place| {
        let item = property["prefixItems"].get(place).or_else(|| property.get("items"))?;
        maker.value(item, DEEPEST)
    });
    std::iter::once(first).chain(others).collect()
}

fn beyond(property: &Value) -> Option<Value> {
    // Some schemas write integers with a decimal point.
    let integer = |name: &str| format!("{:.0}", property[name].as_f64()?).parse::<i64>().ok();
    integer("minimum")
        .and_then(|least| least.checked_sub(1))
        .or_else(|| integer("maximum").and_then(|most| most.checked_add(1)))
        .map(Value::from)
}

/// Builds values for a schema.
struct Maker<'a> {
    /// The root of references.
    root: &'a Value,
    invent: bool,
    left: Cell<usize>,
}

impl Maker<'_> {
    fn object(&self, schema: &Value, depth: usize) -> Option<Value> {
        let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let member = |name: &str| Some((name.to_owned(), self.value(&schema["properties"][name], depth)?));
        required.map(member).collect::<Option<Map<_, _>>>().map(Value::Object)
    }

    fn value(&self, schema: &Value, depth: usize) -> Option<Value> {
        let depth = depth.checked_sub(1)?;
        self.left.set(self.left.get().checked_sub(1)?);
        let schema = resolved(schema, self.root);
        let named = ["const", "default"].iter().find_map(|name| schema.get(*name));
        let listed = || ["examples", "enum"].iter().find_map(|name| schema[*name].get(0));
        if let Some(named) = named.or_else(listed) {
            return Some(named.clone());
        }
        for branches in ["anyOf", "oneOf"] {
            if let Some(branches) = schema[branches].as_array() {
                return branches.iter().find_map(|branch| self.value(branch, depth));
            }
        }
        let kind = schema["type"].as_str().or_else(|| schema["type"].get(0)?.as_str());
        match kind {
            Some("object") => self.object(schema, depth),
            _ if !self.invent => None,
            Some("string") => text(schema),
            Some("integer" | "number") => Some(schema.get("minimum").cloned().unwrap_or_else(|| json!(1))),
            Some("boolean") => Some(json!(false)),
            Some("array") => {
                let least = usize::try_from(schema["minItems"].as_u64().unwrap_or_default()).ok()?;
                let item = || self.value(&schema["items"], depth);
                (0..least.min(DEEPEST)).map(|_| item()).collect::<Option<Vec<_>>>().map(Value::Array)
            }
            Some("null") => Some(Value::Null),
            _ => None,
        }
    }
}

fn text(schema: &Value) -> Option<Value> {
    let text = match schema["format"].as_str() {
        None => "mcp-conform",
        Some("date") => "2026-01-01",
        Some("time") => "12:00:00Z",
        Some("date-time") => "2026-01-01T12:00:00Z",
        Some("uri" | "url") => "https://example.com/",
        Some("email") => "nobody@example.com",
        Some("uuid") => "00000000-0000-4000-8000-000000000000",
        Some(_) => return None,
    };
    let most = schema["maxLength"].as_u64().and_then(|most| usize::try_from(most).ok()).unwrap_or(text.len());
    Some(json!(text.get(..most.min(text.len()))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "so that it can be written in place")]
    fn schema(properties: Value, required: &[&str]) -> Value {
        json!({ "type": "object", "properties": properties, "required": required })
    }

    #[test]
    fn only_what_the_author_wrote_is_taken_unless_more_is_allowed() {
        let written =
            schema(json!({ "unit": { "enum": ["C", "F"] }, "n": { "type": "integer", "default": 3 } }), &["unit", "n"]);
        assert_eq!(minimal(&written, false), Some(json!({ "unit": "C", "n": 3 })));
        let open = schema(
            json!({ "path": { "type": "string" }, "many": { "type": "array", "minItems": 1, "items": { "$ref": "#/$defs/n" } } }),
            &["path", "many"],
        );
        assert_eq!(minimal(&open, false), None);
        let mut open = open;
        open["$defs"] = json!({ "n": { "type": "integer", "minimum": 5 } });
        assert_eq!(minimal(&open, true), Some(json!({ "path": "mcp-conform", "many": [5] })));
    }

    #[test]
    fn an_example_has_every_required_argument() {
        let properties = json!({
            "query": { "type": "string" },
            "unit": { "enum": ["C", "F"] },
            "most": { "type": "integer", "minimum": 5 },
            "where": { "type": "object", "required": ["city"], "properties": { "city": { "type": "string" } } },
            "other": { "type": "string" },
        });
        let example = example(&schema(properties, &["query", "unit", "most", "where", "unknown"]));
        let expected = json!({ "query": "…", "unit": "C", "most": 5, "where": { "city": "…" }, "unknown": "…" });
        assert_eq!(example, expected);
    }

    #[test]
    fn what_is_not_understood_yields_nothing() {
        for property in [json!({ "type": "string", "pattern": "^a+$" }), json!(true), json!({ "$ref": "http://x/" })] {
            assert_eq!(minimal(&schema(json!({ "a": property }), &["a"]), true), None, "{property}");
        }
        let circular = json!({ "type": "object", "properties": { "a": { "$ref": "#" } }, "required": ["a"] });
        assert_eq!(minimal(&circular, true), None);
        assert_eq!(minimal(&json!(null), true), None);
    }

    #[test]
    fn a_tool_is_not_to_take_its_time() {
        let properties = json!({
            "duration": { "type": "number", "default": 10 },
            "delay_ms": { "type": "integer", "default": 250 },
            "timeout": { "type": "number", "default": 30 },
            "waitFor": { "type": "string", "default": "load" },
        });
        let mut tool = schema(properties, &[]);
        assert_eq!(hurried(&tool, json!({ "a": 1 })), json!({ "a": 1, "duration": 0.1, "delay_ms": 3 }));
        tool["properties"]["duration"]["minimum"] = json!(1);
        assert_eq!(hurried(&tool, json!({})), json!({}));
    }

    #[test]
    fn wrong_arguments_are_wrong_in_one_way_each() {
        let properties = json!({
            "text": { "type": "string" },
            "size": { "anyOf": [{ "type": "integer", "minimum": 1.0 }, { "type": "null" }] },
            "unit": { "type": "string", "enum": ["C", "F"] },
            "pair": { "type": "array", "prefixItems": [{ "type": "number" }, { "type": "boolean" }], "minItems": 2 },
            "region": { "type": "string", "x-mcp-header": "Region" },
        });
        let probes = wrong(&schema(properties, &["text"]), &json!({ "text": "a" }));
        let told: Vec<_> =
            probes.iter().map(|probe| (probe["kind"].as_str().unwrap(), probe["arguments"].to_string())).collect();
        let nonsense = r#"{"text":{"mcp-conform-none-of-these":[]}}"#;
        assert_eq!(
            told,
            [
                ("missing", "{}".to_owned()),
                ("type", nonsense.to_owned()),
                ("range", r#"{"text":"a","size":0}"#.to_owned()),
                ("enum", r#"{"text":"a","unit":"mcp-conform-none-of-these"}"#.to_owned()),
                ("dialect", r#"{"text":"a","pair":["mcp-conform-none-of-these",false]}"#.to_owned()),
            ]
        );
        let either = json!({ "a": { "type": ["string", "object"] } });
        assert!(wrong(&schema(either, &[]), &json!({})).is_empty());
    }
}
