//! What a tester who knows this server would write into a configuration.

use serde_json::{Value, json};

/// As the sections `[facts]`, `[tools]` and `[prompts]` say it.
pub fn facts() -> Value {
    json!({
        "change": { "uri": "memo://status", "tool": "touch", "with": { "uri": "memo://status" } },
        "list_change": { "tool": "add_resource" },
        "arguments": {
            "file:///logs/{day}.log": { "day": "2026-01-01" },
            "db://shop/{table}/{row}": { "table": "orders", "row": "1001" },
        },
        "children": {
            "file:///src": ["file:///src/main.rs", "file:///src/lib.rs", "file:///src/nested"],
            "file:///diamond": ["file:///diamond/left", "file:///diamond/right"],
            "file:///diamond/left": ["file:///diamond/tip.txt"],
            "file:///logs": (1..=12).map(|day| format!("file:///logs/2026-01-{day:02}.log")).collect::<Vec<_>>(),
            "file:///void": [],
        },
        "tools": { "echo": { "with": { "text": "hello" } }, "show_resources": { "with": {} } },
        "prompts": { "greet": { "with": { "name": "Ada" } } },
    })
}
