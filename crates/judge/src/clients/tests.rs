//! The items that rules get for various client behaviour.

use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use conform_model::{
    evidence::{HttpHead, Recorder, Sent, Transport},
    revision::Revision,
};

/// All items of that name for messages of the client (true) and the server.
fn items(messages: &[(bool, Value)], root: &str) -> Vec<Value> {
    let recorder = Recorder::new(1 << 20, 1 << 20, 1_000);
    let link = recorder.open_link(Transport::Stdio);
    recorder.settle(link, Revision::V2025_11_25);
    for (client, message) in messages {
        let sent = Sent { link, by: "client".to_owned(), post: None };
        if *client {
            recorder.passed(&sent, message, 1, Vec::new());
        } else {
            recorder.received(link, None, message, 1, Vec::new(), None);
        }
    }
    recorded(&recorder, root)
}

/// All items of that name for what was recorded.
fn recorded(recorder: &Recorder, root: &str) -> Vec<Value> {
    let links = recorder.links();
    let mut clients = Clients::default();
    let frames: Vec<Arc<Frame>> = recorder.frames().collect();
    let mut all: Items = frames.iter().flat_map(|frame| clients.take(frame, &links[0])).collect();
    all.extend(clients.rest());
    all.into_iter().filter(|(name, _)| *name == root).map(|(_, item)| item).collect()
}

fn list(id: u64, cursor: Option<&str>) -> (bool, Value) {
    let params = cursor.map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }));
    (true, json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list", "params": params }))
}

fn page(id: u64, next: Option<&str>) -> (bool, Value) {
    let mut result = json!({ "tools": [{ "name": "a" }] });
    if let Some(next) = next {
        result["nextCursor"] = json!(next);
    }
    (false, json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

#[test]
fn a_cursor_is_the_next_one_an_earlier_one_or_unknown() {
    let messages = [
        list(1, None),
        page(1, Some("b")),
        list(2, Some("b")),
        page(2, Some("c")),
        list(3, Some("b")),
        page(3, Some("c")),
        list(4, Some("x")),
        page(4, None),
        list(5, Some("c")),
    ];
    let kinds: Vec<Value> = items(&messages, "sent").iter().map(|sent| sent["list"].clone()).collect();
    assert_eq!(kinds, ["first", "next", "earlier", "unknown", "ended"]);
    let lists = items(&messages, "lists");
    assert_eq!(lists.len(), 1);
    assert_eq!(
        (&lists[0]["pages"], &lists[0]["repeated"], &lists[0]["end"]),
        (&json!(4), &json!(1), &json!("complete"))
    );
}

#[test]
fn two_walks_of_a_list_may_go_on_at_once() {
    let messages = [
        list(1, None),
        list(2, None),
        page(1, Some("b")),
        page(2, Some("b")),
        list(3, Some("b")),
        page(3, None),
        list(4, Some("b")),
        page(4, None),
        list(5, Some("b")),
    ];
    let kinds: Vec<Value> = items(&messages, "sent").iter().map(|sent| sent["list"].clone()).collect();
    assert_eq!(kinds, ["first", "first", "next", "next", "ended"]);
}

#[test]
fn what_the_client_responds_belongs_to_a_request_of_the_server() {
    let ping = |id: u64| (false, json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }));
    let pong = |id: u64| (true, json!({ "jsonrpc": "2.0", "id": id, "result": {} }));
    let messages = [list(7, None), ping(1), ping(2), pong(1), pong(1), pong(9), page(7, None)];
    let replies: Vec<Value> = items(&messages, "sent").iter().skip(1).map(|sent| sent["replies_to"].clone()).collect();
    assert_eq!(replies, ["request", "answered request", "nothing"]);
    let handled = items(&messages, "handled");
    let ends: Vec<(&Value, &Value)> = handled.iter().map(|item| (&item["end"], &item["replies"])).collect();
    assert_eq!(ends, [(&json!("result"), &json!(2)), (&json!("none"), &json!(0))]);
    assert_eq!(handled[0]["open"], json!(["tools/list"]));
    assert_eq!(handled[0]["responded_while_open"], json!(true));
}

#[test]
fn an_error_without_an_id_may_respond_to_what_is_no_message() {
    let error = (true, json!({ "jsonrpc": "2.0", "error": { "code": -32600, "message": "Invalid Request" } }));
    let notification = (false, json!({ "jsonrpc": "2.0", "method": "notifications/other" }));
    let messages = [notification, error.clone(), (false, json!(42)), error];
    let replies: Vec<Value> = items(&messages, "sent").iter().map(|sent| sent["replies_to"].clone()).collect();
    assert_eq!(replies, ["nothing", "malformed message"]);
}

