//! Where the values that a rule judges were received.

use serde_json::Value;

use super::{
    naming::{named_around, subject},
    place::Place,
};
use conform_model::outcome::Held;
use conform_suite::{Path, SURVEY, Scope, Suite, views::ValueType};

/// What the server declares in the handshake.
pub const SERVER: &str = "server";

/// The item of `every` that is judged.
pub struct Item<'a> {
    pub suite: &'a Suite,
    pub var: &'a str,
    /// The path that selected it.
    pub path: &'a Path,
    pub root: &'a Value,
    pub value: &'a Value,
    /// Its JSON Pointer in the root. Computed only for findings.
    pub location: &'a dyn Fn() -> String,
}

impl Item<'_> {
    /// Its name for the server's author, or that of what it is part of, such as the resource of an icon.
    pub fn subject(&self) -> String {
        let own = subject(self.value);
        if own.is_empty() { named_around(self.root, &(self.location)()) } else { own }
    }

    fn value_type(&self) -> ValueType {
        ValueType::of_name(&self.path.root, self.suite).at(&(self.location)())
    }

    pub fn frames(&self) -> Vec<u64> {
        frames_in(&self.value_type(), self.value)
    }

    /// Its location.
    pub fn place(&self) -> Place {
        let location = (self.location)();
        let root = ValueType::of_name(&self.path.root, self.suite);
        let mut place = Place::of(self.root, &root, &location, &Place::default());
        if place.frame == 0 {
            place.frames = self.frames();
            // The item is an exchange with additional fields, or was not in a message.
            match place.frames.last() {
                Some(&last) => (place.frame, place.pointer) = (last, String::new()),
                None => place.pointer = format!("${}{location}", self.path.root),
            }
        }
        place
    }
}

/// The type of what a name stands for.
pub fn type_of(root: &str, suite: &Suite, item: Option<&Item>) -> ValueType {
    match item.filter(|item| item.var == root) {
        Some(item) => item.value_type(),
        None => ValueType::of_name(root, suite),
    }
}

/// The saved value that a path selects in.
pub fn save_of<'s>(path: &Path, scope: &'s Scope) -> Option<&'s Value> {
    let root = scope.lookup(&path.root)?;
    if path.root == SURVEY { root.get(path.first_member()?) } else { Some(root) }
}

pub fn place_of(subject: &Path, location: &str, scope: &Scope, suite: &Suite, item: Option<&Item>) -> Place {
    let base = item.filter(|item| item.var == subject.root).map(Item::place).unwrap_or_default();
    let Some(root) = scope.lookup(&subject.root) else { return base };
    let value_type = type_of(&subject.root, suite, item);
    let mut place = Place::of(root, &value_type, location, &base);
    if place.frames.is_empty() {
        // The frames of the innermost enclosing value that has any.
        let ends = std::iter::once(location.len()).chain(location.rmatch_indices('/').map(|(end, _)| end));
        let around = ends.filter_map(|end| {
            Some(frames_in(&value_type.clone().at(&location[..end]), root.pointer(&location[..end])?))
        });
        let mut judged = item.map(Item::frames).into_iter().chain(around);
        place.frames = judged.find(|frames| !frames.is_empty()).unwrap_or_default();
    }
    if place.frame == 0 && !place.pointer.starts_with('$') {
        place.pointer = format!("${}{}", subject.root, place.pointer);
    }
    place
}

/// Converts a pointer into a check's input to one from the path's root.
pub fn location(path: &Path, pointer: &str, scope: &Scope) -> String {
    let nodes = path.select(scope).unwrap_or_default();
    let listed = pointer.strip_prefix('/').filter(|_| path.is_plural());
    let (index, rest) = listed.map_or((0, pointer), |tail| {
        let end = tail.find('/').unwrap_or(tail.len());
        (tail[..end].parse().unwrap_or_default(), &tail[end..])
    });
    nodes.get(index).map_or_else(|| pointer.to_owned(), |node| format!("{}{rest}", node.location))
}

/// The frames that a value of this type lists, in itself or in its reply.
fn frames_in(value_type: &ValueType, value: &Value) -> Vec<u64> {
    let inner = |name: &str| {
        Some((value_type.field(name)?, value.get(name)?)).filter(|(value_type, _)| *value_type != ValueType::Anything)
    };
    let listed = inner("frames").map(|(_, frames)| frames);
    let listed =
        listed.or_else(|| inner("reply").and_then(|(reply, value)| reply.field("frames").and(value.get("frames"))));
    let origin = inner("origin").and_then(|(_, origin)| origin.get("frame"));
    listed.and_then(Value::as_array).into_iter().flatten().chain(origin).filter_map(Value::as_u64).collect()
}

/// Adds the frames of what the finding depends on: of the replies with these paths, the last one before it.
pub fn show_first<'p>(
    frames: &mut Vec<u64>,
    paths: impl Iterator<Item = &'p Path>,
    scope: &Scope,
    suite: &Suite,
    item: Option<&Item>,
) {
    let Some(first) = frames.first().copied() else { return };
    let replies = paths.map(|path| frames_of_save(path, scope, suite, item));
    let before = replies.filter(|frames| frames.last().is_some_and(|last| *last < first));
    let shown = before.max_by_key(|frames| frames.last().copied()).unwrap_or_default();
    frames.splice(0..0, shown);
}

/// The frames of the reply that shows what is at the path: of what the server declares, the one to the handshake.
pub fn frames_of_save(path: &Path, scope: &Scope, suite: &Suite, item: Option<&Item>) -> Vec<u64> {
    let found = || {
        let (value_type, save) = (type_of(&path.root, suite, item), scope.lookup(&path.root)?);
        let member = match path.root.as_str() {
            SERVER => "hello",
            SURVEY => path.first_member()?,
            // Of a step that was done for several values, the last one.
            _ => {
                let last = save.as_array().map_or(0, |items| items.len().saturating_sub(1)).to_string();
                let in_list = save.pointer(&format!("/{last}")).filter(|_| save.is_array());
                return Some(match in_list {
                    Some(item) => frames_in(&value_type.step(&last), item),
                    None => frames_in(&value_type, save),
                });
            }
        };
        Some(frames_in(&value_type.field(member)?, save.get(member)?))
    };
    found().unwrap_or_default()
}

/// What a rule passed for: the item or, without one, the values of its paths.
pub fn held<'p>(item: Option<&Item>, mut paths: impl Iterator<Item = &'p Path>, scope: &Scope, suite: &Suite) -> Held {
    let place = match item {
        Some(item) => item.place(),
        None => paths
            .find_map(|path| {
                let node = path.select(scope).unwrap_or_default().into_iter().next()?;
                let place = place_of(path, &node.location, scope, suite, None);
                (!place.frames.is_empty()).then_some(place)
            })
            .unwrap_or_default(),
    };
    Held { subject: item.map(Item::subject).unwrap_or_default(), frames: place.frames }
}
