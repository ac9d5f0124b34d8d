//! The facts that a user who knows this server would write into a configuration.

use serde_json::{Value, json};

use crate::{FaultInfo, variations};
use conform_model::revision::Revision;

/// The facts about the server with a variation: some variations have fewer facts than the usual server.
pub fn facts_of(variation: Option<&str>) -> Value {
    let unknown = |known: &FaultInfo| variation == Some(&known.name) && known.without_facts;
    if variation.is_some() && variations().iter().any(unknown) { json!({}) } else { facts() }
}

/// In the form of the sections `[facts]`, `[tools]` and `[prompts]`.
pub fn facts() -> Value {
    json!({
        "change": { "uri": "memo://status", "tool": "touch", "with": { "uri": "memo://status" } },
        "list_change": { "tool": "add_resource" },
        "slow": { "tool": "slow", "with": { "steps": 25, "milliseconds": 40 } },
        "versions": Revision::ALL.iter().filter(|revision| !revision.is_modern()).collect::<Vec<_>>(),
        "tool_list_change": { "tool": "toggle_tool" },
        "prompt_list_change": { "tool": "toggle_prompt" },
        "arguments": {
            "file:///logs/{day}.log": { "day": "2026-01-01" },
            "db://shop/{table}/{row}": { "table": "orders", "row": "1001" },
            "file:///docs/{name}": { "name": "Größe ☃.txt" },
            "search://notes{?q,sort}": { "q": "a b", "sort": "new" },
        },
        "children": {
            "file:///src": ["file:///src/main.rs", "file:///src/lib.rs", "file:///src/nested"],
            "file:///diamond": ["file:///diamond/left", "file:///diamond/right"],
            "file:///diamond/left": ["file:///diamond/tip.txt"],
            "file:///logs": (1..=12).map(|day| format!("file:///logs/2026-01-{day:02}.log")).collect::<Vec<_>>(),
            "file:///void": [],
        },
        "tools": {
            "echo": { "with": { "text": "hello" } },
            "add": { "with": { "a": 1, "b": 2 } },
            "show_resources": {},
            "locate": { "with": { "region": "north", "limit": 3 } },
            "picture": {},
            "plot": { "with": { "point": [1, 2] } },
            "fail": { "fails": true },
            "summarize": {},
            "places": {},
            "redeem": {},
        },
        "prompts": { "greet": { "with": { "name": "Ada" } }, "broken": { "fails": true } },
        "task": { "tool": "slow", "with": { "steps": 1, "milliseconds": 60 } },
        "slow_task": { "tool": "slow", "with": { "steps": 20, "milliseconds": 500 } },
        "task_input": { "tool": "interview", "with": {} },
        "failing_task": { "tool": "fail", "with": {} },
        "broken_task": { "tool": "collapse", "with": {} },
        "asking": { "completes": ["introduce", "redeem"], "sealed": ["introduce", "summarize"], "once": ["redeem"] },
        "outside_roots": {
            "root": "file:///src",
            "tool": "peek",
            "with": { "path": "/logs/2026-01-01.log" },
            "escape": { "path": "/src/../logs/2026-01-01.log" },
        },
        "guarded": { "tool": "touch", "with": { "uri": "memo://status" }, "lacks": ["notes:write", "notes:share"] },
        "user_owned_call": { "tool": "echo", "with": { "text": "drawer-of-ada" } },
        "registration": true,
    })
}
