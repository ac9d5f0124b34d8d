//! Arguments that violate exactly one keyword of the schema in exactly one place: valid ones with one change.

use serde_json::{Map, Value, json};

use super::{
    numbers::{bounds, number, whole_bounds},
    schema::{Root, kinds, places},
    texts,
};
use conform_suite::foreign::{Broken, Checker};

/// No tool has this name or contains this value.
pub const NONSENSE: &str = "mcp-conform-none-of-these";
/// Keywords that servers need not validate: many ignore unknown fields, and make a set of repeated elements.
pub const EXEMPT: [&str; 2] = ["additionalProperties", "uniqueItems"];
/// Maximum length of a text or an array that is only too long; a longer one would be hostile.
const LARGEST: u64 = 10_000;
/// Maximum number of tested places of one value.
const PLACES: usize = 60;

/// Arguments with one change, and the violation.
pub struct Invalid {
    pub arguments: Value,
    pub keyword: String,
    pub at: String,
    /// What is invalid, as part of a sentence.
    pub why: String,
}

/// All invalid arguments that differ from these valid ones in one place.
pub fn invalid(root: Root, schema: &Value, valid: &Value, checker: &Checker) -> Vec<Invalid> {
    let mut found = Vec::new();
    for (pointer, _, flat) in places(root, schema, valid, PLACES) {
        let Some(here) = valid.pointer(&pointer) else { continue };
        // Over HTTP the value would have to be repeated in a header, which could be wrong as well.
        if flat.contains_key("x-mcp-header") {
            continue;
        }
        for (keyword, changed) in changes(&flat, here, pointer.is_empty(), root) {
            let mut arguments = valid.clone();
            let Some(place) = arguments.pointer_mut(&pointer) else { continue };
            *place = changed;
            let Some(broken) = checker.broken(&arguments) else { continue };
            if let Some(only) = violates(&broken, keyword) {
                let why = told(only);
                found.push(Invalid { arguments, keyword: keyword.to_owned(), at: only.violation.pointer.clone(), why });
            }
        }
    }
    found
}

/// The violation, if there is exactly one and it is this one. Inside of alternatives, the alternatives as a whole are
/// violated.
pub fn violates<'b>(broken: &'b [Broken], keyword: &str) -> Option<&'b Broken> {
    let [only] = broken else { return None };
    let alternatives = ["anyOf", "oneOf"];
    (only.keyword == keyword || alternatives.contains(&only.keyword.as_str())).then_some(only)
}

pub fn told(broken: &Broken) -> String {
    let path = broken.violation.pointer.trim_start_matches('/').replace('/', ".");
    let place = if path.is_empty() { "`arguments`".to_owned() } else { format!("`{path}`") };
    format!("{place} {}", broken.violation.message)
}

