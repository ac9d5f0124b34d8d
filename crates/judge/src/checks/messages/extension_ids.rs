//! The identifiers of extensions, which are the keys of an object.
//!
//! `part` is `named` (a name follows the slash), `domain` (the prefix is a domain in reverse order), `reserved` (only
//! official extensions have a reserved prefix), `spelled` (official ones are spelled as published) or `misplaced` (no
//! official one is here that `extensions` lacks).

use serde_json::Value;

use super::meta_keys::{forward_dns, is_reserved};
use crate::checks::{Check, Fault, Given, Report};
use conform_model::revision::Revision;

pub const CHECK: Check = Check { name: "extension-ids", given: &["ids", "extensions?", "part"], run };

/// Official extensions, and drafts of such. They are published without a new revision.
const OFFICIAL: [&str; 8] = [
    "io.modelcontextprotocol/ui",
    "io.modelcontextprotocol/tasks",
    "io.modelcontextprotocol/skills",
    "io.modelcontextprotocol/oauth-client-credentials",
    "io.modelcontextprotocol/enterprise-managed-authorization",
    "io.modelcontextprotocol/auth/dpop",
    "io.modelcontextprotocol/auth/wif",
    "io.modelcontextprotocol/secure-params",
];

fn run(given: &Given) -> Report {
    let mut report = Report::default();
    for (id, _) in given.value("ids").as_object().into_iter().flatten() {
        let wrong = match given.text("part") {
            "named" => id.ends_with('/').then(|| "has no name after the slash".to_owned()),
            "domain" => unlike_domain(id),
            "reserved" => reserved(id, given.revision),
            "spelled" => misspelled(id).map(|official| format!("is spelled unlike {official}")),
            _ => misplaced(id, given.value("extensions")),
        };
        report.checked += 1;
        report.faults.extend(wrong.map(|wrong| Fault {
            given: "ids",
            message: format!("\"{id}\" {wrong}"),
            received: Some(Value::from(id.as_str())),
            ..Fault::default()
        }));
    }
    report
}

fn unlike_domain(id: &str) -> Option<String> {
    let (prefix, _) = id.split_once('/')?;
    let single =
        (!prefix.contains('.')).then(|| "has a prefix of one label, expected a domain in reverse order".into());
    single.or_else(|| forward_dns(id))
}

fn reserved(id: &str, revision: Revision) -> Option<String> {
    let unknown = is_reserved(id, revision) && !OFFICIAL.contains(&id) && misspelled(id).is_none();
    unknown.then(|| "has a prefix that is reserved for MCP, and is no official extension that is known here".into())
}

/// The official identifier that differs in capitals, hyphens or the order of the domain only.
fn misspelled(id: &str) -> Option<&'static str> {
    let plain = |id: &str| {
        let (prefix, name) = id.split_once('/').unwrap_or(("", id));
        let mut labels: Vec<String> = prefix.split('.').map(str::to_lowercase).collect();
        labels.sort_unstable();
        (labels, name.to_lowercase().replace(['-', '_'], ""))
    };
    OFFICIAL.into_iter().find(|official| *official != id && plain(official) == plain(id))
}

fn misplaced(id: &str, extensions: &Value) -> Option<String> {
    let misplaced = OFFICIAL.contains(&id) && extensions.get(id).is_none();
    misplaced.then(|| "is an extension, and `extensions` does not have it".to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::checks::tried;

    fn wrong(part: &str, id: &str) -> bool {
        let given = [("ids", json!({ id: {} })), ("extensions", json!({})), ("part", json!(part))];
        let report = tried(&CHECK, Revision::NEWEST, given);
        assert_eq!(report.checked, 1);
        !report.faults.is_empty()
    }

    #[test]
    fn each_part_has_its_own_mistakes() {
        assert!(wrong("named", "com.example/") && !wrong("named", "com.example/x"));
        for id in ["acme/reports", "example.com/reports", "modelcontextprotocol.io/reports"] {
            assert!(wrong("domain", id), "{id}");
        }
        assert!(!wrong("domain", "com.example/reports") && !wrong("domain", "noprefix"));
        assert!(wrong("reserved", "io.modelcontextprotocol/my-thing") && wrong("reserved", "com.mcp.acme/reports"));
        assert!(!wrong("reserved", "io.modelcontextprotocol/auth/dpop") && !wrong("reserved", "com.example.mcp/x"));
        assert!(wrong("spelled", "io.modelcontextprotocol/Skills") && wrong("spelled", "modelcontextprotocol.io/ui"));
        assert!(!wrong("spelled", "io.modelcontextprotocol/skills") && !wrong("spelled", "com.example/skills"));
        assert!(wrong("misplaced", "io.modelcontextprotocol/tasks") && !wrong("misplaced", "com.example/tasks"));
    }
}
