//! What becomes of a message, by the edits of a fault.

use json_patch::{PatchOperation, patch};
use serde_json::Value;

use super::{Changes, Edit, Hold, Passing};

/// What is sent, as a message or as the text of a line, event or body.
#[derive(Clone, Debug, PartialEq)]
pub enum Sent {
    Message(Value),
    Text(String),
}

impl Sent {
    pub fn into_text(self) -> String {
        match self {
            Self::Message(message) => message.to_string(),
            Self::Text(text) => text,
        }
    }

    /// The message; none if the text is not JSON.
    pub fn into_message(self) -> Option<Value> {
        match self {
            Self::Message(message) => Some(message),
            Self::Text(text) => serde_json::from_str(&text).ok(),
        }
    }
}

/// What becomes of a message.
#[derive(Debug)]
pub struct Fate {
    /// What is sent in its place, in order.
    pub sent: Vec<Sent>,
    /// What its sender gets.
    pub reply: Option<Value>,
    pub hold: Option<Hold>,
    /// Whether an edit has selected the message.
    pub selected: bool,
}

impl Fate {
    pub fn unchanged(message: Value) -> Self {
        Self { sent: vec![Sent::Message(message)], reply: None, hold: None, selected: false }
    }
}

/// What each edit has selected so far.
#[derive(Clone, Debug, Default)]
pub struct Counters(Vec<Selected>);

#[derive(Clone, Debug, Default)]
struct Selected {
    count: usize,
    /// The first message, if the edit keeps values of it.
    first: Option<Value>,
}

impl Counters {
    pub fn of(&mut self, at: usize) -> &mut usize {
        &mut self.at(at).count
    }

    fn at(&mut self, at: usize) -> &mut Selected {
        self.0.resize(self.0.len().max(at + 1), Selected::default());
        &mut self.0[at]
    }
}

/// Applies the whole patch, or nothing of it.
pub fn apply(message: &mut Value, operations: &[PatchOperation]) {
    let mut changed = message.clone();
    if patch(&mut changed, operations).is_ok() {
        *message = changed;
    }
}

/// Gives a message the value that another one has at this place, if both have one there.
fn replace(message: &mut Value, path: &str, other: &Value) {
    if let (Some(value), Some(first)) = (message.pointer_mut(path), other.pointer(path)) {
        value.clone_from(first);
    }
}

impl Edit {
    /// Applies this edit and those that follow it, where they select the message.
    pub fn pass(&self, counters: &mut Counters, passing: &Passing, message: Value) -> Fate {
        let mut fate = Fate::unchanged(message);
        for (at, edit) in self.all().enumerate() {
            // An edit changes the message, not those that an earlier edit has added.
            let Some(place) = fate.sent.iter().position(|sent| matches!(sent, Sent::Message(_))) else { break };
            let Sent::Message(message) = &fate.sent[place] else { break };
            if !edit.selects(passing, message) || !edit.is_due(counters.of(at)) {
                continue;
            }
            let mut message = message.clone();
            fate.selected = true;
            fate.reply = edit.reply.as_ref().map(|reply| response(reply, &message, passing.request)).or(fate.reply);
            fate.hold = edit.hold.or(fate.hold);
            if !edit.keep.is_empty() {
                let first = counters.at(at).first.get_or_insert_with(|| message.clone());
                edit.keep.iter().for_each(|path| replace(&mut message, path, first));
            }
            edit.change(&mut message, passing.request);
            fate.sent.splice(place..=place, edit.spread(&message, passing.request));
        }
        fate
    }

    /// Changes an HTTP request before it is sent: an object with `method`, `url`, `headers` and `message`.
    pub fn pass_http(&self, counters: &mut Counters, request: &mut Value) {
        for (at, edit) in self.all().enumerate() {
            if !edit.is_about_http() || !edit.fits(Some(request), None) || !edit.is_due(counters.of(at)) {
                continue;
            }
            let before = request.clone();
            edit.change(request, Some(&before));
            let Some(headers) = request["headers"].as_object_mut() else { continue };
            for (name, value) in &edit.headers {
                match value {
                    Some(value) => drop(headers.insert(name.clone(), Value::from(value.as_str()))),
                    None => drop(headers.shift_remove(name)),
                }
            }
        }
    }

