//! The differences between a message as sent and as received.

use serde::Serialize;
use serde_json::{Value, json};

use crate::checks::resources::same_uri;
use conform_model::evidence::{LISTS as KINDS, List, SKILLS};
use conform_suite::push_token;

/// Longer texts are shown by their length and beginning.
const SHOWN: usize = 300;
/// Maximum number of differences per message.
const MOST: usize = 40;
/// Fields of `_meta` that belong to the handshake or the connection. A gateway has its own on each side.
const OWN_META: [&str; 7] = [
    "progressToken",
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientInfo",
    "io.modelcontextprotocol/clientCapabilities",
    "io.modelcontextprotocol/serverInfo",
    "io.modelcontextprotocol/subscriptionId",
    "io.modelcontextprotocol/related-task",
];
/// Objects that mean nothing if they are empty.
const SAY_NOTHING: [&str; 3] = ["_meta", "params", "arguments"];

/// The fields of the contents of a resource. Others are of extensions, which a gateway need not know.
const CONTENTS: [&str; 5] = ["uri", "mimeType", "text", "blob", "_meta"];

/// Lists of what a server has.
pub const LISTS: [&str; 5] = ["tools", "prompts", "resources", "resourceTemplates", "skills"];

#[derive(Debug, Serialize)]
pub struct Difference {
    /// `lost`, `added`, `changed` or `rounded`.
    pub what: &'static str,
    /// The field of the message in which it is, or `_meta`, `inner _meta` or `more`.
    pub part: String,
    pub path: String,
    pub pointer: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub received: Option<Value>,
}

#[derive(Default)]
struct Differences {
    found: Vec<Difference>,
}

/// All differences in the fields of a message except its id. `sent` is what should be received.
pub fn differences(sent: &Value, received: &Value) -> Vec<Difference> {
    let mut all = Differences::default();
    for field in ["params", "result", "error"] {
        let mut pointer = String::new();
        push_token(&mut pointer, field);
        match (sent.get(field), received.get(field)) {
            (Some(sent), Some(received)) => all.compare(sent, received, &pointer),
            (Some(sent), None) => all.lost(sent, &pointer),
            (None, Some(received)) => all.added(received, &pointer),
            (None, None) => {}
        }
    }
    all.found
}

impl Differences {
    fn compare(&mut self, sent: &Value, received: &Value, pointer: &str) {
        match (sent, received) {
            (Value::Object(sent), Value::Object(received)) => {
                for (name, value) in sent {
                    let at = below(pointer, name);
                    match received.get(name) {
                        Some(other) => self.compare(value, other, &at),
                        None => self.lost(value, &at),
                    }
                }
                for (name, value) in received.iter().filter(|(name, _)| !sent.contains_key(*name)) {
                    self.added(value, &below(pointer, name));
                }
            }
            (Value::Array(sent), Value::Array(received)) if list_at(pointer).is_some() => {
                self.compare_listed(sent, received, pointer);
            }
            (Value::Array(sent), Value::Array(received)) if sent.len() == received.len() => {
                for (index, (value, other)) in sent.iter().zip(received).enumerate() {
                    self.compare(value, other, &below(pointer, &index.to_string()));
                }
            }
            _ if same(sent, received) => {}
            // Gateways that join several servers prefix names with that of the server, and remove it from requests.
            (Value::String(sent), Value::String(received)) if is_named(pointer) && is_prefixed(sent, received) => {}
            (Value::String(sent), Value::String(received))
                if name(pointer) == "uri" && same_uri::same(sent, received) => {}
            _ if is_rounded(sent, received) => self.note("rounded", pointer, Some(sent), Some(received)),
            _ => self.note("changed", pointer, Some(sent), Some(received)),
        }
    }

    /// The items of a list have names, so their order means nothing. A gateway may add items of its own.
    fn compare_listed(&mut self, sent: &[Value], received: &[Value], pointer: &str) {
        let Some(list) = list_at(pointer) else { return };
        let mut left: Vec<(usize, &Value)> = received.iter().enumerate().collect();
        for (index, item) in sent.iter().enumerate() {
            let is_equal = |other: &Value| other[list.name] == item[list.name];
            let is_alike = |other: &Value| {
                let names = item[list.name].as_str().zip(other[list.name].as_str());
                list.name == "name" && names.is_some_and(|(one, other)| is_prefixed(one, other))
            };
            let found = left.iter().position(|(_, other)| is_equal(other));
            match found.or_else(|| left.iter().position(|(_, other)| is_alike(other))) {
                Some(found) => {
                    let (place, other) = left.remove(found);
                    self.compare(item, other, &below(pointer, &place.to_string()));
                }
                None => self.lost(item, &below(pointer, &index.to_string())),
            }
        }
        for (place, item) in left.iter().filter(|(_, item)| sent.iter().any(|own| own[list.name] == item[list.name])) {
            self.added(item, &below(pointer, &place.to_string()));
        }
    }

    fn lost(&mut self, sent: &Value, pointer: &str) {
        // In data defined by tools and users, null may be a normal value.
        let is_theirs = ["/params/arguments/", "/result/structuredContent/", "/error/data/"];
        let is_theirs = is_theirs.iter().any(|place| pointer.starts_with(place));
        let says_nothing = (sent.is_null() && !is_theirs)
            || sent.as_object().is_some_and(|object| object.is_empty() && SAY_NOTHING.contains(&name(pointer)))
            || (name(pointer) == "isError" && *sent == Value::Bool(false));
        if says_nothing {
            return;
        }
        // The fields of a lost object are reported one by one, since a rule may be about one of them.
        match sent {
            Value::Object(fields) if matches!(name(pointer), "params" | "_meta") => {
                fields.iter().for_each(|(name, value)| self.lost(value, &below(pointer, name)));
            }
            _ => self.note("lost", pointer, Some(sent), None),
        }
    }

