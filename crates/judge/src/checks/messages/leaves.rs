//! The leaf values inside a value, with their pointers.

use serde_json::Value;

use conform_suite::push_token;

/// The pointer to a field.
pub fn pointer_below(pointer: &str, name: &str) -> String {
    let mut pointer = pointer.to_owned();
    push_token(&mut pointer, name);
    pointer
}

/// Calls `see` with every value that is not a container, and its pointer.
pub fn each_leaf(value: &Value, see: &mut impl FnMut(&str, &Value)) {
    walk(value, "", see);
}

fn walk(value: &Value, pointer: &str, see: &mut impl FnMut(&str, &Value)) {
    match value {
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(index, item)| walk(item, &pointer_below(pointer, &index.to_string()), see));
        }
        Value::Object(members) => {
            members.iter().for_each(|(name, member)| walk(member, &pointer_below(pointer, name), see));
        }
        leaf => see(pointer, leaf),
    }
}
