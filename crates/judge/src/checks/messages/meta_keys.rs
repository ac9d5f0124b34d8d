//! The keys of every `_meta` in a message, checked against the part of the grammar that a rule is about.
//!
//! Data of the server's own (structured content, schemas, arguments) is skipped: a `_meta` there is not the protocol's.

use serde_json::Value;

use crate::checks::{Check, Fault, Given, Report};

use conform_model::revision::Revision;
use conform_suite::push_token;

pub const CHECK: Check =
    Check { name: "meta-keys", given: &["message?", "object?", "extensions?", "prefix?", "part"], run };

/// Fields with application data.
const FOREIGN: [&str; 7] =
    ["structuredContent", "inputSchema", "outputSchema", "arguments", "metadata", "data", "requestedSchema"];

/// Names that the protocol, or an official extension, defines under its prefix.
const DEFINED: [&str; 12] = [
    "protocolVersion",
    "clientInfo",
    "clientCapabilities",
    "serverInfo",
    "logLevel",
    "subscriptionId",
    "related-task",
    "model-immediate-response",
    "tasks",
    "ui",
    "skills",
    "progressToken",
];

fn run(given: &Given) -> Report {
    let judge = |key: &str| match given.text("part") {
        "prefix" => prefix(key),
        "name" => own_name(key),
        "syntax" => prefix(key).or_else(|| own_name(key)),
        "extension" => {
            prefix(key).or_else(|| own_name(key)).or_else(|| (!key.contains('/')).then(|| "has no prefix".to_owned()))
        }
        // An extension that the server declares may use its name as a key.
        "reserved" if given.value("extensions").get(key).is_some() => None,
        "reserved" if has_prefix_of(given.value("extensions"), key) => None,
        "begins" => key.starts_with(given.text("prefix")).then(|| format!("begins with {}", given.text("prefix"))),
        "bare" => (!key.contains('/')).then(|| "has no prefix".to_owned()),
        "reserved" => reserved(key, given.revision),
        "reverse-dns" => forward_dns(key),
        _ => None,
    };
    let object = given.value("object");
    let name = if object.is_object() { "object" } else { "message" };
    let mut report = Report::default();
    let mut look = |key: &str, path: &[Token]| {
        report.checked += usize::from(is_meant(key, given.text("part"), given.revision));
        report.faults.extend(judge(key).map(|wrong| Fault {
            given: name,
            pointer: pointer(path, key),
            message: format!("the key \"{key}\" {wrong}"),
            received: Some(key.into()),
            ..Fault::default()
        }));
    };
    if object.is_object() {
        keys(object, &[], &mut look);
    } else {
        find(given.value("message"), &mut Vec::new(), &mut look);
    }
    report
}

/// Whether that part of the grammar applies to the key.
fn is_meant(key: &str, part: &str, revision: Revision) -> bool {
    match part {
        "prefix" => key.contains('/'),
        "reverse-dns" => key.contains('/') && !is_reserved(key, revision),
        _ => true,
    }
}

/// One step of the path to a `_meta`. The path is written out only for findings, since most messages have none.
enum Token<'v> {
    Name(&'v str),
    Index(usize),
}

fn find<'v>(value: &'v Value, path: &mut Vec<Token<'v>>, look: &mut dyn FnMut(&str, &[Token])) {
    match value {
        Value::Object(members) => {
            let ours =
                |name: &str, member: &Value| (member.is_object() || member.is_array()) && !FOREIGN.contains(&name);
            for (name, member) in members.iter().filter(|(name, member)| ours(name, member)) {
                path.push(Token::Name(name));
                if name == "_meta" {
                    keys(member, path, look);
                } else {
                    find(member, path, look);
                }
                path.pop();
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push(Token::Index(index));
                find(item, path, look);
                path.pop();
            }
        }
        _ => {}
    }
}

fn keys(meta: &Value, path: &[Token], look: &mut dyn FnMut(&str, &[Token])) {
    meta.as_object().into_iter().flatten().for_each(|(key, _)| look(key, path));
}

fn pointer(path: &[Token], key: &str) -> String {
    let mut pointer = String::new();
    for token in path {
        match token {
            Token::Name(name) => push_token(&mut pointer, name),
            Token::Index(index) => push_token(&mut pointer, &index.to_string()),
        }
    }
    push_token(&mut pointer, key);
    pointer
}

/// The labels before the slash, if there is one.
fn labels(key: &str) -> Option<Vec<&str>> {
    key.rsplit_once('/').map(|(prefix, _)| prefix.split('.').collect())
}

