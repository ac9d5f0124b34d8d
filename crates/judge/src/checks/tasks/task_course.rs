//! The status of a task does not change after its end, and its times increase. Each response is compared with the
//! previous one.
//!
//! `of: moves` looks for a task that is working again after its end, `of: ends` for one whose status changes after its end in any
//! way, `of: times` for a `lastUpdatedAt` that is set back or is before `createdAt`, and `of: creation` for a `createdAt` that
//! changes.

use std::{collections::HashMap, time::Duration};

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::checks::{Check, Fault, Given, Report};

pub const CHECK: Check = Check { name: "task-course", given: &["looks", "of"], run };

const ENDS: [&str; 3] = ["completed", "failed", "cancelled"];

fn run(given: &Given) -> Report {
    let mut report = Report::default();
    let mut last: HashMap<(&str, u64), &Value> = HashMap::new();
    for (index, look) in given.value("looks").as_array().into_iter().flatten().enumerate() {
        let Some(task) = look["result"]["taskId"].as_str() else { continue };
        let key = (task, look["link"].as_u64().unwrap_or_default());
        // If two requests overlap, their order is unknown.
        let before = last.insert(key, look).filter(|before| before["frames"][1].as_u64() < look["frames"][0].as_u64());
        if given.text("of") == "times"
            && let Some(true) = is_set_before_creation(look)
        {
            report.checked += 1;
            let [created, updated] = ["createdAt", "lastUpdatedAt"].map(|member| &look["result"][member]);
            let message = format!("`lastUpdatedAt` is {updated}, before `createdAt` {created}");
            report.faults.push(fault(task, format!("/{index}/result/lastUpdatedAt"), message, created, updated));
            continue;
        }
        let wrong = before.and_then(|before| match given.text("of") {
            "times" => Some(("lastUpdatedAt", time(look, "lastUpdatedAt")? < time(before, "lastUpdatedAt")?)),
            "creation" => Some(("createdAt", time(look, "createdAt")? != time(before, "createdAt")?)),
            of => Some(("status", has_moved(before, look, of)?)),
        });
        let (Some(before), Some((member, is_wrong))) = (before, wrong) else { continue };
        report.checked += 1;
        if is_wrong {
            let (before, now) = (&before["result"][member], &look["result"][member]);
            let message = format!("`{member}` is {now}, after {before} in an earlier result");
            report.faults.push(fault(task, format!("/{index}/result/{member}"), message, before, now));
        }
    }
    report
}

fn fault(task: &str, pointer: String, message: String, expected: &Value, received: &Value) -> Fault {
    Fault {
        given: "looks",
        pointer,
        message,
        subject: Some(format!("task {task}")),
        renamed_each_run: true,
        expected: Some(json!(expected)),
        received: Some(json!(received)),
    }
}

/// Whether a task was updated before it was created. One of the two may be cut to seconds.
fn is_set_before_creation(look: &Value) -> Option<bool> {
    Some(time(look, "lastUpdatedAt")? + Duration::from_secs(1) < time(look, "createdAt")?)
}

/// Whether the status of a task changed after its end; `None` if the task had not ended.
fn has_moved(before: &Value, look: &Value, of: &str) -> Option<bool> {
    let (before, now) = (status(before)?, status(look)?);
    let again = !ENDS.contains(&now);
    ENDS.contains(&before).then(|| if of == "moves" { again } else { now != before })
}

fn time(look: &Value, member: &str) -> Option<Timestamp> {
    look["result"][member].as_str()?.parse().ok()
}

fn status(look: &Value) -> Option<&str> {
    look["result"]["status"].as_str()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::tried;
    use conform_model::revision::Revision;

    #[test]
    fn an_end_is_final_unless_the_looks_overlap() {
        let look = |status: &str, asked: u64, answered: u64| json!({ "link": 1, "frames": [asked, answered], "result": { "taskId": "a", "status": status } });
        let found = |looks: Value, of: &str| {
            let report = tried(&CHECK, Revision::V2025_11_25, [("looks", looks), ("of", json!(of))]);
            (report.checked, report.faults.len())
        };
        let back = json!([look("working", 1, 2), look("completed", 3, 4), look("working", 5, 6)]);
        assert_eq!((found(back.clone(), "moves"), found(back, "ends")), ((1, 1), (1, 1)));
        let twice = json!([look("cancelled", 1, 2), look("completed", 3, 4)]);
        assert_eq!((found(twice.clone(), "moves"), found(twice, "ends")), ((1, 0), (1, 1)));
        assert_eq!(found(json!([look("completed", 2, 3), look("working", 1, 4)]), "moves"), (0, 0));
        let never_ended = json!([look("working", 1, 2), look("working", 3, 4)]);
        assert_eq!(found(never_ended, "ends"), (0, 0));
    }

    #[test]
    fn a_time_set_back_takes_two_looks() {
        let look = |time: &str, asked: u64| json!({ "link": 1, "frames": [asked, asked + 1], "result": { "taskId": "a", "lastUpdatedAt": time } });
        let found = |times: &[&str]| {
            let looks = times.iter().zip(0..).map(|(time, at)| look(time, at * 2)).collect::<Vec<_>>();
            let report = tried(&CHECK, Revision::V2025_11_25, [("looks", json!(looks)), ("of", json!("times"))]);
            (report.checked, report.faults.len())
        };
        assert_eq!(found(&["2025-11-25T10:00:00Z"]), (0, 0));
        assert_eq!(found(&["2025-11-25T10:00:00Z", "2025-11-25T10:00:00.001Z"]), (1, 0));
        assert_eq!(found(&["2025-11-25T10:00:00Z", "2025-11-25T11:59:59+02:00"]), (1, 1));
        assert_eq!(found(&["2025-11-25T10:00:00Z", "yesterday"]), (0, 0));
    }

    #[test]
    fn an_update_before_the_creation_takes_one_look() {
        let found = |updated: &str| {
            let task = json!({ "taskId": "a", "createdAt": "2025-11-25T10:00:00.900Z", "lastUpdatedAt": updated });
            let looks = json!([{ "link": 1, "frames": [1, 2], "result": task }]);
            tried(&CHECK, Revision::V2025_11_25, [("looks", looks), ("of", json!("times"))]).faults.len()
        };
        assert_eq!((found("2025-11-25T10:00:00Z"), found("2025-11-25T09:00:00Z")), (0, 1));
    }

    #[test]
    fn a_task_is_created_once_however_that_is_written() {
        let look = |time: &str, asked: u64| json!({ "link": 1, "frames": [asked, asked + 1], "result": { "taskId": "a", "createdAt": time } });
        let found = |now: &str| {
            let looks = json!([look("2026-07-28T10:00:00Z", 1), look(now, 3)]);
            let report = tried(&CHECK, Revision::NEWEST, [("looks", looks), ("of", json!("creation"))]);
            (report.checked, report.faults.len())
        };
        assert_eq!((found("2026-07-28T12:00:00+02:00"), found("2026-07-28T10:00:01Z")), ((1, 0), (1, 1)));
    }
}
