//! The fields of everything that a path of a suite can lead into, declared once.
//!
//! From here come the lint of paths (`load::members`), the tables in `suites/README.md` and the definitions in
//! `suites/schema.json`. In debug builds the judge compares with it every item that it shows to rules.

mod declared;

use std::fmt::Write;

use serde_json::{Map, Value, json};

pub use declared::*;

use crate::evidence::Side;

/// What one value consists of.
#[derive(Debug, PartialEq)]
pub struct View {
    /// As a message says it: "an exchange".
    pub called: &'static str,
    pub about: &'static str,
    pub fields: &'static [Field],
}

#[derive(Debug, PartialEq)]
pub struct Field {
    pub name: &'static str,
    pub about: &'static str,
    pub holds: Holds,
}

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Holds {
    /// Text, a number, or what the server sent.
    Anything,
    /// A list of that.
    List,
    One(&'static View),
    Many(&'static View),
}

impl View {
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// A field of the value that is not declared.
    pub fn undeclared<'v>(&self, value: &'v Value) -> Option<&'v String> {
        value.as_object()?.iter().find_map(|(name, inner)| match self.field(name) {
            None => Some(name),
            Some(Field { holds: Holds::One(view), .. }) => view.undeclared(inner),
            Some(Field { holds: Holds::Many(view), .. }) => {
                inner.as_array()?.iter().find_map(|item| view.undeclared(item))
            }
            Some(_) => None,
        })
    }
}

/// What a name stands for, item by item.
type Named = (&'static str, &'static View);

/// The names whose items pass by one at a time in suites about servers, with what an item consists of.
const STREAMED: [Named; 8] = [
    ("transcript", &FRAME),
    ("messages", &MESSAGE),
    ("exchanges", &EXCHANGE),
    ("streams", &STREAM),
    ("asked", &ASKED),
    ("calls", &GENERATED),
    ("growth", &GROWTH),
    ("sequences", &SEQUENCE),
];

/// Those that only generated calls bring about.
pub const GENERATED_ONLY: [&str; 3] = ["calls", "growth", "sequences"];

/// Those of suites about clients.
const STREAMED_OF_CLIENT: [Named; 8] = [
    ("transcript", &FRAME),
    ("exchanges", &EXCHANGE),
    ("sent", &SENT),
    ("handled", &HANDLED),
    ("inputs", &INPUT),
    ("served", &SERVED),
    ("posts", &POST),
    ("lists", &PAGES),
];

/// Those of suites about gateways.
const STREAMED_OF_GATEWAY: [Named; 3] = [("transcript", &FRAME), ("passed", &PASSED), ("upstream", &UPSTREAM)];

/// What is known of each start of a client besides its messages.
pub const OF_CLIENT: [Named; 3] = [("actions", &ACTION), ("runs", &START), ("spawns", &SPAWN)];

/// The names whose items pass by one at a time, by whom a suite judges.
pub fn streamed(subject: Side) -> &'static [Named] {
    match subject {
        Side::Server => &STREAMED,
        Side::Client => &STREAMED_OF_CLIENT,
        Side::Gateway => &STREAMED_OF_GATEWAY,
    }
}

/// What is described besides: what those consist of, and what steps save.
const OTHERS: [&View; 18] = [
    &DIFFERENCE,
    &INSIDE,
    &POST_HEAD,
    &ORIGIN,
    &HTTP,
    &EVENT,
    &EVENT_HEAD,
    &REQUEST_HEAD,
    &RESPONSE_HEAD,
    &SURVEY,
    &READ,
    &REPLY,
    &CONTROL,
    &LIST,
    &AWAIT,
    &CHANGE,
    &WALK,
    &WALK_LIMITS,
];

/// A field that the item of a streamed name has and that is not declared.
pub fn undeclared<'v>(root: &str, item: &'v Value) -> Option<&'v String> {
    let all = STREAMED_OF_CLIENT.into_iter().chain(STREAMED).chain(STREAMED_OF_GATEWAY);
    all.into_iter().find(|(name, _)| *name == root)?.1.undeclared(item)
}

fn all() -> impl Iterator<Item = &'static View> {
    let of_client = STREAMED_OF_CLIENT.into_iter().skip(2).chain(OF_CLIENT);
    let of_gateway = STREAMED_OF_GATEWAY.into_iter().skip(1);
    STREAMED.into_iter().chain(of_client).chain(of_gateway).map(|(_, view)| view).chain(OTHERS)
}

/// The tables of `suites/README.md`.
pub fn tables() -> String {
    let mut page = String::new();
    for view in all() {
        let _ = writeln!(page, "\n{}\n\n| field | |\n| --- | --- |", view.about.trim());
        for field in view.fields {
            let _ = writeln!(page, "| `{}` | {} |", field.name, field.about.trim());
        }
    }
    page
}

/// Definitions for `suites/schema.json`, by name.
pub fn definitions() -> Map<String, Value> {
    let reference = |view: &View| json!({ "$ref": format!("#/definitions/{}", key(view)) });
    let property = |field: &Field| {
        let mut schema = match field.holds {
            Holds::Anything => json!({}),
            Holds::List => json!({ "type": "array" }),
            Holds::One(view) => json!({ "allOf": [reference(view)] }),
            Holds::Many(view) => json!({ "type": "array", "items": reference(view) }),
        };
        schema["description"] = field.about.trim().into();
        (field.name.to_owned(), schema)
    };
    let definition = |view: &View| {
        let properties: Map<String, Value> = view.fields.iter().map(property).collect();
        json!({ "description": view.about.trim(), "properties": properties, "additionalProperties": false })
    };
    all().map(|view| (key(view), definition(view))).collect()
}

fn key(view: &View) -> String {
    view.called.replace(' ', "-")
}
