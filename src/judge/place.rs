//! The location of a judged value on the wire: the frame, and the JSON Pointer in its message.
//!
//! Saved values are plain JSON, but every reply in them lists its frames, and a collected list has the origin of each
//! item. Following the path from the root past those finds the message.

use serde_json::Value;

/// A frame (0: unknown) and a pointer into its message. Without a frame, the pointer is into what the rule judged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub frame: u64,
    pub pointer: String,
    /// All frames of the exchange; the one with the violation is last.
    pub frames: Vec<u64>,
}

impl Place {
    /// The location of the value at `pointer` in `root`, which itself is at `base`.
    pub fn of(root: &Value, pointer: &str, base: &Self) -> Self {
        let mut place = Self { pointer: format!("{}{pointer}", base.pointer), ..base.clone() };
        let (mut value, mut rest) = (root, pointer);
        loop {
            if let Some(found) = carried(value, rest) {
                place = found;
            }
            let Some(tail) = rest.strip_prefix('/') else { return place };
            let end = tail.find('/').unwrap_or(tail.len());
            let name = &tail[..end];
            rest = &tail[end..];
            value = match value {
                Value::Array(items) => match name.parse::<usize>().ok().and_then(|index| items.get(index)) {
                    Some(item) => item,
                    None => return place,
                },
                Value::Object(members) => match members.get(&name.replace("~1", "/").replace("~0", "~")) {
                    Some(member) => member,
                    None => return place,
                },
                _ => return place,
            };
        }
    }

    /// Whether `other` is this location or inside it.
    pub fn holds(&self, other: &Self) -> bool {
        self.frame == other.frame
            && other.pointer.strip_prefix(&self.pointer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Whether the location is known: in a frame, or in a named save.
    pub fn is_known(&self) -> bool {
        self.frame > 0 || self.pointer.starts_with('$')
    }

    /// The pointer, if it is into the message of the last frame.
    pub fn in_message(&self) -> Option<String> {
        (self.frame > 0 && !self.pointer.is_empty()).then(|| self.pointer.clone())
    }
}

/// The location of the value at `rest` in `value`, if `value` names its frames.
fn carried(value: &Value, rest: &str) -> Option<Place> {
    let numbers =
        |value: &Value| -> Vec<u64> { value.as_array().into_iter().flatten().filter_map(Value::as_u64).collect() };
    let has = |names: &[&str]| names.iter().any(|name| value.get(name).is_some());
    // A server's own data may have fields with these names, but hardly together with the others that ours have.
    if let Some(frame) = value.get("frame").and_then(Value::as_u64).filter(|_| has(&["pointer", "link", "data"])) {
        if let Some(pointer) = value.get("pointer").and_then(Value::as_str) {
            // The message that this one responds to, if only that is known.
            let to = value.get("to").and_then(Value::as_u64);
            return Some(Place { frame, pointer: pointer.to_owned(), frames: to.into_iter().chain([frame]).collect() });
        }
        let pointer = rest.strip_prefix("/message").unwrap_or_default().to_owned();
        // The event that had the id first.
        let first = value.get("repeats").and_then(Value::as_u64);
        return Some(Place { frame, pointer, frames: first.into_iter().chain([frame]).collect() });
    }
    if let Some(origin) = value.get("origin") {
        let place = carried(origin, "")?;
        let rest = rest.strip_prefix("/message").unwrap_or(rest);
        return Some(Place { pointer: format!("{}{rest}", place.pointer), ..place });
    }
    if let (Some(origins), Some(item)) = (value.get("origins"), rest.strip_prefix("/items/")) {
        let end = item.find('/').unwrap_or(item.len());
        let origin = origins.get(item[..end].parse::<usize>().ok()?)?;
        let place = carried(origin, "")?;
        return Some(Place { pointer: format!("{}{}", place.pointer, &item[end..]), ..place });
    }
    let frames = numbers(value.get("frames").filter(|_| has(&["end", "link"]))?);
    let pointer = rest.strip_prefix("/reply").unwrap_or(rest);
    let inside = pointer.starts_with("/result") || pointer.starts_with("/error");
    Some(Place { frame: *frames.last()?, pointer: if inside { pointer.to_owned() } else { String::new() }, frames })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn place(root: &Value, pointer: &str) -> (u64, String) {
        let found = Place::of(root, pointer, &Place::default());
        (found.frame, found.pointer)
    }

    #[test]
    fn replies_frames_and_lists_lead_back_to_the_message() {
        let reads = json!([{ "resource": {}, "reply": { "end": "result", "frames": [3, 8], "result": { "contents": [{ "uri": "x" }] } } }]);
        assert_eq!(place(&reads, "/0/reply/result/contents/0/uri"), (8, "/result/contents/0/uri".into()));
        let frame = json!({ "frame": 4, "link": 1, "message": { "id": null } });
        assert_eq!(place(&frame, "/message/id"), (4, "/id".into()));
        let list = json!({ "items": [{ "uri": 1 }], "origins": [{ "frame": 6, "pointer": "/result/resources/0" }] });
        assert_eq!(place(&list, "/items/0/uri"), (6, "/result/resources/0/uri".into()));
    }

    #[test]
    fn data_of_the_server_leads_nowhere_else() {
        let film = json!({ "frame": 2, "frames": [7], "origin": "here" });
        let list = json!({ "items": [film], "origins": [{ "frame": 6, "pointer": "/result/resources/0" }] });
        assert_eq!(place(&list, "/items/0/frame"), (6, "/result/resources/0/frame".into()));
        let reply = json!({ "end": "result", "frames": [3, 8], "result": film });
        assert_eq!(place(&reply, "/result/frames/0"), (8, "/result/frames/0".into()));
    }

    #[test]
    fn what_came_on_no_frame_keeps_its_own_path() {
        assert_eq!(place(&json!({ "a": [1] }), "/a/0"), (0, "/a/0".into()));
    }
}
