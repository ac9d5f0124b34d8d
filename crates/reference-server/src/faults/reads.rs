//! Faults that make reads depend on lists, or lists on reads.

use serde_json::{Value, json};

use super::{Behaviour, Heard, Memory, STDIO, Scene, behaviour::unlike_any_other, cursors::list_result};
use conform_model::revision::Revision;

pub static READS: &[Behaviour] = &[
    Behaviour {
        since: Some(Revision::V2026_07_28),
        prepare: Some(|content| drop(content.add_named(&format!("connection-{}", unlike_any_other())))),
        ..Behaviour::new("list-changes-per-connection", "each connection gets a list of its own", STDIO)
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        hear: Some(need_list),
        also: &["resources-link-readable"],
        ..Behaviour::new("read-needs-list", "no resource is found before the connection has listed resources", STDIO)
    },
    Behaviour {
        since: Some(Revision::V2026_07_28),
        hear: Some(count),
        say: Some(list_more),
        also: &[
            "prefix-list-only-matching",
            "prefix-no-match-is-empty",
            "sep2093-capabilities-on-all-resources",
            "sep2093-list-uri-direct-children-only",
            "sep2093-metadata-for-every-child",
            "sep2093-metadata-for-every-listed-resource",
        ],
        ..Behaviour::new("reading-lists-more", "each read adds a resource to the list of its connection", STDIO)
    },
];

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
