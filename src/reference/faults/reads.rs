//! Faults in what reads have to do with lists: nothing, in a healthy server.

use serde_json::{Value, json};

use crate::reference::faults::{Heard, Scene, behaviour::Memory, cursors::list_result};

/// `read-needs-list`: what was not listed is not found.
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

/// `reading-lists-more`: as many resources come to the end of the list as were read.
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
