//! The fields of everything that a path of a suite can select, declared once.
//!
//! Users are the lint of paths (`load::members`), the tables in `suites/README.md` and the definitions in
//! `suites/schema.json`. In debug builds the judge compares every item that it shows to rules with these fields.

mod declared;
mod value_type;

use std::fmt::{self, Write};

use serde_json::{Map, Value, json};

pub use declared::*;
pub use value_type::ValueType;

use conform_model::evidence::Side;

/// The fields of one kind of value. One can be part of itself.
pub struct View {
    /// The noun for messages: "an exchange".
    pub called: &'static str,
    pub about: &'static str,
    pub fields: &'static [Field],
}

pub struct Field {
    pub name: &'static str,
    pub about: &'static str,
    pub holds: Holds,
}

/// The type of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Holds {
    /// Text, a number, or data from the server.
    Anything,
    /// A list of such values.
    List,
    One(&'static View),
    Many(&'static View),
}

impl PartialEq for View {
    fn eq(&self, other: &Self) -> bool {
        self.called == other.called
    }
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.called)
    }
}

impl View {
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// An undeclared field in the value.
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

/// A name, and the type of its items.
type Named = (&'static str, &'static View);

/// The streamed names in suites about servers, with the type of their items.
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

/// Names that only generated calls fill.
pub const GENERATED_ONLY: [&str; 3] = ["calls", "growth", "sequences"];

/// The streamed names in suites about clients.
const STREAMED_OF_CLIENT: [Named; 9] = [
    ("transcript", &FRAME),
    ("exchanges", &EXCHANGE),
    ("sent", &SENT),
    ("handled", &HANDLED),
    ("inputs", &INPUT),
    ("served", &SERVED),
    ("posts", &POST),
    ("lists", &PAGES),
    ("tasks", &TASK),
];

/// The streamed names in suites about gateways.
const STREAMED_OF_GATEWAY: [Named; 3] = [("transcript", &FRAME), ("passed", &PASSED), ("upstream", &UPSTREAM)];

/// What is known of each start of a client besides its messages.
pub const OF_CLIENT: [Named; 7] = [
    ("actions", &ACTION),
    ("runs", &START),
    ("spawns", &SPAWN),
    ("requests", &OAUTH_REQUEST),
    ("logins", &LOGIN),
    ("tokens", &TOKEN_REQUEST),
    ("opened", &OPENED),
];

/// What the rules of profiles see besides: the schemas of tools.
pub const OF_PROFILE: [Named; 1] = [("schemas", &SCHEMA)];

/// The streamed names, by the side that a suite judges.
pub fn streamed(subject: Side) -> &'static [Named] {
    match subject {
        Side::Server => &STREAMED,
        Side::Client => &STREAMED_OF_CLIENT,
        Side::Gateway => &STREAMED_OF_GATEWAY,
        Side::AuthorizationServer => &[],
    }
}

/// Other documented types: parts of those above, and what steps save.
const OTHERS: [&View; 23] = [
    &SCHEMA,
    &SCHEMA_TOTAL,
    &DIFFERENCE,
    &OTHER_RESULT,
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
    &VISIT,
    &NODE_LIST,
];

/// An undeclared field in an item of a streamed name.
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
