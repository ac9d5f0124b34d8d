//! The JSON Schema of the file, which editors check and complete it with.

use serde_json::{Map, Value, json};

use super::{client, levels};
use crate::{
    evidence::Transport,
    outcome::Level,
    revision::Revision,
    suite::{FACTS, Form},
    target::Limits,
};

pub fn json_schema() -> Value {
    let mut properties = json!({
        "extends": about("Files whose values this one overrides; paths in them start at their own directory", &texts_or_one()),
        "suites": about("Custom suites: files or directories", &texts_or_one()),
        "strict": about("A violated SHOULD fails the run too, like --strict", &flag()),
        "report": about("What is written if --report is not given: human, or FORMAT=PATH", &texts_or_one()),
        "baseline": about("The file of known failures", &text()),
        "targets": about("Servers to test, by name", &each(&target())),
        "clients": about("Clients to test, by name", &each(&client())),
        "limits": about("`mcp-conform docs limits` describes them", &limits()),
        "rules": about("Levels that rules have here in place of their own", &each(&level())),
    });
    extend(&mut properties, known());
    let mut schema = closed(properties);
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    schema["title"] = "mcp-conform.toml".into();
    schema
}

/// The tables of facts, of the file or of a target.
fn known() -> Value {
    let facts = FACTS.iter().filter_map(|(name, form)| Some(((*name).to_owned(), fact(*form)?)));
    json!({
        "facts": about("Facts about the server: each lets more rules be tested", &closed(Value::Object(facts.collect()))),
        "tools": about("Tools that may be called, with these arguments", &each(&call_of())),
        "prompts": about("Prompts that may be used, with these arguments", &each(&call_of())),
    })
}

fn call_of() -> Value {
    closed(json!({ "with": object(), "fails": about("The call fails", &flag()) }))
}

fn fact(form: Form) -> Option<Value> {
    let call = json!({ "tool": text(), "with": object() });
    let change = json!({ "uri": text(), "tool": text(), "with": object(), "command": texts(),
        "http": required(closed(json!({ "method": text(), "url": text(), "body": {} })), &["url"]) });
    Some(match form {
        Form::Text => text(),
        Form::Arguments => each(&each(&texts_or_one())),
        Form::Children => each(&texts()),
        Form::ChangeOfOne => required(closed(change), &["uri"]),
        Form::Change => closed(change),
        Form::ToolCall => required(closed(call), &["tool"]),
        Form::Versions => list(&json!({ "enum": Revision::ALL })),
        Form::Asking => closed(json!({ "completes": texts(), "sealed": texts(), "once": texts() })),
        Form::OutsideRoots => required(
            closed(json!({ "root": text(), "tool": text(), "with": object(), "escape": object() })),
            &["root", "tool"],
        ),
        Form::Call => required(closed(json!({ "tool": text(), "with": object(), "lacks": texts() })), &["tool"]),
        Form::Flag => flag(),
        Form::Elsewhere => return None,
    })
}

fn target() -> Value {
    let own = json!({ "client_id": text(), "client_secret": text(), "scopes": texts(), "token_endpoint": text(),
        "token": text(), "command": texts(), "others": object() });
    let mut properties = json!({
        "stdio": about("The program and its arguments", &texts()),
        "http": about("The URL of a server over Streamable HTTP", &text()),
        "sse": about("The URL of a server over HTTP+SSE, the transport of 2024-11-05", &text()),
        "env": about("Variables of the process; ${NAME} reads the environment, and is never shown", &each(&text())),
        "headers": about("Headers of each request; ${NAME} reads the environment, and is never shown", &each(&text())),
        "auth": about("Where bearer tokens come from: token, command, or an OAuth client", &closed(own)),
        "cwd": about("The working directory of the process", &text()),
        "default": about("Tested if the command line names no target", &flag()),
    });
    extend(&mut properties, known());
    let one_of = ["stdio", "http", "sse"].map(|key| json!({ "required": [key] }));
    let mut schema = closed(properties);
    schema["oneOf"] = one_of.as_slice().into();
    schema
}

fn client() -> Value {
    let actions = client::ACTIONS.map(|action| (action.to_owned(), list(&texts_or_one())));
    let client = closed(json!({
        "command": about("The program and its arguments", &texts()),
        "transport": { "enum": Transport::ALL.map(Transport::as_str) },
        "env": about("Variables of the process; ${NAME} reads the environment, and is never shown", &each(&text())),
        "cwd": about("The working directory of the process", &text()),
        "parallel": about("The maximum number of concurrent processes", &json!({ "type": "integer", "minimum": 1, "maximum": client::MOST_AT_ONCE })),
        "actions": about("The arguments with which a command line client performs an action", &closed(Value::Object(Map::from_iter(actions)))),
    }));
    required(client, &["command"])
}