fn prefix(key: &str) -> Option<String> {
    let wrong = labels(key)?.into_iter().find(|label| {
        let inside = |c: char| c.is_ascii_alphanumeric() || c == '-';
        !(label.starts_with(|c: char| c.is_ascii_alphabetic())
            && label.ends_with(|c: char| c.is_ascii_alphanumeric())
            && label.chars().all(inside))
    })?;
    Some(format!("has the prefix label \"{wrong}\"; a label is a letter, then letters, digits and hyphens"))
}

fn own_name(key: &str) -> Option<String> {
    let name = key.rsplit_once('/').map_or(key, |(_, name)| name);
    let edge = |c: char| c.is_ascii_alphanumeric();
    let inside = |c: char| edge(c) || matches!(c, '-' | '_' | '.');
    let right = name.is_empty() || (name.starts_with(edge) && name.ends_with(edge) && name.chars().all(inside));
    (!right).then(|| "has a name that does not start and end with a letter or digit, or has invalid characters".into())
}

/// Whether the prefix is that of an extension: `com.example.feature/` of `com.example/feature`.
fn has_prefix_of(extensions: &Value, key: &str) -> bool {
    let prefix = key.rsplit_once('/').map_or("", |(prefix, _)| prefix);
    extensions.as_object().into_iter().flatten().any(|(id, _)| id.replace('/', ".") == prefix)
}

/// Whether its prefix is reserved for the protocol.
pub(super) fn is_reserved(key: &str, revision: Revision) -> bool {
    let Some(labels) = labels(key) else { return false };
    let ours = |label: &&str| matches!(*label, "mcp" | "modelcontextprotocol");
    if revision.features().reserved_second_label {
        labels.get(1).is_some_and(ours)
    } else {
        labels.len() > 1 && labels.iter().rev().nth(1).is_some_and(ours)
    }
}

fn reserved(key: &str, revision: Revision) -> Option<String> {
    let name = key.rsplit_once('/').map_or(key, |(_, name)| name);
    (is_reserved(key, revision) && !DEFINED.contains(&name)).then(|| "has a prefix that is reserved for MCP".into())
}

/// Reports a prefix that ends like a host name and does not start like a reversed one.
pub(super) fn forward_dns(key: &str) -> Option<String> {
    const ENDINGS: [&str; 8] = ["com", "org", "net", "io", "dev", "ai", "app", "cloud"];
    let labels = labels(key)?;
    let (first, last) = (labels.first()?, labels.last()?);
    let forward = labels.len() > 1 && ENDINGS.contains(last) && !ENDINGS.contains(first);
    forward.then(|| "has a prefix in the order of a host name, expected reverse DNS order".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_of_keys() {
        for fine in [
            "progressToken",
            "com.example/key",
            "a/",
            "traceparent",
            "io.modelcontextprotocol/related-task",
            "x-1.y/z_2.a",
        ] {
            assert_eq!(prefix(fine).or_else(|| own_name(fine)), None, "{fine}");
        }
        for wrong in ["/x", "-acme/x", "acme..com/x", "https://acme.example/trace", "1a/x"] {
            assert!(prefix(wrong).is_some(), "{wrong}");
        }
        for wrong in ["_private", "trace id", "com.acme/$x", "com.example/-hidden"] {
            assert!(own_name(wrong).is_some(), "{wrong}");
        }
    }

    #[test]
    fn reserved_is_another_label_before_2025_11_25() {
        assert!(reserved("io.modelcontextprotocol/mine", Revision::V2025_11_25).is_some());
        assert!(reserved("com.mcp.tools/x", Revision::V2026_07_28).is_some());
        assert!(reserved("com.example.mcp/x", Revision::V2026_07_28).is_none());
        assert!(reserved("mcp.dev/x", Revision::V2025_06_18).is_some());
        assert!(reserved("mcp.dev/x", Revision::V2025_11_25).is_none());
        assert!(reserved("io.modelcontextprotocol/serverInfo", Revision::V2026_07_28).is_none());
    }

    #[test]
    fn an_extension_has_a_prefix_of_its_own() {
        let declared = serde_json::json!({ "io.modelcontextprotocol/skills": {} });
        assert!(has_prefix_of(&declared, "io.modelcontextprotocol.skills/version"));
        assert!(!has_prefix_of(&declared, "io.modelcontextprotocol.tasks/version"));
        assert!(!has_prefix_of(&declared, "skills/version") && !has_prefix_of(&declared, "version"));
    }

    #[test]
    fn host_names_are_told_from_their_reverse() {
        assert!(forward_dns("example.com/x").is_some());
        assert!(forward_dns("com.example/x").is_none());
        assert!(forward_dns("io.github.example/x").is_none());
        assert!(forward_dns("plain/x").is_none());
    }
}
