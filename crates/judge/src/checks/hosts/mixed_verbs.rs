//! No `enum` in the schema of a tool has verbs that read and verbs that change something: such a tool is several.

use serde_json::Value;

use crate::checks::{Check, Fault, Given, Report};

pub const CHECK: Check = Check { name: "mixed-verbs", given: &["values"], run };

const READING: [&str; 9] = ["get", "list", "read", "search", "find", "fetch", "show", "query", "view"];
const CHANGING: [&str; 14] = [
    "create", "update", "delete", "remove", "write", "insert", "add", "set", "edit", "move", "rename", "archive",
    "send", "upsert",
];

fn run(given: &Given) -> Report {
    let values: Vec<&str> = given.list("values").iter().filter_map(Value::as_str).collect();
    // The first word: `list_issues` reads, and `created_at` is a field.
    let verb =
        |value: &&&str| value.split(['_', '-', '.', ' ', ':', '/']).next().unwrap_or_default().to_ascii_lowercase();
    let first = |verbs: &[&str]| values.iter().find(|value| verbs.contains(&verb(value).as_str()));
    let faults = match (first(&READING), first(&CHANGING)) {
        (Some(reads), Some(changes)) => vec![Fault {
            given: "values",
            message: format!(
                "{} reads and {} changes something, in one tool",
                Value::from(*reads),
                Value::from(*changes)
            ),
            ..Fault::default()
        }],
        _ => Vec::new(),
    };
    Report { checked: usize::from(values.len() > 1), faults, broken: None }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::checks::tried;
    use conform_model::revision::Revision;

    #[test]
    fn only_first_words_count() {
        let faults = |values| tried(&CHECK, Revision::NEWEST, [("values", values)]).faults.len();
        let cases = [
            (json!(["list", "delete"]), 1),
            (json!(["GET_issue", "create-issue"]), 1),
            (json!(["list", "search"]), 0),
            (json!(["created_at", "updated_at", "listing"]), 0),
            (json!(["create", "update"]), 0),
        ];
        for (values, expected) in cases {
            assert_eq!(faults(values.clone()), expected, "{values}");
        }
    }
}
