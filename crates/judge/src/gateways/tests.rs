use std::collections::HashSet;

use serde_json::{Value, json};

use super::{differences::differences, ends::Ends, matching::Matching, messages::Message, passed};
use conform_model::evidence::Side;

fn paths(sent: Value, received: Value) -> Vec<String> {
    let [sent, received] = [sent, received].map(|result| json!({ "jsonrpc": "2.0", "id": 1, "result": result }));
    let found = differences(&sent, &received);
    found.iter().map(|one| format!("{} {} ({})", one.what, one.path, one.part)).collect()
}

#[test]
fn what_a_gateway_may_own_is_no_difference() {
    let sent = json!({ "_meta": {}, "n": 1, "isError": false, "tools": [{ "name": "echo" }], "gone": null });
    let received = json!({ "n": 1.0, "tools": [{ "name": "files__echo" }], "_meta": { "trace": 1 } });
    assert_eq!(paths(sent, received), Vec::<String>::new());
}

#[test]
fn each_field_is_told_by_its_path() {
    let sent = json!({ "_meta": { "a/b": 1 }, "content": [{ "text": "ü", "_meta": { "k": 1 } }], "big": 9_007_199_254_740_993_u64 });
    let received = json!({ "content": [{ "text": "?", "more": 1 }], "big": 9_007_199_254_740_992_u64 });
    assert_eq!(
        paths(sent, received),
        [
            "lost result._meta['a/b'] (_meta)",
            "changed result.content[0].text (content)",
            "lost result.content[0]._meta.k (inner _meta)",
            "added result.content[0].more (content)",
            "rounded result.big (big)",
        ]
    );
}

/// The items for messages in this order: the side, the session at the upstream, the sender, and the message.
fn matched(messages: &[(&str, Side, Value)]) -> Vec<Value> {
    let message = |(index, (place, from, message)): (usize, &(&str, Side, Value))| Message {
        frame: index as u64 + 1,
        at: 0,
        link: match *place {
            "front" => 1,
            "second front" => 2,
            _ => 0,
        },
        session: if place.ends_with("front") { String::new() } else { (*place).to_owned() },
        revision: None,
        scenario: None,
        behind: !place.ends_with("front"),
        from: *from,
        post: None,
        pointer: String::new(),
        message: message.clone(),
    };
    let messages: Vec<Message> = messages.iter().enumerate().map(message).collect();
    let channels = HashSet::from([1]);
    passed::items(&Matching::new(messages.iter().collect(), &channels, &Ends::default()))
        .iter()
        .map(|item| json!(item))
        .collect()
}

#[test]
fn what_the_upstream_sends_to_a_session_without_calls_is_for_no_client() {
    let initialize = json!({ "id": 1, "method": "initialize", "params": { "clientInfo": { "name": "front" } } });
    let probe = json!({ "id": 1, "method": "initialize", "params": { "clientInfo": { "name": "probe" } } });
    let declared = json!({ "id": 1, "result": { "capabilities": { "tools": { "listChanged": true } } } });
    let list = json!({ "id": 2, "method": "tools/list" });
    let listed = json!({ "id": 2, "result": { "tools": [] } });
    let changed = json!({ "method": "notifications/tools/list_changed" });
    let items = matched(&[
        ("probe", Side::Client, probe),
        ("probe", Side::Server, declared.clone()),
        ("front", Side::Client, initialize.clone()),
        ("own", Side::Client, initialize),
        ("own", Side::Server, declared.clone()),
        ("front", Side::Server, declared),
        ("front", Side::Client, list.clone()),
        ("own", Side::Client, list),
        ("own", Side::Server, listed.clone()),
        ("front", Side::Server, listed),
        ("probe", Side::Server, changed.clone()),
        ("own", Side::Server, changed.clone()),
        ("front", Side::Server, changed),
    ]);
    let news: Vec<_> = items.iter().filter(|item| item["kind"] == "notification").collect();
    let of = |wanted: bool| news.iter().find(|item| item["wanted"] == wanted).map(|item| item["times"].clone());
    assert_eq!((of(true), of(false)), (Some(json!(1)), Some(json!(0))));
}

#[test]
fn a_request_is_declared_if_the_client_that_receives_it_has_the_capability() {
    let handshake =
        |capabilities: Value| json!({ "id": 1, "method": "initialize", "params": { "capabilities": capabilities } });
    let wanted = json!({ "id": "a", "method": "roots/list" });
    let declared = |own: Value| {
        let items = matched(&[
            ("front", Side::Client, handshake(own)),
            ("own", Side::Client, handshake(json!({ "roots": {} }))),
            ("own", Side::Server, wanted.clone()),
            ("front", Side::Server, wanted.clone()),
        ]);
        let request = items.iter().find(|item| item["method"] == "roots/list").cloned().unwrap_or_default();
        (request["declared"].clone(), request["wanted"].clone())
    };
    // Without a client that has the capability, the gateway cannot pass it on.
    assert_eq!(declared(json!({})), (json!(false), json!(false)));
    assert_eq!(declared(json!({ "roots": {} })), (json!(true), json!(true)));
}

#[test]
fn a_request_of_the_gateway_is_not_taken_for_that_of_its_client() {
    let list = |id: u64, params: Value| json!({ "id": id, "method": "tools/list", "params": params });
    let page = |id: u64, name: &str| json!({ "id": id, "result": { "tools": [{ "name": name }] } });
    let items = matched(&[
        ("front", Side::Client, list(1, json!({ "_meta": { "trace": "a" } }))),
        ("own", Side::Client, list(11, json!({ "cursor": "second" }))),
        ("own", Side::Client, list(12, json!({ "_meta": { "trace": "a" } }))),
        ("own", Side::Server, page(11, "slow")),
        ("own", Side::Server, page(12, "echo")),
        ("front", Side::Server, page(1, "echo")),
    ]);
    assert!(items.iter().all(|item| item["differences"] == json!([])), "{items:?}");
}

