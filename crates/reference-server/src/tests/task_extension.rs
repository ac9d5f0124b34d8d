//! The tasks extension: tasks are created, read, answered and cancelled, and clients are notified.

use std::{thread::sleep, time::Duration};

use serde_json::{Value, json};

use super::Talk;
use conform_model::revision::Revision;

const EXTENSION: &str = "io.modelcontextprotocol/tasks";

fn ask(talk: &mut Talk, method: &str, mut params: Value) -> Vec<Value> {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "extensions": { EXTENSION: {} } },
    });
    talk.id += 1;
    talk.send(&json!({ "jsonrpc": "2.0", "id": talk.id, "method": method, "params": params }))
}

fn result(talk: &mut Talk, method: &str, params: Value) -> Value {
    let answer = ask(talk, method, params).pop().expect("an answer");
    answer.get("result").cloned().unwrap_or_else(|| panic!("{method}: {answer}"))
}

/// The id of the task that a call creates.
fn task(talk: &mut Talk, tool: &str, arguments: &Value) -> String {
    let made = result(talk, "tools/call", json!({ "name": tool, "arguments": arguments }));
    assert_eq!((&made["resultType"], &made["status"]), (&json!("task"), &json!("working")), "{made}");
    made["taskId"].as_str().expect("an id").to_owned()
}

#[test]
fn a_task_works_and_then_holds_what_came_of_it() {
    let mut talk = Talk::new(Revision::V2026_07_28);
    let quick = json!({ "steps": 1, "milliseconds": 1 });
    let calls = [("slow", quick, "completed", "result"), ("fail", json!({}), "completed", "result")];
    for (tool, arguments, status, member) in calls.into_iter().chain([("collapse", json!({}), "failed", "error")]) {
        let id = task(&mut talk, tool, &arguments);
        assert_eq!(result(&mut talk, "tasks/get", json!({ "taskId": id }))["status"], "working");
        sleep(Duration::from_millis(15));
        let ended = result(&mut talk, "tasks/get", json!({ "taskId": id }));
        assert_eq!((&ended["status"], &ended["resultType"]), (&json!(status), &json!("complete")));
        assert!(ended[member].is_object(), "{ended}");
    }
}

#[test]
fn a_task_asks_and_tells_its_subscribers() {
    let mut talk = Talk::new(Revision::V2026_07_28);
    let id = task(&mut talk, "interview", &json!({}));
    let filter = json!({ "notifications": { "taskIds": [id, "unknown"] } });
    let opened = ask(&mut talk, "subscriptions/listen", filter);
    assert_eq!(opened[0]["params"]["notifications"], json!({ "taskIds": [id] }));
    let asked = result(&mut talk, "tasks/get", json!({ "taskId": id }));
    assert_eq!(asked["inputRequests"].as_object().map(serde_json::Map::len), Some(2), "{asked}");
    let yes = json!({ "action": "accept", "content": { "answer": "yes" } });
    let answers = json!({ "name": yes, "colour": yes, "unknown": yes });
    assert!(
        result(&mut talk, "tasks/update", json!({ "taskId": id, "inputResponses": answers })).get("taskId").is_none()
    );
    let asked = result(&mut talk, "tasks/get", json!({ "taskId": id }));
    assert!(asked["inputRequests"]["right"].is_object(), "{asked}");
    let told = ask(&mut talk, "tasks/cancel", json!({ "taskId": id }));
    assert_eq!(
        (&told[0]["method"], &told[0]["params"]["status"]),
        (&json!("notifications/tasks"), &json!("cancelled"))
    );
    assert_eq!(told[1]["result"]["resultType"], "complete");
}

#[test]
fn only_requests_that_declare_the_extension_meet_tasks() {
    let mut talk = Talk::new(Revision::V2026_07_28);
    let id = task(&mut talk, "slow", &json!({ "steps": 20, "milliseconds": 500 }));
    let plain = talk.result("tools/call", &json!({ "name": "slow", "arguments": { "steps": 1, "milliseconds": 0 } }));
    assert_eq!(plain["resultType"], "complete");
    for (method, params) in [
        ("tasks/get", json!({ "taskId": id })),
        ("tools/call", json!({ "name": "interview" })),
        ("tools/call", json!({ "name": "slow", "arguments": { "steps": 20, "milliseconds": 500 } })),
        ("subscriptions/listen", json!({ "notifications": { "taskIds": [id] } })),
    ] {
        let (code, data) = talk.error(method, &params);
        assert_eq!((code, &data["requiredCapabilities"]), (-32021, &json!({ "extensions": { EXTENSION: {} } })));
    }
    assert_eq!(ask(&mut talk, "tasks/get", json!({ "taskId": "unknown" }))[0]["error"]["code"], -32602);
    assert_eq!(talk.error("tasks/result", &json!({ "taskId": id })).0, -32601);
}