fn limits() -> Value {
    let limit = json!({ "type": ["number", "string"] });
    closed(Value::Object(Limits::NAMES.iter().map(|name| ((*name).to_owned(), limit.clone())).collect()))
}

fn level() -> Value {
    let level = json!({ "enum": levels::LEVELS.map(Level::word) });
    let reason = json!({ "type": "string", "pattern": "\\S" });
    required(closed(json!({ "level": level, "reason": about("Shown in the report", &reason) })), &levels::KEYS)
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn flag() -> Value {
    json!({ "type": "boolean" })
}

fn object() -> Value {
    json!({ "type": "object" })
}

fn list(of: &Value) -> Value {
    json!({ "type": "array", "items": of })
}

fn texts() -> Value {
    list(&text())
}

fn texts_or_one() -> Value {
    json!({ "anyOf": [text(), texts()] })
}

/// A table with names of the user.
fn each(of: &Value) -> Value {
    json!({ "type": "object", "additionalProperties": of })
}

/// A table with these keys alone.
fn closed(properties: Value) -> Value {
    let schema = [("type", "object".into()), ("properties", properties), ("additionalProperties", false.into())];
    schema.into_iter().collect()
}

fn required(mut schema: Value, keys: &[&str]) -> Value {
    schema["required"] = keys.into();
    schema
}

fn about(description: &str, schema: &Value) -> Value {
    let mut described = json!({ "description": description });
    extend(&mut described, schema.clone());
    described
}

fn extend(object: &mut Value, with: Value) {
    if let (Value::Object(members), Value::Object(with)) = (object, with) {
        members.extend(with);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::{auth, parse, read, target};

    fn keys(schema: &Value) -> Vec<&str> {
        schema["properties"].as_object().expect("properties").keys().map(String::as_str).collect()
    }

    fn sorted<'k>(keys: impl IntoIterator<Item = &'k str>) -> Vec<&'k str> {
        let mut keys: Vec<_> = keys.into_iter().collect();
        keys.sort_unstable();
        keys
    }

    #[test]
    fn the_schema_has_the_keys_that_are_read() {
        let schema = json_schema();
        let table = |name: &str| &schema["properties"][name]["additionalProperties"];
        assert_eq!(sorted(keys(&schema)), sorted(read::KEYS.into_iter().chain(read::KNOWN)));
        assert_eq!(sorted(keys(table("targets"))), sorted(target::KEYS.into_iter().chain(read::KNOWN)));
        assert_eq!(sorted(keys(&table("targets")["properties"]["auth"])), sorted(auth::KEYS));
        assert_eq!(sorted(keys(table("clients"))), sorted(client::KEYS));
        assert_eq!(sorted(keys(table("rules"))), sorted(levels::KEYS));
    }

    #[test]
    fn the_schema_and_the_program_agree_on_files() {
        let validator = jsonschema::validator_for(&json_schema()).expect("a schema");
        let page = include_str!("../../docs/configuration.md");
        let examples = page.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default());
        let wrong = [
            "strikt = true",
            "strict = \"yes\"",
            "[targets.a]\nhtpp = \"http://h\"",
            "[targets.a]\nhttp = \"http://h\"\nsse = \"http://h\"",
            "[facts]\nprefix = 7",
            "[facts.change]\ntool = \"t\"",
            "[facts]\nversions = [\"2025-01-01\"]",
            "[tools.t]\nwiht = {}",
            "[rules.a-rule]\nlevel = \"may\"\nreason = \"none\"",
            "[rules.a-rule]\nlevel = \"should\"",
            "[limits]\nreqest = 3",
            "[clients.c]\nparallel = 3",
        ];
        for (text, good) in examples.map(|text| (text, true)).chain(wrong.map(|text| (text, false))) {
            let value: Value = toml::from_str(text).expect("it is TOML");
            assert_eq!(validator.is_valid(&value), good, "the schema on\n{text}");
            // A file that extends others is read with them.
            if value.get("extends").is_none() {
                assert_eq!(
                    parse(Path::new("mcp-conform.toml"), text.to_owned(), false).is_ok(),
                    good,
                    "the program on\n{text}"
                );
            }
        }
    }
}
