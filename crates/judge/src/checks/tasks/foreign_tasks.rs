//! The list of tasks has no task that was created on another connection.

use std::collections::HashMap;

use serde_json::Value;

use crate::checks::{Check, Fault, Given, Report};

pub const CHECK: Check = Check { name: "foreign-tasks", given: &["exchanges"], run };

fn run(given: &Given) -> Report {
    let exchanges = given.list("exchanges");
    let mut creators: HashMap<&str, &Value> = HashMap::new();
    let mut report = Report::default();
    for (index, exchange) in exchanges.iter().enumerate() {
        if let Some(task) = exchange["result"]["task"]["taskId"].as_str() {
            creators.insert(task, &exchange["link"]);
        }
        let listed = exchange["result"]["tasks"].as_array().into_iter().flatten().enumerate();
        // Counts only if a task was created on another connection before.
        if creators.values().any(|link| **link != exchange["link"]) && exchange["result"]["tasks"].is_array() {
            report.checked += 1;
        }
        let foreign = listed
            .filter_map(|(at, task)| Some((at, task["taskId"].as_str()?)))
            .find(|(_, task)| creators.get(task).is_some_and(|link| **link != exchange["link"]));
        if let Some((at, task)) = foreign {
            report.faults.push(Fault {
                given: "exchanges",
                pointer: format!("/{index}/result/tasks/{at}"),
                message: "was created on another connection".to_owned(),
                subject: Some(format!("task {task}")),
                renamed_each_run: true,
                ..Fault::default()
            });
        }
    }
    report
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::checks::tried;
    use conform_model::revision::Revision;

    #[test]
    fn a_list_on_another_connection_holds_other_tasks() {
        let found = |link: u64| {
            let created = json!({ "link": 1, "result": { "task": { "taskId": "a" } } });
            let listed = json!({ "link": link, "result": { "tasks": [{ "taskId": "a" }] } });
            let report = tried(&CHECK, Revision::V2025_11_25, [("exchanges", json!([created, listed]))]);
            (report.checked, report.faults.len())
        };
        assert_eq!((found(1), found(2)), ((0, 0), (1, 1)));
    }
}