#[test]
fn a_gateway_may_have_cursors_of_its_own_and_need_not_know_others() {
    let list = |id: u64, cursor: &str| json!({ "id": id, "method": "tools/list", "params": { "cursor": cursor } });
    let page = |id: u64, cursor: &str| json!({ "id": id, "result": { "tools": [], "nextCursor": cursor } });
    let differences = |second: &str, passed: &str| {
        let items = matched(&[
            ("front", Side::Client, json!({ "id": 1, "method": "tools/list" })),
            ("own", Side::Client, json!({ "id": 1, "method": "tools/list" })),
            ("own", Side::Server, page(1, "theirs")),
            ("front", Side::Server, page(1, "mine")),
            ("front", Side::Client, list(2, second)),
            ("own", Side::Client, list(2, passed)),
        ]);
        items.iter().filter(|item| item["differences"] != json!([])).count()
    };
    assert_eq!(differences("mine", "theirs"), 0);
    assert_eq!(differences("unknown", ""), 0);
    assert_eq!(differences("mine", "mine"), 1);
}

fn call(id: u64, text: &str) -> Value {
    json!({ "id": id, "method": "tools/call", "params": { "name": "echo", "arguments": { "text": text } } })
}

fn returned(id: u64, text: &str) -> Value {
    json!({ "id": id, "result": { "content": [{ "type": "text", "text": text }] } })
}

const FRONTS: [&str; 2] = ["front", "second front"];

/// How many requests had an id that another client used, and how many of these clients received the other's result. Both
/// clients call with the id 7, and share a session of the upstream.
fn confused(alone: bool, behind: [(u64, &str, &str); 2], received: &[(&str, Value)]) -> (usize, usize) {
    let mut messages = Vec::new();
    for ((id, front), text) in (1..).zip(FRONTS).zip(["one", "two"]).filter(|_| alone) {
        messages.push((front, Side::Client, call(id, text)));
        messages.push(("up", Side::Client, call(id, text)));
        messages.push(("up", Side::Server, returned(id, text)));
        messages.push((front, Side::Server, returned(id, text)));
    }
    for ((front, text), (id, sent, _)) in FRONTS.into_iter().zip(["one", "two"]).zip(behind) {
        messages.push((front, Side::Client, call(7, text)));
        messages.push(("up", Side::Client, call(id, sent)));
    }
    messages.extend(behind.map(|(id, _, result)| ("up", Side::Server, returned(id, result))));
    messages.extend(received.iter().map(|(front, message)| (*front, Side::Server, message.clone())));
    let items = matched(&messages);
    let with =
        |field: &str| items.iter().filter(|item| !matches!(item[field], Value::Null | Value::Bool(false))).count();
    (with("id_in_use"), with("other_result"))
}

#[test]
fn a_client_that_receives_the_result_of_another_one_with_the_same_id_is_found() {
    let behind = [(11, "one", "one"), (12, "two", "two")];
    let [one, two] = ["one", "two"].map(|text| returned(7, text));
    let of = |first: &Value, second: &Value| {
        confused(false, behind, &[(FRONTS[0], first.clone()), (FRONTS[1], second.clone())])
    };
    assert_eq!(of(&one, &two), (2, 0));
    assert_eq!(of(&two, &one), (2, 2));
    assert_eq!(confused(false, behind, &[(FRONTS[1], one)]), (2, 1));
}

#[test]
fn a_gateway_that_changes_results_or_returns_its_own_errors_confuses_no_clients() {
    let behind = [(11, "one", "one"), (12, "two", "two")];
    let busy = json!({ "id": 7, "error": { "code": -32000, "message": "Too many requests" } });
    let received = [(FRONTS[0], busy), (FRONTS[1], returned(7, "TWO"))];
    assert_eq!(confused(false, behind, &received), (2, 0));
    let nothing = json!({ "id": 7, "result": { "content": [] } });
    assert_eq!(confused(false, behind, &[(FRONTS[0], nothing.clone()), (FRONTS[1], nothing)]), (2, 0));
}

#[test]
fn nothing_is_found_where_the_own_result_is_not_known() {
    let [one, two] = ["one", "two"].map(|text| returned(7, text));
    let swapped = [(FRONTS[0], two), (FRONTS[1], one)];
    // The gateway has dropped the arguments.
    assert_eq!(confused(false, [(11, "", "one"), (12, "", "two")], &swapped), (0, 0));
    // Both results are equal.
    assert_eq!(confused(false, [(11, "one", "done"), (12, "two", "done")], &swapped), (0, 0));
    // The upstream has received one id twice.
    assert_eq!(confused(false, [(7, "one", "one"), (7, "two", "two")], &swapped), (0, 0));
}

#[test]
fn equal_calls_show_the_own_result_where_the_upstream_received_one_id_twice() {
    let [one, two] = ["one", "two"].map(|text| returned(7, text));
    let behind = [(7, "one", "one"), (7, "two", "two")];
    assert_eq!(confused(true, behind, &[(FRONTS[0], one.clone()), (FRONTS[1], two.clone())]), (2, 0));
    assert_eq!(confused(true, behind, &[(FRONTS[1], one.clone())]), (2, 1));
    let to_all = FRONTS.into_iter().flat_map(|front| [(front, one.clone()), (front, two.clone())]);
    assert_eq!(confused(true, behind, &to_all.collect::<Vec<_>>()), (2, 2));
}
