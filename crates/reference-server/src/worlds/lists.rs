//! Worlds for rules about clients: lists with unusual pages, and endless lists.

use serde_json::{Value, json};

use crate::{
    faults::{Behaviour, EVERYWHERE, Heard, Memory},
    worlds::made::{error, method, page, resource, result, uri},
};

pub static LISTS: &[Behaviour] = &[
    Behaviour {
        hear: Some(odd),
        ..Behaviour::new("odd-cursors", "pages have any size, and cursors any spelling", EVERYWHERE)
    },
    Behaviour {
        hear: Some(without_end),
        ..Behaviour::new(
            "lists-without-end",
            "no list ends: cursors repeat, go in circles, or are new each time",
            EVERYWHERE,
        )
    },
];

fn odd(_: &mut Memory, message: &mut Value) -> Heard {
    let resources = |from: u32, to: u32| (from..to).map(|number| resource(&format!("item://{number}"))).collect();
    let long = "c".repeat(8192);
    match method(message) {
        "resources/list" if uri(message).is_empty() => {
            let pages = [
                // A client that follows this cursor paginates; many clients request only the first page.
                ("", resources(0, 7)),
                ("0", resources(7, 10)),
                (" lead and \"quotes\" / \u{1F980} ", Vec::new()),
                ("eyJvZmZzZXQiOjEwfQ==", resources(10, 11)),
                ("a%2Fb%20+c", resources(11, 13)),
                (long.as_str(), resources(13, 14)),
            ];
            page(message, "resources", &pages)
        }
        "resources/templates/list" => {
            let template = |number: u32| json!({ "uriTemplate": format!("item://{number}/{{id}}"), "name": "item" });
            let pages = [("", vec![template(1)]), ("0", vec![template(2)])];
            match page(message, "resourceTemplates", &pages) {
                Heard::Answered(mut response) => {
                    // The last page has a null cursor.
                    if let Some(Value::Object(result)) = response.get_mut("result") {
                        result.entry("nextCursor").or_insert(Value::Null);
                    }
                    Heard::Answered(response)
                }
                heard => heard,
            }
        }
        "tools/list" => {
            let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
            match message["params"].get("cursor") {
                None => result(message, json!({ "tools": [tool("first")], "nextCursor": "0" })),
                Some(cursor) if cursor == "0" => {
                    result(message, json!({ "tools": [tool("second")], "nextCursor": "" }))
                }
                Some(cursor) if cursor == "" => result(message, json!({ "tools": [tool("third")] })),
                Some(_) => error(message, -32602, "Invalid cursor"),
            }
        }
        "prompts/list" => page(message, "prompts", &[("", vec![json!({ "name": "only" })])]),
        _ => Heard::Message,
    }
}

fn without_end(_: &mut Memory, message: &mut Value) -> Heard {
    let cursor = message["params"]["cursor"].as_str();
    let (field, item, next) = match method(message) {
        "resources/list" if uri(message).is_empty() => ("resources", resource("memo://status"), "again".to_owned()),
        "prompts/list" => {
            let next = match cursor {
                Some("a") => "b",
                Some("b") => "c",
                _ => "a",
            };
            ("prompts", json!({ "name": "greet" }), next.to_owned())
        }
        "resources/templates/list" => {
            let number = cursor.and_then(|cursor| cursor.parse().ok()).unwrap_or(0_u64);
            let template = json!({ "uriTemplate": format!("item://{number}/{{id}}"), "name": "item" });
            ("resourceTemplates", template, (number + 1).to_string())
        }
        "tools/list" => {
            if cursor.is_some() {
                return error(message, -32602, "Invalid cursor");
            }
            ("tools", json!({ "name": "echo", "inputSchema": { "type": "object" } }), "refused".to_owned())
        }
        _ => return Heard::Message,
    };
    result(message, json!({ field: [item], "nextCursor": next }))
}
