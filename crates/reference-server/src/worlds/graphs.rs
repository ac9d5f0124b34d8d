//! Worlds for rules about clients: resources that contain each other, as in SEP-2093.

use serde_json::{Value, json};

use crate::{
    faults::{Behaviour, EVERYWHERE, Heard, Memory},
    worlds::made::{error, method, page, resource, result, uri},
};

/// Diamonds in a chain.
const DIAMONDS: u32 = 20;
/// Branches of the wide world; the first and the last are endless.
const BRANCHES: u32 = 5;

pub static GRAPHS: &[Behaviour] = &[
    Behaviour {
        hear: Some(graph),
        ..Behaviour::new(
            "resource-graph",
            "resources contain each other in circles, some fail, and some look like directories",
            EVERYWHERE,
        )
    },
    Behaviour {
        hear: Some(endless),
        ..Behaviour::new(
            "endless-graph",
            "one branch of the resources has no end, and one has no last page",
            EVERYWHERE,
        )
    },
    Behaviour {
        hear: Some(diamonds),
        ..Behaviour::new("diamond-graph", "a million paths lead to the last of sixty resources", EVERYWHERE)
    },
];

fn described(uri: &str, capabilities: &Value) -> Value {
    let mut resource = resource(uri);
    resource["capabilities"] = capabilities.clone();
    resource
}

fn directory(uri: &str) -> Value {
    described(uri, &json!({ "list": true, "subscribe": false }))
}

fn file(uri: &str) -> Value {
    described(uri, &json!({ "list": false, "subscribe": false }))
}

fn typed(mut resource: Value, mime: &str) -> Value {
    resource["mimeType"] = json!(mime);
    resource
}

fn roots() -> Vec<(&'static str, Vec<Value>)> {
    let named = |uri: &str| {
        let mut resource = directory(uri);
        resource["name"] = json!("the same name");
        resource
    };
    let first = vec![
        directory("graph://a"),
        directory("graph://self"),
        named("graph://d%2Fe"),
        named("graph://d"),
        named("graph://d/"),
        named("graph://D"),
        named("graph://h/X%2Fy"),
        named("graph://h/X/y"),
        named("graph://q?page=1"),
        named("graph://q?page=2"),
        named("graph://h/z/../w"),
        directory("graph://pages"),
        directory("graph://gaps"),
        directory("graph://fails"),
    ];
    let second = vec![
        directory("graph://breaks"),
        directory("graph://after"),
        directory("graph://empty"),
        directory("graph://left"),
        directory("graph://right"),
        typed(directory("graph://notes.md"), "text/markdown"),
        typed(file("graph://not-a-directory/"), "inode/directory"),
        typed(resource("graph://undeclared/"), "inode/directory"),
        described("graph://braces", &json!({})),
        described("graph://null", &Value::Null),
        described("graph://vendor", &json!({ "list": false, "subscribe": true, "x-vendor": [1] })),
    ];
    vec![("", first), ("default 9", second)]
}

fn graph(_: &mut Memory, message: &mut Value) -> Heard {
    let one = |child: Value| vec![("", vec![child])];
    match (method(message), uri(message)) {
        ("resources/metadata", _) => error(message, -32601, "Method not found"),
        ("resources/read", uri) if uri.starts_with("graph://") => {
            let contents = json!([{ "uri": uri, "mimeType": "text/plain", "text": uri }]);
            // A read of a directory with many children contains only some of them.
            let some = json!([{ "uri": "graph://pages/0", "text": "0" }, { "uri": "graph://pages/1", "text": "1" }]);
            let contents = if uri == "graph://pages" { some } else { contents };
            result(message, json!({ "contents": contents }))
        }
        ("resources/list", scope) => {
            let pages = match scope {
                "" => roots(),
                "graph://a" => vec![("", vec![file("graph://a/file"), directory("graph://b")])],
                "graph://b" => one(directory("graph://c")),
                "graph://c" => one(directory("graph://a")),
                "graph://self" => one(directory("graph://self")),
                "graph://d%2Fe" | "graph://d" | "graph://d/" | "graph://D" | "graph://h/X%2Fy" | "graph://h/X/y"
                | "graph://q?page=1" | "graph://q?page=2" | "graph://h/z/../w" | "graph://after" => {
                    one(file(&format!("{scope}/child")))
                }
                "graph://pages" => {
                    let children = |at: u32| (at..at + 2).map(|at| file(&format!("graph://pages/{at}"))).collect();
                    vec![("", children(0)), ("graph://pages 2", children(2)), ("graph://pages 4", children(4))]
                }
                "graph://gaps" => {
                    let child = |name: &str| vec![file(&format!("graph://gaps/{name}"))];
                    vec![("", child("first")), ("graph://gaps 2", Vec::new()), ("graph://gaps 3", child("last"))]
                }
                "graph://empty" => vec![("", Vec::new())],
                "graph://left" | "graph://right" => one(directory("graph://tip")),
                "graph://tip" => one(file("graph://tip/file")),
                "graph://notes.md" => one(file("graph://notes.md/1")),
                "graph://breaks" => return error(message, -32603, "Internal error"),
                _ => return error(message, -32602, "The resource cannot be listed."),
            };
            page(message, "resources", &pages)
        }
        _ => Heard::Message,
    }
}

fn endless(_: &mut Memory, message: &mut Value) -> Heard {
    if method(message) != "resources/list" {
        return Heard::Message;
    }
    let scope = uri(message).strip_prefix("wide://");
    let listed = match scope {
        None => {
            let branches: Vec<_> = (1..=BRANCHES).map(|branch| directory(&format!("wide://{branch}"))).collect();
            json!({ "resources": branches })
        }
        Some("5") => {
            let number = message["params"]["cursor"].as_str().and_then(|cursor| cursor.parse().ok()).unwrap_or(0_u64);
            let next = number + 1;
            json!({ "resources": [file(&format!("wide://5/{number}"))], "nextCursor": next.to_string() })
        }
        Some(deep) if deep.starts_with('1') => json!({ "resources": [directory(&format!("wide://{deep}/1"))] }),
        Some(branch) => json!({ "resources": [file(&format!("wide://{branch}/leaf"))] }),
    };
    result(message, listed)
}

fn diamonds(_: &mut Memory, message: &mut Value) -> Heard {
    if method(message) != "resources/list" {
        return Heard::Message;
    }
    let scope = uri(message).strip_prefix("diamond://").unwrap_or_default();
    let listed = match scope.split_once('/') {
        None if scope.is_empty() => vec![directory("diamond://0")],
        None => {
            let sides = |number: u32| {
                vec![directory(&format!("diamond://{number}/l")), directory(&format!("diamond://{number}/r"))]
            };
            scope.parse().ok().filter(|number| *number < DIAMONDS).map_or_else(Vec::new, sides)
        }
        Some((number, _)) => {
            let next = number.parse::<u32>().unwrap_or(DIAMONDS) + 1;
            vec![if next < DIAMONDS { directory(&format!("diamond://{next}")) } else { file("diamond://last") }]
        }
    };
    result(message, json!({ "resources": listed }))
}
