//! Everything that can be called with generated values: tools, prompts, resource templates, completions and lists.

use iri_string::template::simple_context::Value as Filling;
use serde::Serialize;
use serde_json::{Map, Value, json};

use conform_suite::format;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    Tool,
    Prompt,
    Template,
    Completion,
    List,
}

impl What {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Template => "template",
            Self::Completion => "completion",
            Self::List => "list",
        }
    }
}

impl What {
    /// Whether arguments can violate what the server publishes: variables of templates are only texts, and so are cursors
    /// and values to complete.
    pub const fn has_schema(self) -> bool {
        matches!(self, Self::Tool | Self::Prompt)
    }
}

/// A subject, as the server lists it.
#[derive(Clone, Debug)]
pub struct Subject {
    pub what: What,
    /// Its name in options.
    pub name: String,
    /// The schema of its arguments.
    pub schema: Value,
    pub listed: Value,
}

/// The arguments of a prompt and the variables of a template are strings.
fn texts<'a>(names: impl Iterator<Item = (&'a str, bool)>) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (name, needed) in names {
        properties.insert(name.to_owned(), json!({ "type": "string" }));
        required.extend(needed.then(|| name.to_owned()));
    }
    json!({ "type": "object", "properties": properties, "required": required })
}

impl Subject {
    pub fn tool(listed: &Value) -> Option<Self> {
        let schema = listed.get("inputSchema").filter(|schema| schema.is_object())?.clone();
        Some(Self { what: What::Tool, name: listed["name"].as_str()?.to_owned(), schema, listed: listed.clone() })
    }

    pub fn prompt(listed: &Value) -> Option<Self> {
        let arguments = listed["arguments"].as_array().into_iter().flatten();
        let named = arguments.filter_map(|argument| Some((argument["name"].as_str()?, argument["required"] == true)));
        let schema = texts(named);
        Some(Self { what: What::Prompt, name: listed["name"].as_str()?.to_owned(), schema, listed: listed.clone() })
    }

    pub fn template(listed: &Value) -> Option<Self> {
        let text = listed["uriTemplate"].as_str()?;
        let variables: Vec<String> =
            format::template(text)?.variables().map(|variable| variable.as_str().to_owned()).collect();
        let schema = texts(variables.iter().map(|name| (name.as_str(), true)));
        (!variables.is_empty()).then(|| Self {
            what: What::Template,
            name: text.to_owned(),
            schema,
            listed: listed.clone(),
        })
    }

    /// Whether the server lists a tool with this annotation.
    pub fn has_hint(&self, hint: &str) -> bool {
        self.listed["annotations"][hint] == true
    }

    /// The completion of each argument of a prompt, or of each variable of a template.
    pub fn completions(&self) -> Vec<Self> {
        let reference = match self.what {
            What::Prompt => json!({ "type": "ref/prompt", "name": self.name }),
            What::Template => json!({ "type": "ref/resource", "uri": self.name }),
            _ => return Vec::new(),
        };
        let names = self.schema["properties"].as_object().into_iter().flat_map(Map::keys);
        let one = |name: &String| Self {
            what: What::Completion,
            name: format!("{} {name}", self.name),
            schema: texts(["value"].map(|value| (value, true)).into_iter()),
            listed: json!({ "ref": reference, "argument": name }),
        };
        names.map(one).collect()
    }

    /// A request for a list with a cursor.
    pub fn list(method: &str) -> Self {
        let schema = texts(["cursor"].map(|cursor| (cursor, true)).into_iter());
        Self { what: What::List, name: method.to_owned(), schema, listed: json!({}) }
    }

    /// The request with these arguments; `None` if they cannot be sent.
    pub fn request(&self, arguments: &Value) -> Option<(String, Value)> {
        let request = |method: &str, params: Value| Some((method.to_owned(), params));
        match self.what {
            What::Tool => request("tools/call", json!({ "name": self.name, "arguments": arguments })),
            What::Prompt => request("prompts/get", json!({ "name": self.name, "arguments": arguments })),
            What::Template => request("resources/read", json!({ "uri": expanded(&self.name, arguments)? })),
            What::Completion => {
                let argument = json!({ "name": self.listed["argument"], "value": arguments["value"] });
                request("completion/complete", json!({ "ref": self.listed["ref"], "argument": argument }))
            }
            What::List => request(&self.name, arguments.clone()),
        }
    }
}

fn expanded(template: &str, values: &Value) -> Option<String> {
    let values = values.as_object()?;
    if !values.values().all(Value::is_string) {
        return None;
    }
    let texts =
        values.iter().filter_map(|(name, value)| Some((name.as_str(), Filling::String(value.as_str()?.to_owned()))));
    format::expanded(template, texts)
}
