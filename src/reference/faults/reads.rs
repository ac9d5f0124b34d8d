//! Faults that make reads depend on lists, or lists on reads.

use serde_json::{Value, json};

use crate::reference::faults::{Heard, Scene, behaviour::Memory, cursors::list_result};

/// `read-needs-list`: a resource is found only if it was listed.
pub fn need_list(memory: &mut Memory, message: &mut Value) -> Heard {
    memory.listed |= message["method"] == "resources/list";
    if message["method"] == "resources/read"
        && !memory.listed
        && let Some(uri) = message.pointer_mut("/params/uri")
    {
        *uri = json!("file:///not-listed");
    }
    Heard::Message
}

/// `reading-lists-more`: each read adds a resource to the end of the list.
pub fn count(memory: &mut Memory, message: &mut Value) -> Heard {
    memory.reads += u64::from(message["method"] == "resources/read");
    Heard::Message
}

pub fn list_more(memory: &mut Memory, scene: &Scene, message: &mut Value) -> bool {
    if let Some(result) = list_result(scene, message).filter(|result| !result.contains_key("nextCursor"))
        && let Some(resources) = result.get_mut("resources").and_then(Value::as_array_mut)
    {
        let name = |read| format!("read-{read}");
        resources.extend(
            (1..=memory.reads).map(|read| json!({ "uri": format!("file:///{}", name(read)), "name": name(read) })),
        );
    }
    true
}
