//! Walks over a graph with circles, several ways to one place, several pages and a branch without end.

use std::process::Command;

use serde_json::{Value, json};

fn observed() -> Vec<(String, Value)> {
    let line = "run --reference --revision 2025-11-25 --suite tests/walk/walk.yaml --filter walk --report json";
    let output = Command::new(env!("CARGO_BIN_EXE_mcp-conform"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(line.split(' '))
        .output()
        .expect("the program starts");
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    let rules = report["rules"].as_array().expect("rules");
    rules
        .iter()
        .map(|rule| {
            let values = rule["observed"].as_array().expect("observations").iter().map(|seen| seen["value"].clone());
            (rule["id"].as_str().expect("an id").to_owned(), values.collect())
        })
        .collect()
}

#[test]
fn a_walk_ends_and_says_what_ended_it() {
    let expected = [
        // The directory in itself, and the two in each other; what is met again are these, the tip of the diamond, and
        // directories that the default list has as well.
        ("walk-whole", json!(["complete", 2, 9, 10])),
        ("walk-visits", json!([2, 12])),
        ("walk-ends", json!(["node-limit", "depth-limit", "page-limit"])),
    ];
    assert_eq!(observed(), expected.map(|(id, observed)| (id.to_owned(), observed)));
}
