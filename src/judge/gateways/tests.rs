use serde_json::{Value, json};

use super::differences::differences;

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
