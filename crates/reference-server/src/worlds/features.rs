//! Worlds for rules about tools and prompts: unusual names, and results of every kind.

use serde_json::{Value, json};

use crate::{
    faults::{Behaviour, EVERYWHERE, Heard, Memory},
    worlds::made::{error, method, page, result},
};

pub static FEATURES: &[Behaviour] = &[
    Behaviour {
        hear: Some(hear),
        ..Behaviour::new("odd-features", "tools and prompts have unusual names, and results of every kind", EVERYWHERE)
    },
    Behaviour::new("endless-progress", "a call reports progress for longer than any client waits", EVERYWHERE),
];

/// A base64 PNG of one pixel, and a few bytes of audio.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const SOUND: &str = "UklGRiQAAABXQVZF";

/// A name of the greatest length that the naming rules permit.
const LONG: &str = "one_hundred_and_twenty_eight_characters.are-the-longest-name.that-a-tool-should-have_and.so-this-one-is-just.as-long-as-that.123";

fn hear(memory: &mut Memory, message: &mut Value) -> Heard {
    match method(message) {
        "tools/call" if message["params"]["name"] == "count" => {
            memory.requests += 1;
            result(message, json!({ "content": [text(&format!("call {}", memory.requests))] }))
        }
        "prompts/get" if message["params"]["name"] == "count" => {
            memory.reads += 1;
            let content = text(&format!("prompt {}", memory.reads));
            result(message, json!({ "messages": [{ "role": "user", "content": content }] }))
        }
        "tools/list" => page(message, "tools", &tools()),
        "tools/call" if message["params"]["name"] == "rejected" => {
            let code = message["params"]["arguments"]["code"].as_i64().unwrap_or(-32603);
            error(message, code, "Rejected on purpose")
        }
        "tools/call" => {
            let name = message["params"]["name"].as_str().unwrap_or_default().to_owned();
            called(&name).map_or(Heard::Message, |called| result(message, called))
        }
        "resources/templates/list" => {
            let template = |template: &str| json!({ "uriTemplate": template, "name": "item" });
            result(message, json!({ "resourceTemplates": [template("item://{id}"), template("item://{id}/{+rest}")] }))
        }
        "prompts/list" => page(message, "prompts", &prompts()),
        "prompts/get" => match message["params"]["name"].as_str() {
            Some("everything") => {
                let said = |(at, content): (usize, Value)| json!({ "role": if at % 2 == 0 { "user" } else { "assistant" }, "content": content });
                let messages: Vec<Value> = blocks().into_iter().enumerate().map(said).collect();
                result(message, json!({ "messages": messages }))
            }
            Some(name @ ("Review.PR-1" | "review.pr-1" | "getByID" | "suggest" | "last page")) => {
                let messages = json!([{ "role": "user", "content": text(name) }]);
                result(message, json!({ "messages": messages }))
            }
            _ => error(message, -32602, "Unknown prompt, or an argument is missing"),
        },
        "completion/complete" => completed(message),
        _ => Heard::Message,
    }
}

/// The argument selects the completion. Otherwise it has the names of what it depends on.
fn completed(message: &Value) -> Heard {
    let params = &message["params"];
    let name = params["argument"]["name"].as_str().unwrap_or_default();
    let completion = match name {
        "none" => json!({ "values": [] }),
        "more" => json!({ "values": ["a1", "a2"], "hasMore": true }),
        "many" => json!({ "values": (1..=150).map(|number| format!("a{number}")).collect::<Vec<_>>(), "total": 150 }),
        "error" => return error(message, -32603, "Rejected on purpose"),
        _ => {
            let language = params["context"]["arguments"]["language"].as_str().unwrap_or("nothing");
            json!({ "values": [format!("{name} for {language}")], "total": 1, "hasMore": false })
        }
    };
    result(message, json!({ "completion": completion }))
}

fn tool(name: &str) -> Value {
    json!({ "name": name, "inputSchema": { "type": "object" } })
}

fn titled(name: &str, title: &str) -> Value {
    let mut tool = tool(name);
    tool["title"] = json!(title);
    tool
}

fn with_output(name: &str, schema: &Value) -> Value {
    let mut tool = tool(name);
    tool["outputSchema"] = schema.clone();
    tool
}

/// Pages of 3, 1 and more tools: a page may be shorter than the one before it without being the last.
fn tools() -> [(&'static str, Vec<Value>); 3] {
    let mut new = tool("new-fields");
    new["icons"] = json!([{ "src": "https://example.com/icon.png", "sizes": ["48x48"] }]);
    new["com.example/cost"] = json!({ "credits": 3, "per": null });
    let number = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
    let mut second = tool("twin");
    second["description"] = json!("The second one");
    [
        ("", vec![tool("Report.Get-One"), tool("report.get-one"), tool("a b/é")]),
        ("2", vec![tool("keep")]),
        (
            "3",
            vec![
                tool("twin"),
                second,
                new,
                tool("unknown-content"),
                tool("failing"),
                with_output("failing-structured", &number),
                tool("all-content"),
                tool("no-content"),
                tool("structured-list"),
                tool("structured-null"),
                tool("count"),
                tool("rejected"),
                tool("after-errors"),
                titled("getByID", "Get one by its id"),
                tool(LONG),
                tool("last-of-all"),
            ],
        ),
    ]
}

fn prompts() -> [(&'static str, Vec<Value>); 2] {
    let prompt = |name: &str| json!({ "name": name, "arguments": [{ "name": "count" }] });
    let suggested: Value = ["none", "more", "many", "error", "other", "language", "framework"]
        .into_iter()
        .map(|name| json!({ "name": name }))
        .collect();
    [
        ("", vec![prompt("Review.PR-1"), prompt("review.pr-1")]),
        (
            "2",
            vec![
                json!({ "name": "everything" }),
                json!({ "name": "count" }),
                json!({ "name": "getByID", "title": "Get one by its id" }),
                json!({ "name": "rejected" }),
                json!({ "name": "with-topic", "arguments": [{ "name": "topic", "required": true }] }),
                json!({ "name": "suggest", "arguments": suggested }),
                json!({ "name": "last page" }),
            ],
        ),
    ]
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

/// One content of each type of 2025-06-18.
fn blocks() -> Vec<Value> {
    vec![
        text("First"),
        json!({ "type": "image", "data": PIXEL, "mimeType": "image/png" }),
        json!({ "type": "audio", "data": SOUND, "mimeType": "audio/wav" }),
        json!({ "type": "resource_link", "uri": "memo://status", "name": "status" }),
        json!({ "type": "resource", "resource": { "uri": "memo://inline", "mimeType": "text/plain", "text": "Inline" } }),
        text("Last"),
    ]
}

fn called(name: &str) -> Option<Value> {
    Some(match name {
        "Report.Get-One" | "report.get-one" | "getByID" | "keep" | "after-errors" | "last-of-all" | LONG => {
            json!({ "content": [text(name)] })
        }
        "unknown-content" => {
            let unknown = json!({ "type": "hologram", "beam": { "a": [1, null] } });
            json!({ "content": [text("before"), unknown, text("after")] })
        }
        "failing" | "failing-structured" => json!({ "content": [text("The disk is full.")], "isError": true }),
        "all-content" => json!({ "content": blocks() }),
        "no-content" => json!({ "content": [] }),
        "structured-list" => json!({ "content": [text("[1,2]")], "structuredContent": [1, 2] }),
        "structured-null" => json!({ "content": [text("null")], "structuredContent": null }),
        _ => return None,
    })
}