#[test]
fn a_cancellation_names_a_request_that_is_open() {
    let cancel = |id: u64| {
        let params = json!({ "requestId": id });
        (true, json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }))
    };
    let initialize = (true, json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {} }));
    let messages = [initialize, cancel(0), list(1, None), cancel(1), page(1, None), cancel(1), cancel(5)];
    let cancels: Vec<Value> = items(&messages, "sent")
        .into_iter()
        .map(|sent| sent["cancels"].clone())
        .filter(|cancels| !cancels.is_null())
        .collect();
    assert_eq!(cancels, ["initialize", "open request", "ending request", "nothing"]);
}

#[test]
fn a_cancellation_may_overtake_its_request_over_http() {
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    let request = list(1, None).1;
    let cancels = |transport, messages: [(&Value, u64); 2]| {
        let recorder = Recorder::new(1 << 20, 1 << 20, 1_000);
        let link = recorder.open_link(transport);
        for (message, post) in messages {
            let post = (transport == Transport::Http).then_some(post);
            recorder.passed(&Sent { link, by: "client".to_owned(), post }, message, 1, Vec::new());
        }
        let sent = recorded(&recorder, "sent");
        assert_eq!(sent.len(), 2, "{sent:?}");
        sent.iter().find_map(|item| item["cancels"].as_str().map(str::to_owned)).expect("a cancellation")
    };
    assert_eq!(cancels(Transport::Http, [(&cancel, 1), (&request, 2)]), "open request");
    assert_eq!(cancels(Transport::Stdio, [(&cancel, 1), (&request, 2)]), "nothing");
    let other = list(2, None).1;
    assert_eq!(cancels(Transport::Http, [(&cancel, 1), (&other, 2)]), "nothing");
}

#[test]
fn a_retry_gives_what_a_result_requires() {
    let call = |id: u64, more: &Value| {
        let mut params = json!({ "name": "tool" });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        (true, json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }))
    };
    let requests = json!({ "roots": { "method": "roots/list" } });
    let required = json!({ "resultType": "input_required", "inputRequests": requests, "requestState": "s" });
    let responses = json!({ "inputResponses": { "roots": { "roots": [] } }, "requestState": "s" });
    let messages =
        [call(1, &json!({})), (false, json!({ "jsonrpc": "2.0", "id": 1, "result": required })), call(2, &responses)];
    let inputs = items(&messages, "inputs");
    assert_eq!(inputs.len(), 1);
    assert_eq!((&inputs[0]["retried"], &inputs[0]["retry_id_new"]), (&json!(true), &json!(true)));
    assert_eq!(inputs[0]["response"], json!({ "roots": [] }));
}

#[test]
fn input_belongs_to_the_request_whose_result_required_it() {
    let call = |id: u64, tool: &str, state: Option<&str>| {
        let mut params = json!({ "name": tool });
        if let Some(state) = state {
            params["requestState"] = json!(state);
        }
        (true, json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }))
    };
    let required = json!({ "resultType": "input_required", "requestState": "s" });
    let messages = [
        call(1, "a", None),
        (false, json!({ "jsonrpc": "2.0", "id": 1, "result": required })),
        call(2, "a", Some("s")),
        call(3, "a", Some("s")),
        call(4, "b", Some("s")),
    ];
    let belong: Vec<Value> = items(&messages, "sent").iter().map(|sent| sent["input_required"].clone()).collect();
    assert_eq!(belong, [json!(null), json!(true), json!(true), json!(false)]);
}

#[test]
fn a_request_is_not_open_once_its_http_request_was_rejected() {
    let recorder = Recorder::new(1 << 20, 1 << 20, 1_000);
    let link = recorder.open_link(Transport::Http);
    let call = json!({
        "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": { "name": "a", "_meta": { "progressToken": 2 } },
    });
    for (post, status) in [(1, 404), (2, 200), (3, 200)] {
        let sent = Sent { link, by: "client".to_owned(), post: Some(post) };
        recorder.passed(&sent, &call, 1, Vec::new());
        recorder.http_response(link, post, HttpHead { status: Some(status), ..HttpHead::default() });
    }
    let repeated: Vec<Value> = recorded(&recorder, "sent").iter().map(|sent| sent["token_repeated"].clone()).collect();
    assert_eq!(repeated, [false, false, true]);
}
