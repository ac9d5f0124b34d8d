//! The declared number of values in a completion, compared with the values received.

use serde_json::json;

use crate::checks::{Check, Fault, Given, Report};

pub const CHECK: Check = Check { name: "completion-counts", given: &["completion", "of"], run };

fn run(given: &Given) -> Report {
    let completion = given.value("completion");
    let (Some(values), Some(total)) = (completion["values"].as_array(), completion["total"].as_u64()) else {
        return Report::default();
    };
    let sent = values.len() as u64;
    let wrong = match (given.text("of"), completion["hasMore"].as_bool()) {
        ("total", _) => {
            (total < sent).then(|| (format!("`total` is {total}, but {sent} values were sent"), json!(sent)))
        }
        (_, Some(has_more)) => (has_more != (total > sent) && total >= sent)
            .then(|| (format!("`hasMore` is {has_more}; {sent} of {total} values were sent"), json!(total > sent))),
        (_, None) => return Report::default(),
    };
    let fault = wrong.map(|(message, expected)| Fault {
        given: "completion",
        pointer: format!("/{}", given.text("of")),
        message,
        expected: Some(expected),
        received: completion.get(given.text("of")).cloned(),
        ..Fault::default()
    });
    Report::of(fault.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::checks::tried;
    use conform_model::revision::Revision;

    #[test]
    fn counts_agree_with_what_was_sent() {
        let faults = |completion: serde_json::Value, of: &str| {
            let given = [("completion", completion), ("of", json!(of))];
            let report = tried(&CHECK, Revision::NEWEST, given);
            (report.checked, report.faults.len())
        };
        let values = json!(["a", "b"]);
        assert_eq!(faults(json!({ "values": values, "total": 2, "hasMore": false }), "hasMore"), (1, 0));
        assert_eq!(faults(json!({ "values": values, "total": 2, "hasMore": true }), "hasMore"), (1, 1));
        assert_eq!(faults(json!({ "values": values, "total": 3, "hasMore": false }), "hasMore"), (1, 1));
        assert_eq!(faults(json!({ "values": values, "total": 1, "hasMore": false }), "hasMore"), (1, 0));
        assert_eq!(faults(json!({ "values": values, "total": 1 }), "total"), (1, 1));
        assert_eq!(faults(json!({ "values": values }), "total"), (0, 0));
    }
}