    fn added(&mut self, received: &Value, pointer: &str) {
        let says_nothing = received.is_null()
            || received.as_object().is_some_and(serde_json::Map::is_empty)
            || (name(pointer) == "isError" && *received == Value::Bool(false))
            || pointer.split('/').any(|token| token == "_meta");
        if !says_nothing {
            self.note("added", pointer, None, Some(received));
        }
    }

    fn note(&mut self, what: &'static str, pointer: &str, sent: Option<&Value>, received: Option<&Value>) {
        let tokens: Vec<&str> = pointer.split('/').skip(1).collect();
        let is_own =
            tokens.windows(2).any(|pair| pair[0] == "_meta" && OWN_META.contains(&pair[1].replace("~1", "/").as_str()));
        if is_own || self.found.len() >= MOST {
            return;
        }
        let part = match tokens.as_slice() {
            [_, "_meta", ..] => "_meta",
            rest if rest.contains(&"_meta") => "inner _meta",
            [.., "contents", _, field] | [.., "resource", field] if !CONTENTS.contains(field) => "more",
            [_, part, ..] | [part] => part,
            [] => "",
        };
        let (part, path, pointer) = (part.to_owned(), path(&tokens), pointer.to_owned());
        let (sent, received) = (sent.map(shown), received.map(shown));
        self.found.push(Difference { what, part, path, pointer, sent, received });
    }
}

/// The number of equal values, and of all values.
pub fn similarity(sent: &Value, received: &Value) -> (usize, usize) {
    match (sent, received) {
        (Value::Object(sent), Value::Object(received)) => {
            let shared = sent.iter().map(|(name, value)| match received.get(name) {
                Some(other) => similarity(value, other),
                None => (0, leaves(value)),
            });
            let more =
                received.iter().filter(|(name, _)| !sent.contains_key(*name)).map(|(_, value)| (0, leaves(value)));
            shared.chain(more).fold((0, 0), |(same, all), (more_same, more)| (same + more_same, all + more))
        }
        (Value::Array(sent), Value::Array(received)) if sent.len() == received.len() => sent
            .iter()
            .zip(received)
            .map(|(value, other)| similarity(value, other))
            .fold((0, 0), |(same, all), (more_same, more)| (same + more_same, all + more)),
        _ if same(sent, received) => (1, 1),
        _ => (0, leaves(sent).max(leaves(received)).max(1)),
    }
}

fn leaves(value: &Value) -> usize {
    match value {
        Value::Object(fields) => fields.values().map(leaves).sum(),
        Value::Array(items) => items.iter().map(leaves).sum(),
        _ => 1,
    }
}

/// Numbers are compared by value.
fn same(one: &Value, other: &Value) -> bool {
    if let (Value::Number(one), Value::Number(other)) = (one, other) {
        let whole = |number: &serde_json::Number| number.as_i64().map(i128::from).or(number.as_u64().map(i128::from));
        return match (whole(one), whole(other)) {
            (Some(one), Some(other)) => one == other,
            _ => one.as_f64() == other.as_f64(),
        };
    }
    one == other
}

/// Numbers beyond 2^53, for which RFC 8259 does not expect agreement.
fn is_rounded(sent: &Value, received: &Value) -> bool {
    matches!((sent.as_f64(), received.as_f64()), (Some(sent), Some(received)) if sent.to_bits() == received.to_bits())
}

/// The list whose items are in this array.
fn list_at(pointer: &str) -> Option<&'static List> {
    KINDS.iter().chain([&SKILLS]).find(|list| pointer.strip_prefix("/result/") == Some(list.field))
}

/// Whether one name is the other with a prefix.
fn is_prefixed(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    !short.is_empty() && long.ends_with(short)
}

fn is_named(pointer: &str) -> bool {
    name(pointer) == "name"
        && (pointer == "/params/name"
            || pointer == "/params/ref/name"
            || LISTS.iter().any(|list| pointer.starts_with(&format!("/result/{list}/"))))
}

fn name(pointer: &str) -> &str {
    pointer.rsplit('/').next().unwrap_or_default()
}

fn below(pointer: &str, name: &str) -> String {
    let mut below = pointer.to_owned();
    push_token(&mut below, name);
    below
}

/// The path of a field in a message: `result.content[0].text`.
fn path(tokens: &[&str]) -> String {
    let mut path = String::new();
    for token in tokens {
        let token = token.replace("~1", "/").replace("~0", "~");
        if token.parse::<usize>().is_ok() {
            path += &format!("[{token}]");
        } else if token.contains(['.', '/']) {
            path += &format!("['{token}']");
        } else {
            path += if path.is_empty() { "" } else { "." };
            path += &token;
        }
    }
    path
}

fn shown(value: &Value) -> Value {
    let text = value.to_string();
    if text.len() <= SHOWN {
        return value.clone();
    }
    let beginning: String = text.chars().take(SHOWN / 3).collect();
    let length = match value {
        Value::Array(items) => format!("{} elements", items.len()),
        Value::String(text) => format!("{} bytes", text.len()),
        _ => format!("{} bytes", text.len()),
    };
    json!(format!("{beginning}… ({length})"))
}
