//! Makes things, and reads what the tools say about them.

use serde_json::{Map, Value, json};

use super::{
    group::{Group, required},
    record::{self, plain},
};
use crate::{
    calls::{Kind, Source},
    item::{Sequence, SequenceCall, is_failed},
    observe::Observer,
    values::texts,
};
use conform_model::evidence::{End, Reply};

/// The calls that were made.
#[derive(Default)]
pub struct Made {
    calls: Vec<SequenceCall>,
    frames: Vec<u64>,
    /// The number of the next thing.
    pub number: usize,
    /// The number of creations that succeeded, also in earlier scenarios.
    pub created: usize,
}

impl Made {
    pub fn item(self, kind: &'static str, name: &str, holds: bool, received: &str) -> Sequence {
        let (name, received) = (name.to_owned(), received.to_owned());
        Sequence { kind, name, holds, received, calls: self.calls, frames: self.frames }
    }
}

/// A thing, and what is known of it.
#[derive(Clone, Debug)]
pub struct Thing {
    /// The arguments that identify it.
    pub key: Map<String, Value>,
    /// What it was created with.
    pub sent: Map<String, Value>,
    /// The fields of those that the result of its creation repeated.
    pub confirmed: Map<String, Value>,
}

impl Thing {
    pub fn id(&self) -> &Value {
        self.key.values().next().unwrap_or(&Value::Null)
    }
}

pub struct Bench<'b, 'o, 's> {
    pub observer: &'b mut Observer<'o>,
    pub group: &'b Group<'s>,
    pub made: Made,
    /// What is deleted at the end.
    things: Vec<Map<String, Value>>,
}

impl<'b, 'o, 's> Bench<'b, 'o, 's> {
    pub fn new(observer: &'b mut Observer<'o>, group: &'b Group<'s>, (number, created): (usize, usize)) -> Self {
        Self { observer, group, made: Made { number, created, ..Made::default() }, things: Vec::new() }
    }

    /// Deletes what is left.
    pub async fn clean(self) -> Made {
        if let Some(delete) = self.group.delete {
            for key in &self.things {
                if let Some(arguments) = named(delete, key) {
                    self.observer.reply(&delete.subject, &arguments).await;
                }
            }
        }
        self.made
    }

    pub async fn call(&mut self, source: &Source, arguments: &Value) -> Option<Reply> {
        let reply = self.observer.reply(&source.subject, arguments).await?;
        self.note(source, arguments, &reply);
        Some(reply)
    }

    pub fn note(&mut self, source: &Source, arguments: &Value, reply: &Reply) {
        let (name, arguments) = (source.subject.name.clone(), arguments.clone());
        self.made.calls.push(SequenceCall { name, arguments, end: reply.end, failed: is_failed(reply) });
        self.made.frames.extend(&reply.frames);
    }

    /// Valid arguments of the creation, unlike those of any other thing.
    pub fn arguments(&mut self) -> Option<Map<String, Value>> {
        self.made.number += 1;
        salted_arguments(self.group.create, self.made.number)
    }

    /// Creates a thing; `None` if that fails, or what identifies the thing is not shown.
    pub async fn create(&mut self) -> Option<Thing> {
        let arguments = self.arguments()?;
        self.create_with(arguments).await
    }

    pub async fn create_with(&mut self, sent: Map<String, Value>) -> Option<Thing> {
        let reply = self.call(self.group.create, &sent.clone().into()).await?;
        self.thing(sent, &reply)
    }

    /// What a creation says of its thing.
    pub fn thing(&mut self, sent: Map<String, Value>, reply: &Reply) -> Option<Thing> {
        if reply.end != End::Result || is_failed(reply) {
            return None;
        }
        let shown = record::about(reply, &sent).unwrap_or_default();
        let names = self.group.read.or(self.group.delete).map_or_else(|| vec!["id".to_owned()], required);
        let mut key = Map::new();
        for name in names {
            key.insert(name.clone(), identified(&name, &sent, &shown)?);
        }
        if key.is_empty() {
            return None;
        }
        let same = |(name, value): &(&String, &Value)| shown.get(*name) == Some(*value);
        let confirmed = sent.iter().filter(same).map(|(name, value)| (name.clone(), value.clone())).collect();
        self.things.push(key.clone());
        self.made.created += 1;
        Some(Thing { key, sent, confirmed })
    }

