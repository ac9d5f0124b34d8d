//! A fault changes one thing, and only where it declares it.

use serde_json::{Value, json};

use super::Talk;
use conform_model::revision::Revision;

const REVISION: Revision = Revision::V2025_11_25;

fn lines(talk: &mut Talk, request: &Value) -> Vec<String> {
    let turn = talk.server.message(&mut talk.session, request.clone());
    turn.out.into_iter().map(|out| String::from_utf8_lossy(&out.bytes).into_owned()).collect()
}

fn ping(id: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "ping" })
}

#[test]
fn a_patch_changes_the_answer_that_it_fits() {
    let mut talk = Talk::faulty("read-contents-empty", REVISION);
    let read = talk.result("resources/read", &json!({ "uri": "memo://status" }));
    assert_eq!(read["contents"], json!([]));
    assert_eq!(talk.error("resources/read", &json!({ "uri": "memo://nothing" })).0, -32002);
    assert_eq!(talk.resources(), Talk::new(REVISION).resources());
}

#[test]
fn a_request_can_be_misheard() {
    let mut talk = Talk::faulty("prefix-overlooked", REVISION);
    let all = Talk::new(REVISION).resources();
    assert_eq!(talk.list("resources/list", "resources", &json!({ "prefix": "db://" })), all);
}

#[test]
fn a_line_can_come_before_the_answer() {
    let mut talk = Talk::faulty("stdout-log-line", REVISION);
    let lines = lines(&mut talk, &ping(&json!(1)));
    assert_eq!(lines, ["INFO reference: answering", r#"{"jsonrpc":"2.0","id":1,"result":{}}"#]);
}

#[test]
fn bad_json_ends_or_deafens_the_server() {
    let mut talk = Talk::faulty("exits-on-bad-json", REVISION);
    assert!(talk.server.receive(&mut talk.session, b"{").crash.is_some());
    let mut talk = Talk::faulty("hangs-after-bad-json", REVISION);
    assert_eq!(talk.result("ping", &json!({})), json!({}));
    assert!(talk.send_bytes(b"{").is_empty());
    assert!(talk.ask("ping", &json!({})).is_empty());
}

#[test]
fn ids_can_come_back_wrong_or_not_at_all() {
    let mut talk = Talk::faulty("id-as-string", REVISION);
    assert_eq!(talk.send(&ping(&json!(7)))[0]["id"], "7");
    let mut talk = Talk::faulty("id-zero-dropped", REVISION);
    assert!(talk.send(&ping(&json!(0))).is_empty());
    assert_eq!(talk.send(&ping(&json!(1))).len(), 1);
}

#[test]
fn answers_can_be_too_many_too_few_or_stale() {
    let mut talk = Talk::faulty("notification-answered", REVISION);
    assert_eq!(talk.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).len(), 1);
    let mut talk = Talk::faulty("unknown-method-ignored", REVISION);
    assert!(talk.ask("no/such", &json!({})).is_empty());
    let mut talk = Talk::faulty("stops-after-third-request", REVISION);
    let answered = (0..5).filter(|_| !talk.ask("ping", &json!({})).is_empty()).count();
    assert_eq!(answered, 2, "initialize was the first");
    let mut talk = Talk::faulty("replies-cross-wired", REVISION);
    talk.result("resources/read", &json!({ "uri": "memo://status" }));
    let second = talk.result("resources/read", &json!({ "uri": "urn:example:greeting" }));
    assert_eq!(second["contents"][0]["uri"], "memo://status");
}

#[test]
fn lists_can_go_on_for_ever() {
    let mut talk = Talk::faulty("cursor-never-ends", REVISION);
    let mut params = json!({});
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..10 {
        let page = talk.result("resources/list", &params);
        let cursor = page["nextCursor"].as_str().expect("there is always more").to_owned();
        seen.insert(cursor.clone());
        params = json!({ "cursor": cursor });
    }
    assert_eq!(seen.len(), 10, "cursors are fresh: {seen:?}");

    let mut talk = Talk::faulty("cursor-repeats", REVISION);
    let mut params = json!({});
    let mut seen = std::collections::BTreeSet::new();
    let repeats = (0..10).any(|_| {
        params = json!({ "cursor": talk.result("tools/list", &params)["nextCursor"] });
        !seen.insert(params.to_string())
    });
    assert!(repeats, "{seen:?}");

    let mut talk = Talk::faulty("cursor-ignored", REVISION);
    let first = talk.result("resources/list", &json!({}));
    assert_eq!(talk.result("resources/list", &json!({ "cursor": first["nextCursor"] })), first);
}

#[test]
fn bytes_can_be_spelled_wrong() {
    let mut talk = Talk::faulty("pretty-printed-json", REVISION);
    assert!(lines(&mut talk, &ping(&json!(1)))[0].contains("\n  \"id\": 1"));
    let mut talk = Talk::faulty("latin1-output", REVISION);
    let params = json!({ "name": "echo", "arguments": { "text": "ö" } });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let turn = talk.server.message(&mut talk.session, call);
    assert!(turn.out[0].bytes.contains(&0xF6) && std::str::from_utf8(&turn.out[0].bytes).is_err());
}

#[test]
fn each_connection_can_be_shown_a_list_of_its_own() {
    let mut talk = Talk::faulty("list-changes-per-connection", REVISION);
    assert_eq!(talk.resources().len(), Talk::new(REVISION).resources().len() + 1);
    for resource in talk.resources() {
        talk.result("resources/read", &json!({ "uri": resource["uri"] }));
    }
}