/// The value with one change for each keyword of its schema.
fn changes(flat: &Map<String, Value>, value: &Value, is_root: bool, root: Root) -> Vec<(&'static str, Value)> {
    let mut all = Vec::new();
    let count = |keyword: &str| flat.get(keyword).and_then(Value::as_u64).filter(|bound| *bound <= LARGEST);
    if !is_root {
        all.extend(other_types(&kinds(flat)).map(|other| ("type", other)));
        if flat.get("enum").and_then(Value::as_array).is_some_and(|options| options.iter().all(Value::is_string)) {
            all.push(("enum", json!(NONSENSE)));
        } else if flat.contains_key("enum") && value.is_number() {
            all.push(("enum", json!(987_654_321)));
        }
        if flat.contains_key("const") && value.is_string() {
            all.push(("const", json!(NONSENSE)));
        }
    }
    match value {
        Value::Object(members) => {
            for name in flat.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
                // A field with a default may be filled in by the server, and one that is also sent in a header needs
                // both.
                let part = flat
                    .get("properties")
                    .and_then(|parts| parts.get(name))
                    .map(|part| root.flat(part))
                    .unwrap_or_default();
                if !part.contains_key("default") && !part.contains_key("x-mcp-header") && !part.contains_key("const") {
                    let mut fewer = members.clone();
                    fewer.shift_remove(name);
                    all.push(("required", fewer.into()));
                }
            }
            if flat.get("additionalProperties") == Some(&Value::Bool(false)) {
                let mut more = members.clone();
                more.insert(NONSENSE.into(), json!(true));
                all.push(("additionalProperties", more.into()));
            }
            for keyword in ["dependentRequired", "dependencies"] {
                for needed in flat.get(keyword).and_then(Value::as_object).into_iter().flat_map(Map::values) {
                    for name in needed.as_array().into_iter().flatten().filter_map(Value::as_str) {
                        let mut fewer = members.clone();
                        fewer.shift_remove(name);
                        all.push((keyword, fewer.into()));
                    }
                }
            }
        }
        Value::Array(items) => {
            let unique = flat.get("uniqueItems") == Some(&Value::Bool(true));
            if let Some(most) = count("maxItems").and_then(|most| usize::try_from(most).ok())
                && let Some(last) = items.last()
                && !unique
            {
                all.push(("maxItems", items.iter().chain(std::iter::repeat(last)).take(most + 1).cloned().collect()));
            }
            if let Some(least) =
                count("minItems").and_then(|least| usize::try_from(least).ok()).filter(|least| *least > 0)
            {
                all.push(("minItems", items.iter().take(least - 1).cloned().collect()));
            }
            if unique && let Some(first) = items.first() {
                all.push(("uniqueItems", [first, first].into_iter().chain(items.iter().skip(2)).cloned().collect()));
            }
        }
        Value::String(_) => {
            let text = |length: u64| json!(texts::of_length(usize::try_from(length).unwrap_or_default()));
            if let Some(most) = count("maxLength") {
                all.push(("maxLength", text(most + 1)));
            }
            if let Some(least) = count("minLength").filter(|least| *least > 0) {
                all.push(("minLength", text(least - 1)));
            }
            if flat.contains_key("pattern") {
                // As short as allowed, and of characters that few patterns allow.
                let length =
                    count("minLength").and_then(|least| usize::try_from(least).ok()).unwrap_or_default().max(1);
                let marks = ["#", "0", "~"].map(|mark| mark.repeat(length));
                all.extend(["mcp conform".to_owned()].into_iter().chain(marks).map(|text| ("pattern", json!(text))));
            }
        }
        Value::Number(_) => numbers(flat, &mut all),
        _ => {}
    }
    all
}

fn numbers(flat: &Map<String, Value>, all: &mut Vec<(&'static str, Value)>) {
    let exclusive = |keyword: &str| flat.get(keyword).and_then(Value::as_f64);
    if kinds(flat).iter().any(|kind| kind == "integer") {
        if let Some((low, high)) = whole_bounds(flat) {
            let low_keyword = if exclusive("exclusiveMinimum").is_some() { "exclusiveMinimum" } else { "minimum" };
            let high_keyword = if exclusive("exclusiveMaximum").is_some() { "exclusiveMaximum" } else { "maximum" };
            all.push((low_keyword, json!(low - 1)));
            all.push((high_keyword, json!(high + 1)));
            let step = flat.get("multipleOf").and_then(Value::as_i64).filter(|step| *step > 1);
            all.extend(step.map(|step| ("multipleOf", json!(low.div_euclid(step) * step + step + 1))));
        }
        all.push(("type", json!(1.5)));
    } else {
        let (low, high) = bounds(flat);
        all.push(("minimum", number(low - 1.0)));
        all.push(("maximum", number(high + 1.0)));
        all.extend(exclusive("exclusiveMinimum").map(|bound| ("exclusiveMinimum", number(bound))));
        all.extend(exclusive("exclusiveMaximum").map(|bound| ("exclusiveMaximum", number(bound))));
    }
}

/// Values that no server converts to one of these types.
fn other_types(kinds: &[String]) -> impl Iterator<Item = Value> {
    let has = |kind: &str| kinds.iter().any(|known| known == kind);
    let candidate = match () {
        () if kinds.is_empty() => None,
        // Some servers convert other values to a list or a string.
        () if !has("object") && (has("string") || has("array")) => Some(json!({ NONSENSE: [] })),
        () if !has("string") && (has("number") || has("integer") || has("boolean")) => Some(json!(NONSENSE)),
        () if has("object") && !has("integer") && !has("number") && !has("string") => Some(json!(7)),
        () => None,
    };
    candidate.into_iter()
}