    /// The fields that are read; an error if the thing cannot be read; `None` if it shows no fields.
    pub async fn read(&mut self, thing: &Thing) -> Option<Result<Map<String, Value>, ()>> {
        let read = self.group.read?;
        let reply = self.call(read, &named(read, &thing.key)?).await?;
        if is_failed(&reply) {
            return Some(Err(()));
        }
        if reply.end != End::Result {
            return None;
        }
        let shown = record::about(&reply, &thing.sent)?;
        Some(Ok(shown.into_iter().filter(|(name, _)| thing.sent.contains_key(name)).collect()))
    }

    /// The objects of a list, by the thing that they are about; `None` if it cannot be listed.
    pub async fn list(&mut self) -> Option<Reply> {
        let list = self.group.list?;
        let reply = self.call(list, &json!({})).await?;
        (reply.end == End::Result && !is_failed(&reply) && record::is_structured(&reply)).then_some(reply)
    }

    /// The fields that the tool for updates can change.
    pub fn updatable(&self) -> Vec<String> {
        let Some(update) = self.group.update else { return Vec::new() };
        let parts = |source: &Source| source.subject.schema["properties"].as_object().cloned().unwrap_or_default();
        let keys = self.group.read.or(self.group.delete).map(required).unwrap_or_default();
        let created = parts(self.group.create);
        parts(update)
            .into_iter()
            .map(|(name, _)| name)
            .filter(|name| created.contains_key(name) && !keys.contains(name))
            .collect()
    }
}

/// The value of an argument that identifies a thing: from its creation or the result of it.
fn identified(name: &str, sent: &Map<String, Value>, shown: &Map<String, Value>) -> Option<Value> {
    let own = plain(name);
    let of = |fields: &Map<String, Value>, wanted: &str| {
        fields
            .iter()
            .find(|(known, value)| plain(known) == wanted && (value.is_string() || value.is_number()))
            .map(|(_, value)| value.clone())
    };
    of(shown, &own).or_else(|| of(sent, &own)).or_else(|| of(shown, "id").filter(|_| own.ends_with("id")))
}

/// Arguments of a tool that identify a thing, if it needs no others.
pub fn named(source: &Source, key: &Map<String, Value>) -> Option<Value> {
    let mut arguments = Map::new();
    for name in required(source) {
        let value = key.iter().find(|(known, _)| plain(known) == plain(&name)).map(|(_, value)| value.clone());
        // Of one key, names may differ: `id` and `note_id`.
        let only = key.values().next().filter(|_| key.len() == 1 && plain(&name).ends_with("id")).cloned();
        arguments.insert(name, value.or(only)?);
    }
    let arguments = Value::from(arguments);
    is_valid(source, &arguments).then_some(arguments)
}

pub fn is_valid(source: &Source, arguments: &Value) -> bool {
    source.of(arguments.clone(), false).is_some_and(|call| call.kind == Kind::Valid)
}

/// Valid arguments with all fields, each with a value that depends on the number where its schema permits that.
pub fn salted_arguments(source: &Source, number: usize) -> Option<Map<String, Value>> {
    let mut arguments = source.plainest()?;
    for name in arguments.as_object()?.keys().cloned().collect::<Vec<_>>() {
        let before = arguments[&name].clone();
        arguments[&name] = salted(&before, number);
        if !is_valid(source, &arguments) {
            arguments[&name] = before;
        }
    }
    arguments.as_object().cloned()
}

/// A value of the same type that depends on the number.
pub fn salted(value: &Value, number: usize) -> Value {
    match value {
        Value::String(_) => json!(format!("{}{number}", texts::of_length(8))),
        Value::Number(own) if own.is_f64() => json!(1_000.5 + f64::from(u32::try_from(number).unwrap_or_default())),
        Value::Number(_) => json!(1_000 + number),
        Value::Bool(_) => json!(number.is_multiple_of(2)),
        Value::Array(items) => {
            let one = items.first().cloned().unwrap_or_default();
            json!([salted(&one, number), salted(&one, number + 1_000)])
        }
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), salted(value, number))).collect::<Map<_, _>>().into()
        }
        Value::Null => Value::Null,
    }
}
