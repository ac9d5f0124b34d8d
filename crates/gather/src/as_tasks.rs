//! Determines which of the allowed calls can be tasks.

use serde_json::{Value, json};

use super::allowed::callable;

/// Adds `task_calls` and `untasked_calls`, and removes tools called as tasks from `left_alone`.
pub fn calls(facts: &mut Value, tools: &[Value], all: bool) {
    facts["task_calls"] = task_calls(facts, tools, all);
    let as_tasks = facts["task_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
    let never = |name: &&Value| !as_tasks.iter().any(|call| call["name"] == **name);
    facts["left_alone"] = facts["left_alone"].as_array().into_iter().flatten().filter(never).cloned().collect();
    let untasked = |call: &&Value| !may_be_task(tools.iter().find(|tool| tool["name"] == call["name"]));
    facts["untasked_calls"] = facts["calls"].as_array().into_iter().flatten().filter(untasked).cloned().collect();
}

/// The configured calls, and those of allowed tools that declare task support.
fn task_calls(facts: &Value, tools: &[Value], all: bool) -> Value {
    let named = [&facts["task"], &facts["failing_task"]];
    let given = named.iter().filter_map(|call| {
        let arguments = call.get("with").cloned().unwrap_or_else(|| json!({}));
        Some(json!({ "name": call.get("tool")?, "arguments": arguments }))
    });
    // A tool known to be slow is only used where slowness is judged.
    let apart = [&facts["task"], &facts["failing_task"], &facts["slow_task"]];
    let others =
        tools.iter().filter(|tool| may_be_task(Some(tool)) && !apart.iter().any(|call| call["tool"] == tool["name"]));
    let found = others.filter_map(|tool| {
        let mut tool = tool.clone();
        // The tool is callable here even if it requires a task.
        tool["execution"]["taskSupport"] = json!("optional");
        callable(&tool, &facts["tools"], all)
    });
    let calls = given.chain(found).enumerate().map(|(index, mut call)| {
        let tool = tools.iter().find(|tool| tool["name"] == call["name"]);
        call["support"] = tool.map(|tool| tool["execution"]["taskSupport"].clone()).unwrap_or_default();
        call["token"] = json!(format!("mcp-conform-task-{index}"));
        call
    });
    calls.collect()
}

fn may_be_task(tool: Option<&Value>) -> bool {
    tool.is_some_and(|tool| ["optional", "required"].iter().any(|support| tool["execution"]["taskSupport"] == *support))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_become_tasks_if_they_can_and_may() {
        let tool = |name: &str, support: &str| {
            let annotations = json!({ "readOnlyHint": true });
            json!({ "name": name, "annotations": annotations, "execution": { "taskSupport": support } })
        };
        let tools =
            [tool("now", "forbidden"), tool("long", "optional"), tool("longer", "required"), tool("bad", "optional")];
        let mut facts = json!({ "failing_task": { "tool": "bad" }, "calls": [{ "name": "now" }, { "name": "long" }] });
        calls(&mut facts, &tools, false);
        let names = |list: &str| -> Vec<Value> {
            facts[list].as_array().unwrap().iter().map(|call| call["name"].clone()).collect()
        };
        assert_eq!(names("task_calls"), ["bad", "long", "longer"]);
        assert_eq!(names("untasked_calls"), ["now"]);
        assert_eq!(facts["task_calls"][2]["support"], "required");
    }
}
