//! Walks over a graph with cycles, several paths to one resource, several pages and an endless branch.

use std::process::Command;

use serde_json::{Value, json};

const PROGRAM: &str = env!("CARGO_BIN_EXE_mcp-conform");

/// The rules in the report that a command line prints.
fn rules(args: &[&str]) -> Vec<Value> {
    let output = Command::new(PROGRAM)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(args)
        .args(["--report", "json"])
        .output()
        .expect("the program starts");
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    report["rules"].as_array().expect("rules").clone()
}

/// Rules against the reference server with a grown world.
fn in_world(world: &str, more: &[&str]) -> Vec<Value> {
    let server = format!("'{PROGRAM}' serve --content {world}");
    rules(&[&["run", "--revision", "2025-11-25", "--stdio", &server], more].concat())
}

/// What a rule observed.
fn values(rule: &Value) -> Value {
    let seen = rule["observed"].as_array().into_iter().flatten();
    seen.map(|seen| seen["value"].clone()).collect()
}

fn observed() -> Vec<(String, Value)> {
    let line = "run --reference --revision 2025-11-25 --suite tests/walk/walk.yaml --filter walk";
    let told = rules(&line.split(' ').collect::<Vec<_>>());
    told.iter().map(|rule| (rule["id"].as_str().expect("an id").to_owned(), values(rule))).collect()
}

#[test]
fn a_walk_ends_and_says_what_ended_it() {
    let expected = [
        // The directory in itself, and the two in each other. Visited again are these, the last node of the diamond,
        // and directories that are also in the default list.
        ("walk-whole", json!(["complete", 2, 9, 10])),
        ("walk-visits", json!([2, 12])),
        ("walk-ends", json!(["node-limit", "depth-limit", "page-limit"])),
    ];
    assert_eq!(observed(), expected.map(|(id, observed)| (id.to_owned(), observed)));
}

#[test]
fn every_visit_is_judged_though_few_are_kept() {
    let directory = tempfile::tempdir().expect("a directory");
    let transcript = directory.path().join("walk.jsonl").display().to_string();
    let own = ["--suite", "tests/walk/grown.yaml", "--filter", "grown"];
    let told = |rules: &[Value]| {
        let told = rules.iter().map(|rule| json!([rule["id"], rule["checked"], rule["status"], values(rule)]));
        told.collect::<Vec<_>>()
    };
    // Of 7,500 resources 2,500 have three children, except the last one, which has two.
    let expected = [
        json!(["grown-whole", 6, "observed", ["complete", 7500, 7499, 0, 0, 2500]]),
        json!(["grown-visits", 2500, "pass", []]),
        json!(["grown-last", 1, "observed", ["grown:///2499"]]),
        json!(["grown-three", 2500, "warn", []]),
    ];
    let run = in_world("tree:7500,fanout:3", &[&own[..], &["--transcript", &transcript]].concat());
    assert_eq!(told(&run), expected);
    assert_eq!(run[3]["findings"][0]["subject"], "grown:///2499", "{}", run[3]);
    assert_eq!(told(&rules(&[&["judge", &transcript], &own[..]].concat())), expected);
}

#[test]
fn a_world_of_circles_is_walked_once() {
    let rules = in_world("cyclic:500,fanout:4", &["--suite", "tests/walk/grown.yaml", "--filter", "grown-whole"]);
    let seen: Vec<&Value> =
        rules[0]["observed"].as_array().expect("values").iter().map(|seen| &seen["value"]).collect();
    assert_eq!(seen[..3], [&json!("complete"), &json!(500), &json!(2000)]);
    assert_eq!(seen[4], &json!(1501), "all edges but those that lead to something new");
}

#[test]
fn the_user_says_how_far_resources_are_walked() {
    let rule = ["--filter", "sep2093-graph-may-be-cyclic"];
    let walked = |limits: &[&str]| {
        let rules = in_world("tree:5000,fanout:10", &[&rule[..], limits].concat());
        let value = |index: usize| rules[0]["observed"][index]["value"].clone();
        (value(0), value(1))
    };
    assert_eq!(walked(&[]), (json!("node-limit"), json!(2000)));
    // The usual world is walked as well.
    let (end, nodes) = walked(&[
        "--limit",
        "walk_nodes=10000",
        "--limit",
        "walk_depth=50",
        "--limit",
        "walk_pages=1000",
        "--limit",
        "walk_seconds=100",
    ]);
    assert!(end == "complete" && nodes.as_u64() > Some(5000), "{end} {nodes}");
}
