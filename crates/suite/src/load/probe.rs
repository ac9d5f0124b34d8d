//! Probes: requests that are wrong or unusual on purpose, in what they declare and in nothing else.
//!
//! A rule about the response to a probe is wrong if the request also deviates by accident. So a step is compared with a
//! complete message of each revision, and every difference must be declared.

use serde_json::{Value, json};

use super::{
    Origin,
    lint::Lint,
    message::{HEADERS, Message, NAME, inner},
    window::Window,
};
use crate::{
    decode::{self, Decode},
    file,
    model::{Deviates, Payload, Template, Verb},
};
use conform_model::{
    evidence::{PARTS, Part},
    revision::Revision,
};
use conform_source::{
    diagnostic::suggestion,
    yaml::{At, Position, Tree, Yaml},
};

/// The fields that a step may write in a message. The others are filled in.
const MESSAGE: [&str; 5] = ["id", "method", "params", "result", "error"];
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// The keys that the specification defines for `_meta` of a request.
const USUAL_META: [&str; 5] = [
    "progressToken",
    "io.modelcontextprotocol/clientCapabilities",
    "io.modelcontextprotocol/clientInfo",
    "io.modelcontextprotocol/logLevel",
    VERSION,
];
const RAW: &str = "raw input may lack any part";

impl Lint<'_> {
    /// Parses `deviates` of a step.
    pub fn deviates(&mut self, tree: &Tree) -> Option<Deviates> {
        match &tree.value {
            Yaml::String(word) if *word == "message" => Some(Deviates::Message),
            Yaml::Map(_) => {
                let typed = file::Deviation::decode(tree, self.problems)?;
                if typed.typed.keys.is_empty() {
                    self.problems.add(tree.at, "`deviates` names no part");
                }
                let without = typed.without.and_then(|without| self.template(&without));
                let pairs = typed.with.map(|with| with.0).into_iter().flatten();
                let with = pairs.filter_map(|(part, value)| self.text(&part).zip(self.template(&value))).collect();
                Some(Deviates::Parts { without, with })
            }
            _ => decode::wrong(tree, "`message` or `{ without: ..., with: ... }`", self.problems),
        }
    }

    /// Checks that the message deviates from a complete one in everything it declares, and in nothing else.
    pub fn probe(&mut self, at: Position, verb: &Verb, deviates: Option<&Deviates>, window: Window) {
        let message = match verb {
            Verb::Call(call) => Message { method: Some(&call.method), params: call.with.as_ref(), ..Message::of(verb) },
            Verb::Notify(notify) => Message { params: notify.with.as_ref(), ..Message::of(verb) },
            Verb::Send(send) => {
                if !self.payload_is_declared(at, &send.payload, deviates) {
                    return;
                }
                let (Payload::Message(message) | Payload::Lines(message)) = &send.payload else { return };
                self.messages(at, message);
                Message { whole: Some(message), ..Message::of(verb) }
            }
            Verb::Http(http) => {
                if http.body.as_ref().is_some_and(|body| self.values_of(body, window.until).iter().any(is_message)) {
                    let help = "write it under `jsonrpc`, and the deviation under `deviates`".to_owned();
                    self.problems.add_with(at, format!("{RAW}: this body is a JSON-RPC message"), help);
                    return;
                }
                let Some(message) = &http.message else {
                    if deviates.is_some_and(|deviates| *deviates != Deviates::Message) {
                        self.problems.add(at, "`deviates` needs a message to deviate from, under `jsonrpc`");
                    }
                    return;
                };
                self.messages(at, message);
                for (name, value) in &http.headers {
                    self.header(at, name, value);
                }
                Message { whole: Some(message), ..Message::of(verb) }
            }
            _ => return,
        };
        self.undeclared_version(at, &message, window);
        match deviates {
            Some(Deviates::Message) => {
                let help = "name the parts: `deviates: { without: [clientInfo] }`".to_owned();
                self.problems.add_with(at, "this is a JSON-RPC message with missing parts", help);
            }
            Some(Deviates::Parts { without, with }) => {
                for revision in Revision::ALL.into_iter().filter(|one| window.since <= *one && *one <= window.until) {
                    let unknown = without.iter().any(|names| !self.left_out(at, names, &message, revision));
                    if unknown || with.iter().any(|(part, _)| !self.may_be_changed(at, part, &message)) {
                        return;
                    }
                }
                for (part, value) in with {
                    self.differs(at, part, value, &message, window);
                }
            }
            None => {}
        }
    }

    /// Checks that the request has what `despite` names. In built-in suites it must name what is valid but unusual: a
    /// server that rejects the request without it, too, has another defect.
    pub fn despite(&mut self, at: Position, verb: &Verb, deviates: bool, names: &[At<String>]) {
        let (params, headers) = match verb {
            Verb::Call(call) => (call.with.clone(), Vec::new()),
            Verb::Http(http) => {
                let params = http.message.as_ref().and_then(|message| inner(message, &["params"]));
                let written = http.headers.iter().map(|(name, _)| name);
                (params, written.filter_map(|name| Some(literal(name)?.to_owned())).collect())
            }
            _ => return,
        };
        let fields = params.as_ref().map(fields).unwrap_or_default();
        for name in names {
            if !fields.contains(&name.value) && !headers.iter().any(|header| header.eq_ignore_ascii_case(&name.value)) {
                let help = suggestion(&name.value, fields.iter().chain(&headers).map(String::as_str));
                self.problems.add_with(name.at, format!("the request has no param or header `{}`", name.value), help);
            }
        }
        if self.origin != Origin::BuiltIn || deviates || !names.is_empty() {
            return;
        }
        let meta = params.as_ref().and_then(|params| inner(params, &["_meta"])).map(|meta| self::fields(&meta));
        let key = meta.into_iter().flatten().find(|key| !USUAL_META.contains(&key.as_str()));
        let resumes = matches!(verb, Verb::Http(http) if http.message.is_some());
        let header = headers.into_iter().find(|name| resumes && name.eq_ignore_ascii_case("Last-Event-ID"));
        if let Some(unusual) = key.map(|_| "_meta".to_owned()).or(header) {
            let help = format!("write `despite: {unusual}`: the same request without it is sent first");
            self.problems.add_with(at, format!("`{unusual}` is unusual here, and the request has no control"), help);
        }
    }

    fn payload_is_declared(&mut self, at: Position, payload: &Payload, deviates: Option<&Deviates>) -> bool {
        let text = |template: &Template| match template {
            Template::Literal(Value::String(text)) => text.lines().map(serde_json::from_str).collect(),
            _ => Ok(Vec::new()),
        };
        let messages: Vec<Value> = match payload {
            Payload::Message(_) | Payload::Lines(_) => return true,
            Payload::Text(template) => text(template).unwrap_or_default(),
            Payload::Json(Template::Literal(value)) => vec![value.clone()],
            Payload::Json(Template::Object(members)) => vec![members.iter().map(|(name, _)| (name, 0)).collect()],
            Payload::Json(_) | Payload::Bytes(_) => Vec::new(),
        };
        if messages.iter().any(is_message) {
            let help = "write it under `jsonrpc` or `lines`, and the deviation under `deviates`".to_owned();
            self.problems.add_with(at, format!("{RAW}: this is a JSON-RPC message"), help);
        } else if deviates != Some(&Deviates::Message) {
            let help = "write a message under `jsonrpc`; if this is not a message, add `deviates: message`".to_owned();
            self.problems.add_with(at, RAW, help);
        }
        false
    }

    /// Checks that a message, or each of a list, has only fields that a suite may write.
    fn messages(&mut self, at: Position, message: &Template) {
        let names: Vec<String> = match message {
            Template::Array(messages) => return messages.iter().for_each(|message| self.messages(at, message)),
            Template::Literal(Value::Array(messages)) => {
                return messages.iter().for_each(|one| self.messages(at, &Template::Literal(one.clone())));
            }
            Template::Object(members) => members.iter().map(|(name, _)| name.clone()).collect(),
            Template::Literal(Value::Object(members)) => members.keys().cloned().collect(),
            Template::Reference(_) => return,
            Template::Literal(_) | Template::Made(..) => {
                self.problems.add(at, "write a message as `{ id, method, params }`");
                return;
            }
        };
        if !["method", "result", "error"].iter().any(|kind| names.iter().any(|name| name == kind)) {
            let help = "to leave out the method, write `deviates: { without: method }`".to_owned();
            self.problems.add_with(at, "a message needs a `method`, unless it is a response", help);
        }
        for name in names.iter().filter(|name| !MESSAGE.contains(&name.as_str())) {
            let message = format!("`{name}` is added automatically, or is not part of a message");
            let help = format!("to change it, write `deviates: {{ with: {{ {name}: ... }} }}`");
            self.problems.add_with(at, message, help);
        }
    }

    /// Reports headers that a complete request has anyway, and undeclared deviations from them.
    fn header(&mut self, at: Position, name: &Template, value: &Template) {
        let Template::Literal(Value::String(name)) = name else { return };
        let usual = HEADERS.iter().chain([&NAME]).find(|usual| usual.eq_ignore_ascii_case(name));
        // Another session or user addresses the request, and is not a deviation.
        let is_address =
            matches!(usual, Some(&("Mcp-Session-Id" | "Authorization"))) && matches!(value, Template::Reference(_));
        if let Some(usual) = usual.filter(|_| !is_address) {
            let help = format!("write `deviates: {{ with: {{ {usual}: ... }} }}`, and its control is sent too");
            self.problems.add_with(at, format!("`{usual}` is added automatically"), help);
        }
    }

    /// A request in another revision than the current one must declare that.
    fn undeclared_version(&mut self, at: Position, message: &Message, window: Window) {
        let params = message.params();
        let version = params.iter().find_map(|params| match message.method() == Some("initialize") {
            true => inner(params, &["protocolVersion"]),
            false => inner(params, &["_meta", VERSION]),
        });
        let Some(version) = version else { return };
        let values = self.values_of(&version, window.until);
        let spoken = |value: &Value| {
            let known = value.as_str().and_then(|text| text.parse::<Revision>().ok());
            known.is_some_and(|known| !known.is_modern() || message.method() != Some("initialize"))
        };
        if message.method() != Some("initialize") || values.iter().any(|value| !spoken(value)) {
            let help = "write `deviates: { with: { protocolVersion: ... } }`, and its control is sent too".to_owned();
            self.problems.add_with(at, "`protocolVersion` is added automatically", help);
        }
    }

    /// Whether all names are parts of a complete message. Reports those that are not.
    fn left_out(&mut self, at: Position, names: &Template, message: &Message, revision: Revision) -> bool {
        for name in self.values_of(names, revision).iter().flat_map(|names| match names {
            Value::Array(names) => names.clone(),
            one => vec![one.clone()],
        }) {
            let Some(name) = name.as_str() else {
                self.problems.add(at, "`without` takes the name of a part, or a list of names");
                return false;
            };
            if !self.may_be_changed(at, &Template::Literal(json!(name)), message) {
                return false;
            }
            if !message.has(&Part::named(name), revision) {
                let of = message.method().map(|method| format!(" `{method}`")).unwrap_or_default();
                self.problems.add(at, format!("in {revision} a complete{of} message has no `{name}`"));
                return false;
            }
        }
        true
    }

    /// Whether the name is a part of a message that this verb can change.
    fn may_be_changed(&mut self, at: Position, part: &Template, message: &Message) -> bool {
        let Template::Literal(Value::String(name)) = part else { return true };
        let part = Part::named(name);
        if matches!(part, Part::Header(_)) && !name.starts_with(|first: char| first.is_ascii_uppercase()) {
            let known = PARTS.iter().map(|(known, _)| *known).chain(HEADERS);
            let help = suggestion(name, known);
            self.problems.add_with(at, format!("`{name}` is neither a part of a message nor a header"), help);
            return false;
        }
        let fixed = matches!(part, Part::Jsonrpc | Part::Id | Part::Method) && message.is_awaited;
        // A `call` can only change headers that repeat fields of the message.
        let out_of_reach = message.verb == "call" && !name.to_ascii_lowercase().starts_with("mcp-");
        if fixed || (matches!(part, Part::Header(_)) && (!message.has_headers || out_of_reach)) {
            self.problems.add(at, format!("`{}` cannot change `{name}`", message.verb));
            return false;
        }
        true
    }

    /// Reports a declared value that equals the usual one.
    fn differs(&mut self, at: Position, part: &Template, value: &Template, message: &Message, window: Window) {
        let Template::Literal(Value::String(name)) = part else { return };
        let revisions = Revision::ALL.into_iter().filter(|one| window.since <= *one && *one <= window.until);
        let is_usual = |revision: Revision| {
            let usual = message.usual(&Part::named(name), revision);
            let values = self.values_of(value, revision);
            usual.is_some() && !values.is_empty() && values.iter().all(|value| Some(value) == usual.as_ref())
        };
        if revisions.map(is_usual).reduce(|all, one| all && one) == Some(true) {
            self.problems.add(at, format!("a complete message has the same `{name}`, so this is not a deviation"));
        }
    }

    /// The values that a template can have, as far as the suite determines them.
    fn values_of(&self, template: &Template, revision: Revision) -> Vec<Value> {
        let in_rows = |path: &crate::Path| {
            let rows = self.rows.iter().filter(|(_, since, until, _)| {
                since.is_none_or(|since| since <= revision) && until.is_none_or(|until| revision <= until)
            });
            let values: Value = rows.map(|(name, _, _, is)| (name.clone(), is.clone())).collect();
            path.values_in(&values).into_iter().cloned().collect::<Vec<_>>()
        };
        match template {
            Template::Literal(value) => vec![value.clone()],
            Template::Reference(path) if path.root == "values" => in_rows(path),
            Template::Reference(path) if path.root == "revision" => vec![json!(revision)],
            Template::Reference(path) => {
                let of = |(name, items): &(String, Vec<Value>)| (*name == path.root).then(|| items.clone());
                let items = self.loops.iter().find_map(of).unwrap_or_default();
                items.iter().flat_map(|item| path.values_in(item)).cloned().collect()
            }
            Template::Object(members) => vec![members.iter().map(|(name, _)| (name.clone(), Value::Null)).collect()],
            Template::Array(items) => items.iter().flat_map(|item| self.values_of(item, revision)).collect(),
            Template::Made(..) => Vec::new(),
        }
    }
}

fn literal(template: &Template) -> Option<&str> {
    match template {
        Template::Literal(value) => value.as_str(),
        _ => None,
    }
}

/// The names of the fields of an object, as far as the suite determines them.
fn fields(object: &Template) -> Vec<String> {
    match object {
        Template::Object(fields) => fields.iter().map(|(name, _)| name.clone()).collect(),
        Template::Literal(Value::Object(fields)) => fields.keys().cloned().collect(),
        _ => Vec::new(),
    }
}

fn is_message(value: &Value) -> bool {
    value.get("jsonrpc").or_else(|| value.get("method")).is_some()
}
