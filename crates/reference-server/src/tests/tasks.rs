//! Tasks of 2025-11-25.

use serde_json::{Value, json};

use super::Talk;
use conform_model::revision::Revision;

fn call(talk: &mut Talk, tool: &str) -> Value {
    talk.answer("tools/call", &json!({ "name": tool, "arguments": {}, "task": { "ttl": 60000 } }))
}

#[test]
fn a_call_becomes_a_task_that_ends_and_keeps_its_result() {
    let mut talk = Talk::new(Revision::V2025_11_25);
    let created = call(&mut talk, "fail");
    let task = &created["result"]["task"];
    assert_eq!((&task["status"], &task["ttl"]), (&json!("working"), &json!(60000)));
    let which = json!({ "taskId": task["taskId"] });
    let result = talk.answer("tasks/result", &which);
    assert_eq!(result["result"]["isError"], true);
    let related = &result["result"]["_meta"]["io.modelcontextprotocol/related-task"];
    assert_eq!(related, &which);
    std::thread::sleep(std::time::Duration::from_millis(10));
    assert_eq!(talk.answer("tasks/get", &which)["result"]["status"], "failed");
    assert_eq!(talk.answer("tasks/cancel", &which)["error"]["code"], -32602);
}

#[test]
fn a_cancelled_task_stays_cancelled() {
    let mut talk = Talk::new(Revision::V2025_11_25);
    let created = call(&mut talk, "slow");
    let which = json!({ "taskId": created["result"]["task"]["taskId"] });
    assert_eq!(talk.answer("tasks/cancel", &which)["result"]["status"], "cancelled");
    assert_eq!(talk.answer("tasks/get", &which)["result"]["status"], "cancelled");
    assert!(talk.answer("tasks/result", &which).get("error").is_some());
}

#[test]
fn tools_and_tasks_have_to_fit() {
    let mut talk = Talk::new(Revision::V2025_11_25);
    assert_eq!(call(&mut talk, "echo")["error"]["code"], -32601);
    assert_eq!(talk.answer("tools/call", &json!({ "name": "interview" }))["error"]["code"], -32601);
    // A client without the capability gets an error.
    let created = call(&mut talk, "interview");
    let which = json!({ "taskId": created["result"]["task"]["taskId"] });
    assert_eq!(talk.answer("tasks/result", &which)["result"]["isError"], true);
    let mut older = Talk::new(Revision::V2025_06_18);
    assert_eq!(older.answer("tasks/get", &which)["error"]["code"], -32601);
}
