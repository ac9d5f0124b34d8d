//! A check does not count values that it has nothing to judge in.

use serde_json::{Value, json};

use super::{
    Check,
    lists::{lists_agree, not_newer, only_declared},
    messages::{meta_keys, no_match, tells_none},
    resources::{contents_metadata, list_depth, prefix_filter, scopes_differ},
    schemas::header_annotations,
    tasks::task_requests,
    tried,
};
use conform_model::revision::Revision;

fn checked<const N: usize>(check: &Check, given: [(&str, Value); N]) -> usize {
    let report = tried(check, Revision::NEWEST, given);
    assert!(report.faults.is_empty() && report.broken.is_none(), "{}: {report:?}", check.name);
    report.checked
}

#[test]
fn messages_that_a_check_is_not_about() {
    let declared = |method: &str| {
        checked(&only_declared::CHECK, [("message", json!({ "method": method })), ("server", json!({ "logging": {} }))])
    };
    assert_eq!((declared("notifications/message"), declared("notifications/progress")), (1, 0));
    let newer = |message: Value| checked(&not_newer::CHECK, [("message", message)]);
    assert_eq!((newer(json!({ "result": {} })), newer(json!({ "error": {} }))), (1, 0));
    let told = |of: Value| checked(&tells_none::CHECK, [("message", json!({ "data": "x" })), ("of", of)]);
    assert_eq!((told(json!(["secret"])), told(json!([]))), (1, 0));
    let found = |text: Value| checked(&no_match::CHECK, [("text", text), ("pattern", json!("secret"))]);
    assert_eq!((found(json!({ "a": ["x", "y"] })), found(json!({ "a": [1] }))), (1, 0));
}

#[test]
fn keys_and_annotations_that_a_part_is_not_about() {
    let keys = |part: &str, key: &str| {
        checked(&meta_keys::CHECK, [("message", json!({ "_meta": { key: 1 } })), ("part", json!(part))])
    };
    assert_eq!((keys("prefix", "com.example/a"), keys("prefix", "a")), (1, 0));
    assert_eq!((keys("reverse-dns", "com.example/a"), keys("reverse-dns", "a")), (1, 0));
    // A server cannot choose the protocol's own prefix.
    assert_eq!((keys("reverse-dns", "io.modelcontextprotocol/serverInfo"), keys("name", "a")), (0, 1));
    let marks = |part: &str, names: &[&str]| {
        let marked = names.iter().map(|name| ((*name).to_owned(), json!({ "type": "string", "x-mcp-header": name })));
        let schema = json!({ "properties": marked.collect::<serde_json::Map<_, _>>() });
        checked(&header_annotations::CHECK, [("schema", schema), ("part", json!(part))])
    };
    assert_eq!((marks("unique", &["a", "b"]), marks("unique", &["a"]), marks("safe", &["a"])), (2, 0, 0));
}

#[test]
fn lists_that_are_too_short_to_tell() {
    let visit =
        |key: &str, children: &[&str]| json!({ "key": key, "children": children, "reply": { "end": "complete" } });
    let depth = |visits: Value| checked(&list_depth::CHECK, [("visits", visits), ("part", json!("subtree"))]);
    assert_eq!(depth(json!([visit("a:/d", &["a:/d/e"]), visit("a:/d/e", &["a:/d/e/f"])])), 1);
    assert_eq!(depth(json!([visit("a:/d", &["a:/d/e"])])), 0);
    let list = |names: &[&str]| {
        let tools: Vec<_> = names.iter().map(|name| json!({ "name": name })).collect();
        json!({ "method": "tools/list", "link": 1, "params": {}, "result": { "tools": tools } })
    };
    let order = |names: &[&str]| {
        checked(&lists_agree::CHECK, [("lists", json!([list(names), list(names)])), ("of", json!("order"))])
    };
    assert_eq!((order(&["a", "b"]), order(&["a"])), (1, 0));
    let default = json!({ "resources": [{ "uri": "a:1" }, { "uri": "a:2" }] });
    let scopes = |unknown: Value| {
        let given = [("visits", json!([])), ("default", default.clone()), ("unknown", json!({ "result": unknown }))];
        checked(&scopes_differ::CHECK, given)
    };
    assert_eq!((scopes(json!({ "resources": [] })), scopes(Value::Null)), (1, 0));
    let items = json!({ "end": "complete", "items": [{ "uri": "a:1" }] });
    let filtered = |prefix: &str, kept: Value| {
        let filtered = json!({ "end": "complete", "items": kept, "pages": [{ "end": "result" }] });
        let given =
            [("filtered", filtered), ("prefix", json!(prefix)), ("before", items.clone()), ("after", items.clone())];
        let [filtered, prefix, before, after] = given;
        checked(&prefix_filter::CHECK, [filtered, prefix, before, after, ("part", json!("all"))])
    };
    assert_eq!((filtered("a:", json!([{ "uri": "a:1" }])), filtered("b:", json!([]))), (1, 0));
}

#[test]
fn what_has_no_counterpart_is_compared_with_nothing() {
    let read = |part: &str, content: Value| {
        let read =
            json!({ "resource": { "uri": "a:1", "name": "n" }, "reply": { "result": { "contents": [content] } } });
        checked(&contents_metadata::CHECK, [("read", read), ("part", json!(part))])
    };
    let (with, without) = (json!({ "uri": "a:1", "name": "n" }), json!({ "uri": "a:1" }));
    assert_eq!((read("equal", with.clone()), read("equal", without), read("kept", with)), (1, 0, 1));
    let poll = |requests: Value| json!({ "result": { "status": "input_required", "inputRequests": requests } });
    let over = json!({ "result": { "status": "completed" } });
    let asked = |again: Value| {
        let first = poll(json!({ "a": { "method": "x" } }));
        checked(&task_requests::CHECK, [("part", json!("unique")), ("asked", first), ("again", again)])
    };
    assert_eq!((asked(poll(json!({ "b": { "method": "y" } }))), asked(over)), (1, 0));
}
