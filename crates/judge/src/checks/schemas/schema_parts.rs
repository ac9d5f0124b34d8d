//! Visits every part of a schema.

use serde_json::{Map, Value};

use conform_suite::push_token;

/// The values of these keywords are not schemas.
const VALUES: [&str; 5] = ["const", "enum", "default", "examples", "example"];

/// Calls `see` with every object in a schema and its pointer, except parts with an identifier of their own.
pub fn each_part(schema: &Value, pointer: &str, see: &mut impl FnMut(&Map<String, Value>, &str)) {
    look(schema, true, pointer, see);
}

fn look(part: &Value, is_root: bool, pointer: &str, see: &mut impl FnMut(&Map<String, Value>, &str)) {
    let mut deeper = |name: &str, part: &Value| {
        let mut below = pointer.to_owned();
        push_token(&mut below, name);
        look(part, false, &below, see);
    };
    match part {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| deeper(&index.to_string(), item));
        }
        Value::Object(members) if is_root || !members.contains_key("$id") => {
            let schemas = members.iter().filter(|(name, _)| !VALUES.contains(&name.as_str()));
            schemas.for_each(|(name, part)| deeper(name, part));
            see(members, pointer);
        }
        _ => {}
    }
}
