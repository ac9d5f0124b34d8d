//! What a task has become, it stays: the looks at each task, one after another, show no way back.
//!
//! `of: moves` looks for a task that lives again after its end, `of: ends` for one that ends in two ways.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::{Check, Fault, Given, Report};

pub const CHECK: Check = Check { name: "task-course", given: &["looks", "of"], run };

const ENDS: [&str; 3] = ["completed", "failed", "cancelled"];

fn run(given: &Given) -> Report {
    let mut report = Report::default();
    let mut last: HashMap<(&str, u64), &Value> = HashMap::new();
    for (index, look) in given.value("looks").as_array().into_iter().flatten().enumerate() {
        let (Some(task), Some(status)) = (look["result"]["taskId"].as_str(), status(look)) else { continue };
        let key = (task, look["link"].as_u64().unwrap_or_default());
        // Of two looks at once, either may have come first.
        let before = last.insert(key, look).filter(|before| before["frames"][1].as_u64() < look["frames"][0].as_u64());
        let Some(before) = before.and_then(self::status) else { continue };
        report.checked += 1;
        let went_on = match given.text("of") {
            "moves" => !ENDS.contains(&status),
            _ => ENDS.contains(&status) && status != before,
        };
        if ENDS.contains(&before) && went_on {
            report.faults.push(Fault {
                given: "looks",
                pointer: format!("/{index}/result/status"),
                message: format!("is {status}, after the task was {before}"),
                subject: Some(format!("task {task}")),
                expected: Some(json!(before)),
                received: Some(json!(status)),
            });
        }
    }
    report
}

fn status(look: &Value) -> Option<&str> {
    look["result"]["status"].as_str()
}

#[cfg(test)]
mod tests {
    use super::{super::tried, *};
    use crate::revision::Revision;

    #[test]
    fn an_end_is_final_unless_the_looks_overlap() {
        let look = |status: &str, asked: u64, answered: u64| json!({ "link": 1, "frames": [asked, answered], "result": { "taskId": "a", "status": status } });
        let found = |looks: Value, of: &str| {
            let report = tried(&CHECK, Revision::V2025_11_25, [("looks", looks), ("of", json!(of))]);
            (report.checked, report.faults.len())
        };
        let back = json!([look("working", 1, 2), look("completed", 3, 4), look("working", 5, 6)]);
        assert_eq!((found(back.clone(), "moves"), found(back, "ends")), ((2, 1), (2, 0)));
        let twice = json!([look("cancelled", 1, 2), look("completed", 3, 4)]);
        assert_eq!((found(twice.clone(), "moves"), found(twice, "ends")), ((1, 0), (1, 1)));
        assert_eq!(found(json!([look("completed", 2, 3), look("working", 1, 4)]), "moves"), (0, 0));
    }
}
