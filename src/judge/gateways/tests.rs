use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::{differences::differences, matching::Matching, messages::Message, passed};
use crate::evidence::Side;

fn paths(sent: Value, received: Value) -> Vec<String> {
    let [sent, received] = [sent, received].map(|result| json!({ "jsonrpc": "2.0", "id": 1, "result": result }));
    let text = |difference: &Value, name: &str| difference[name].as_str().unwrap_or_default().to_owned();
    let found = differences(&sent, &received);
    found.iter().map(|one| format!("{} {} ({})", text(one, "what"), text(one, "path"), text(one, "part"))).collect()
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
        link: u32::from(*place == "front"),
        session: if *place == "front" { String::new() } else { (*place).to_owned() },
        revision: None,
        scenario: None,
        behind: *place != "front",
        from: *from,
        post: None,
        pointer: String::new(),
        message: message.clone(),
    };
    let messages: Vec<Message> = messages.iter().enumerate().map(message).collect();
    let channels = HashSet::from([1]);
    passed::items(&Matching::new(messages.iter().collect(), &channels, &HashMap::new()))
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
