use serde_json::{Value, json};

use super::{Counters, Edit, Passing, Sent, Side, Strict, read};

fn edit(yaml: &str) -> Edit {
    read::<Strict>(yaml).unwrap().edit
}

fn passed(yaml: &str, request: Option<&Value>, message: &Value) -> Vec<Sent> {
    let passing = Passing { from: Side::Server, is_own: true, request, revision: None };
    edit(yaml).pass(&mut Counters::default(), &passing, message.clone()).sent
}

fn changed(yaml: &str, message: &Value) -> Value {
    passed(yaml, None, message).remove(0).into_message().unwrap()
}

#[test]
fn values_are_found_by_paths() {
    let message = json!({ "id": 1, "result": { "content": [{ "type": "a", "x": 1 }, { "type": "b", "x": 2 }] } });
    let of = |yaml: &str| changed(yaml, &message)["result"]["content"].clone();
    assert_eq!(of("remove: /result/content/*/x"), json!([{ "type": "a" }, { "type": "b" }]));
    assert_eq!(of("remove: /result/content/type=a"), json!([{ "type": "b", "x": 2 }]));
    assert_eq!(of("remove: [/result/content/0, /result/content/0/x]"), json!([{ "type": "b" }]));
    assert_eq!(of("set: { /result/content/type=b/x: $id }")[1]["x"], 1);
    assert_eq!(of("change: { /result/**: { without: t* } }")[0], json!({ "x": 1 }));
    assert_eq!(of("replace: { /result/other: 1, /nowhere/x: 2 }"), message["result"]["content"]);
    assert_eq!(of("add: { /result/content/type=b/y: 1, /result/none/y: 1 }")[1]["y"], 1);
    assert_eq!(changed("set: { /params/_meta/a: 1 }", &json!({})), json!({ "params": { "_meta": { "a": 1 } } }));
}

#[test]
fn messages_are_selected() {
    let request = json!({ "id": 1, "method": "tools/list" });
    let (result, note) = (json!({ "id": 1, "result": {} }), json!({ "method": "notifications/message" }));
    let drops = |yaml: &str, request, message| passed(&format!("drop: true\n{yaml}"), request, message).is_empty();
    assert!(drops("on: '*'", None, &result) && !drops("on: '*'", None, &note));
    assert!(drops("on: '*/list'", Some(&request), &result) && drops("on: 'notifications/*'", None, &note));
    assert!(drops("of: [notification]", None, &note) && !drops("of: [request, response]", None, &note));
    assert!(drops("from: server", None, &note) && !drops("from: client", None, &note));
    assert!(drops("when: { /message/id: [1, 2], /request/method: present }", Some(&request), &result));
    assert!(!drops("when: { /message/id: { not: { is: number } } }", None, &result));
    assert!(drops("when: { /message/id: { above: 0 }, /message/result: { is: [object, array] } }", None, &result));
    assert!(!drops("when: { /message/id: { below: 1 } }", None, &result));
    assert!(drops("larger-than: 5", None, &result) && !drops("larger-than: 500", None, &result));
}

#[test]
fn shows_are_counted() {
    let passing = Passing { from: Side::Client, is_own: true, request: None, revision: None };
    let shown = |yaml: &str| -> Vec<usize> {
        let (edit, mut counters) = (edit(&format!("drop: true\n{yaml}")), Counters::default());
        (1..7).filter(|_| edit.pass(&mut counters, &passing, json!({})).sent.is_empty()).collect()
    };
    assert_eq!(shown("skip: 4"), [5, 6]);
    assert_eq!(shown("limit: 2"), [1, 2]);
    assert_eq!(shown("every: 3"), [3, 6]);
}

#[test]
fn messages_are_added_repeated_and_replaced() {
    let request = json!({ "id": 7, "method": "ping", "params": { "a": 1 } });
    let texts = |yaml: &str| -> Vec<String> {
        passed(yaml, Some(&request), &json!({ "id": 7 })).into_iter().map(Sent::into_text).collect()
    };
    assert_eq!(
        texts("before: { a: $request/params/a }\nafter: '$id;$message'\ntimes: 2"),
        [r#"{"a":1}"#, r#"{"id":7}"#, r#"{"id":7}"#, r#"7;{"id":7}"#]
    );
    assert_eq!(texts(r#"raw: '{"id":0,$fields}'"#), [r#"{"id":0,"id":7}"#]);
    assert_eq!(texts("then: [{ set: { /x: 1 } }, { instead: { x: $message/x, id: $id } }]"), [r#"{"x":1,"id":7}"#]);
}

#[test]
fn values_become_others() {
    let message =
        json!({ "a": "50% größer", "b": "a%20b%C3%A9%", "n": 1, "t": true, "l": [{ "x": 1 }, { "x": 2 }, {}] });
    let of = |change: &str, name: &str| changed(&format!("change: {{ /{name}: {change} }}"), &message)[name].clone();
    assert_eq!(of("encoded", "a"), "50%25%20gr%C3%B6%C3%9Fer");
    assert_eq!(of("decoded", "b"), "a b%C3%A9%");
    assert_eq!((of("other-type", "a"), of("other-type", "n")), (json!(7), json!("1")));
    assert_eq!((of("other-type", "t"), of("other-type", "l")), (json!("true"), json!({})));
    assert_eq!((of("empty", "a"), of("empty", "l"), of("empty", "n")), (json!(""), json!([]), json!(1)));
    assert_eq!((of("inverted", "t"), of("inverted", "n")), (json!(false), json!(1)));
    assert_eq!((of("{ plus: 2 }", "n"), of("{ plus: 0.5 }", "n")), (json!(3), json!(1.5)));
    assert_eq!(of("first-again", "l"), json!([{ "x": 1 }, { "x": 2 }, {}, { "x": 1 }]));
    assert_eq!(of("{ shifted: x }", "l"), json!([{ "x": 2 }, { "x": 2 }, {}]));
}

#[test]
fn values_of_the_first_message_are_kept() {
    let passing = Passing { from: Side::Server, is_own: true, request: None, revision: None };
    let (edit, mut counters) = (edit("when: { /message/n: { above: 1 } }\nkeep: [/n, /none]"), Counters::default());
    let mut sent = |n: u8| edit.pass(&mut counters, &passing, json!({ "n": n })).sent.remove(0).into_text();
    assert_eq!([sent(1), sent(2), sent(3)], [r#"{"n":1}"#, r#"{"n":2}"#, r#"{"n":2}"#]);
}

#[test]
fn headers_of_http_requests_are_changed() {
    let mut request = json!({ "method": "POST", "headers": { "a": "1", "b": "2" }, "message": { "method": "x/list" } });
    let edit = edit(
        "on: http\n\
         when: { /request/message/method: { ends-with: /list } }\n\
         headers: { a: null, c: '3' }\n\
         change: { /headers/b: { suffix: x } }",
    );
    edit.pass_http(&mut Counters::default(), &mut request);
    assert_eq!(request["headers"], json!({ "b": "2x", "c": "3" }));
}

#[test]
fn unknown_keys_are_errors() {
    let why = read::<Strict>("drops: true\n").unwrap_err();
    assert!(why.contains("drops"), "{why}");
    let why = read::<Strict>("drop: true\nthen:\n  - removes: /x\n").unwrap_err();
    assert!(why.contains("removes"), "{why}");
}