    /// This edit and those that follow it.
    fn all(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(self.then.iter().map(|strict| &strict.edit))
    }

    /// Whether the edit is only about HTTP.
    pub fn is_about_http(&self) -> bool {
        self.on.iter().any(|on| on == "http")
    }

    /// Whether it changes anything of a message.
    pub fn changes_messages(&self) -> bool {
        self.changes_content()
            || !self.keep.is_empty()
            || self.raw.is_some()
            || !(self.before.is_empty() && self.after.is_empty())
            || self.times.is_some()
            || self.drop
            || self.reply.is_some()
            || self.hold.is_some()
            || self.status.is_some()
    }

    fn changes_content(&self) -> bool {
        let paths = self.set.len() + self.add.len() + self.replace.len() + self.change.len() + self.remove.len();
        paths > 0 || self.patch.is_some() || self.instead.is_some()
    }

    /// Changes the content of a selected message.
    pub fn change(&self, message: &mut Value, request: Option<&Value>) {
        if !self.changes_content() {
            return;
        }
        let before = message.clone();
        let fill = |value: &Value| filled(value, &before, request);
        if let Some(operations) = &self.patch {
            apply(message, operations);
        }
        for (path, value) in &self.set {
            path.set(message, &fill(value));
        }
        for (path, value) in &self.add {
            path.add(message, &fill(value));
        }
        for (path, value) in &self.replace {
            path.visit(message, &mut |old| *old = fill(value));
        }
        for (path, Changes(changes)) in &self.change {
            path.visit(message, &mut |value| changes.iter().for_each(|change| change.apply(value)));
        }
        for path in &self.remove {
            path.remove(message);
        }
        if let Some(instead) = &self.instead {
            *message = fill(instead);
        }
    }

    /// What is sent in the place of a selected message.
    pub fn spread(&self, message: &Value, request: Option<&Value>) -> Vec<Sent> {
        if self.drop || self.reply.is_some() {
            return Vec::new();
        }
        let text = |form: &str| {
            let id = message.get("id").unwrap_or(&Value::Null);
            let message = message.to_string();
            let fields = message.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or_default();
            Sent::Text(form.replace("$fields", fields).replace("$message", &message).replace("$id", &id.to_string()))
        };
        let added = |value: &Value| match value {
            Value::String(form) => text(form),
            value => Sent::Message(filled(value, message, request)),
        };
        let own = self.raw.as_deref().map_or_else(|| Sent::Message(message.clone()), text);
        let own = std::iter::repeat_n(own, self.times.unwrap_or(1));
        self.before.iter().map(added).chain(own).chain(self.after.iter().map(added)).collect()
    }
}

/// A response to a request, with this result or error.
fn response(reply: &Value, message: &Value, request: Option<&Value>) -> Value {
    let mut response = serde_json::json!({ "jsonrpc": "2.0", "id": message["id"] });
    for (name, value) in filled(reply, message, request).as_object().into_iter().flatten() {
        response[name] = value.clone();
    }
    response
}

/// The value with what its references stand for.
fn filled(template: &Value, message: &Value, request: Option<&Value>) -> Value {
    match template {
        Value::String(text) if text == "$id" => message.get("id").cloned().unwrap_or_default(),
        Value::String(text) => {
            let from = |value: &Value, path: &str| value.pointer(path).cloned().unwrap_or_default();
            if let Some(path) = text.strip_prefix("$message").filter(|path| path.starts_with('/')) {
                from(message, path)
            } else if let Some(path) = text.strip_prefix("$request").filter(|path| path.starts_with('/')) {
                from(request.unwrap_or(&Value::Null), path)
            } else {
                template.clone()
            }
        }
        Value::Array(items) => items.iter().map(|item| filled(item, message, request)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, field)| (name.clone(), filled(field, message, request))).collect()
        }
        other => other.clone(),
    }
}
