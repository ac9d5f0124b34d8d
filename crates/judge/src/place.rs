//! The location of a judged value on the wire: the frame, and the JSON Pointer in its message.
//!
//! Every reply lists its frames, and a collected list has the origin of each item. Following the path from the root past
//! those finds the message. The types of the values tell our fields from data of the server.

use serde_json::Value;

use conform_suite::views::{self, ValueType, View};

/// A frame (0: unknown) and a pointer into its message. Without a frame, the pointer is into what the rule judged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub frame: u64,
    pub pointer: String,
    /// All frames of the exchange; the one with the violation is last.
    pub frames: Vec<u64>,
}

impl Place {
    /// The location of the value at `pointer` in `root`, which has this type and itself is at `base`.
    pub fn of(root: &Value, value_type: &ValueType, pointer: &str, base: &Self) -> Self {
        let mut place = Self { pointer: format!("{}{pointer}", base.pointer), ..base.clone() };
        let (mut value, mut value_type, mut rest) = (root, value_type.clone(), pointer);
        loop {
            if let ValueType::One(view) = value_type
                && let Some(found) = carried(view, value, rest)
            {
                place = found;
            }
            let Some(tail) = rest.strip_prefix('/') else { return place };
            let token = &tail[..tail.find('/').unwrap_or(tail.len())];
            let name = token.replace("~1", "/").replace("~0", "~");
            rest = &tail[token.len()..];
            let inner = match value {
                Value::Array(items) => name.parse::<usize>().ok().and_then(|index| items.get(index)),
                value => value.get(&name),
            };
            let Some(inner) = inner else { return place };
            (value, value_type) = (inner, value_type.step(&name));
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

/// The location of the value at `rest` in `value`, if values of this type name their frames.
fn carried(view: &View, value: &Value, rest: &str) -> Option<Place> {
    let number = |name: &str| value.get(name).and_then(Value::as_u64);
    let declares = |name: &str| view.field(name).is_some();
    if let Some(origin) = value.get("origin").filter(|_| declares("origin")) {
        let place = carried(&views::ORIGIN, origin, "")?;
        let rest = rest.strip_prefix("/message").unwrap_or(rest);
        return Some(Place { pointer: format!("{}{rest}", place.pointer), ..place });
    }
    if declares("frame") {
        let pointer = match value.get("pointer").and_then(Value::as_str).filter(|_| declares("pointer")) {
            Some(pointer) => pointer,
            None => rest.strip_prefix("/message").unwrap_or_default(),
        };
        // The message that this one responds to, or the event that had the id first.
        let earlier = number("to").or_else(|| number("repeats"));
        let frame = number("frame")?;
        return Some(Place {
            frame,
            pointer: pointer.to_owned(),
            frames: earlier.into_iter().chain([frame]).collect(),
        });
    }
    if let Some(item) = rest.strip_prefix("/items/").filter(|_| declares("origins")) {
        let end = item.find('/').unwrap_or(item.len());
        let place = carried(&views::ORIGIN, &value["origins"][item[..end].parse::<usize>().ok()?], "")?;
        return Some(Place { pointer: format!("{}{}", place.pointer, &item[end..]), ..place });
    }
    let frames = value.get("frames").filter(|_| declares("frames") && (declares("end") || declares("link")));
    let frames: Vec<u64> = frames?.as_array()?.iter().filter_map(Value::as_u64).collect();
    let pointer = rest.strip_prefix("/reply").unwrap_or(rest);
    let inside = pointer.starts_with("/result") || pointer.starts_with("/error");
    Some(Place { frame: *frames.last()?, pointer: if inside { pointer.to_owned() } else { String::new() }, frames })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn place(view: &'static View, root: &Value, pointer: &str) -> (u64, String) {
        let found = Place::of(root, &ValueType::One(view), pointer, &Place::default());
        (found.frame, found.pointer)
    }

    #[test]
    fn replies_frames_and_lists_lead_back_to_the_message() {
        let read = json!({ "resource": {}, "reply": { "end": "result", "frames": [3, 8], "result": { "contents": [{ "uri": "x" }] } } });
        assert_eq!(
            place(&views::SURVEY, &json!({ "reads": [read] }), "/reads/0/reply/result/contents/0/uri"),
            (8, "/result/contents/0/uri".into())
        );
        let frame = json!({ "frame": 4, "link": 1, "message": { "id": null } });
        assert_eq!(place(&views::FRAME, &frame, "/message/id"), (4, "/id".into()));
        let list = json!({ "items": [{ "uri": 1 }], "origins": [{ "frame": 6, "pointer": "/result/resources/0" }] });
        assert_eq!(place(&views::LIST, &list, "/items/0/uri"), (6, "/result/resources/0/uri".into()));
    }

    #[test]
    fn data_of_the_server_leads_nowhere_else() {
        let film =
            json!({ "frame": 2, "link": 1, "frames": [7], "end": "result", "origin": { "frame": 1, "pointer": "" } });
        let list = json!({ "items": [film], "origins": [{ "frame": 6, "pointer": "/result/resources/0" }] });
        assert_eq!(place(&views::LIST, &list, "/items/0/frame"), (6, "/result/resources/0/frame".into()));
        let reply = json!({ "end": "result", "frames": [3, 8], "result": film });
        assert_eq!(place(&views::REPLY, &reply, "/result/frames/0"), (8, "/result/frames/0".into()));
    }

    #[test]
    fn what_came_on_no_frame_keeps_its_own_path() {
        assert_eq!(place(&views::GROWTH, &json!({ "of": "a", "curve": [1] }), "/curve/0"), (0, "/curve/0".into()));
    }
}
