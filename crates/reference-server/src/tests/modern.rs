//! 2026-07-28: no handshake, and every request is independent.

use serde_json::json;

use super::Talk;
use conform_model::revision::Revision;

const MODERN: Revision = Revision::V2026_07_28;
const TAG: &str = "io.modelcontextprotocol/subscriptionId";

#[test]
fn discovery_names_the_versions_and_every_result_says_what_it_is() {
    let mut talk = Talk::new(MODERN);
    let found = talk.result("server/discover", &json!({}));
    assert_eq!(found["supportedVersions"][0], "2026-07-28");
    assert_eq!(found["supportedVersions"].as_array().map(Vec::len), Some(5));
    for method in ["server/discover", "resources/list", "resources/templates/list", "tools/list", "prompts/list"] {
        let result = talk.result(method, &json!({}));
        assert_eq!(result["resultType"], "complete", "{method}");
        assert!(result["ttlMs"].is_u64() && result["cacheScope"] == "public", "{method}");
        let server = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
        assert_eq!(server["name"], "mcp-conform-reference", "{method}");
    }
}

#[test]
fn a_request_has_to_say_which_version_it_speaks() {
    let mut talk = Talk::new(MODERN);
    let mut ask = |meta| {
        let params = json!({ "_meta": meta });
        talk.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/list", "params": params }))[0].clone()
    };
    let version = "io.modelcontextprotocol/protocolVersion";
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    assert_eq!(ask(json!({}))["error"]["code"], -32602);
    assert_eq!(ask(json!({ version: "2026-07-28" }))["error"]["code"], -32602);
    assert_eq!(ask(json!({ capabilities: {} }))["error"]["code"], -32602);
    assert!(ask(json!({ version: "2026-07-28", capabilities: {} })).get("result").is_some());
    let unknown = ask(json!({ version: "2099-01-01", capabilities: {} }));
    assert_eq!(unknown["error"]["code"], -32022);
    assert_eq!(unknown["error"]["data"]["requested"], "2099-01-01");
    assert_eq!(unknown["error"]["data"]["supported"][0], "2026-07-28");
}

#[test]
fn errors_are_those_of_the_revision() {
    let mut talk = Talk::new(MODERN);
    let gone = json!({ "uri": "file:///nowhere" });
    assert_eq!(talk.error("resources/read", &gone), (-32602, gone));
    for method in ["ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "no/such"] {
        assert_eq!(talk.error(method, &json!({})).0, -32601, "{method}");
    }
    assert_eq!(talk.error("subscriptions/listen", &json!({})).0, -32602);
    let (code, data) = talk.error("tools/call", &json!({ "name": "ask" }));
    assert_eq!((code, &data["requiredCapabilities"]), (-32021, &json!({ "elicitation": { "form": {} } })));
    assert!(talk.send_bytes(b"{")[0].get("id").is_none());
}

#[test]
fn a_tool_can_ask_back_and_is_answered_by_a_second_call() {
    let mut talk = Talk::new(MODERN);
    let mut call = |answers| {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
        });
        let params = json!({ "name": "ask", "inputResponses": answers, "_meta": meta });
        talk.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }))[0]["result"].clone()
    };
    let asked = call(json!({}));
    assert_eq!(asked["resultType"], "input_required");
    assert_eq!(asked["inputRequests"]["name"]["method"], "elicitation/create");
    assert!(asked.get("ttlMs").is_none());
    let told = call(json!({ "name": { "action": "accept", "content": { "name": "Ada" } } }));
    assert_eq!((&told["resultType"], &told["content"][0]["text"]), (&json!("complete"), &json!("Hello, Ada.")));
}

#[test]
fn subscriptions_are_acknowledged_tagged_and_ended_by_cancelling() {
    let mut talk = Talk::new(MODERN);
    let filter = json!({ "resourcesListChanged": true, "resourceSubscriptions": ["memo://status", "memo://nothing"] });
    let opened = talk.ask("subscriptions/listen", &json!({ "notifications": filter }));
    let id = talk.id;
    assert_eq!(opened.len(), 1, "no answer as long as it is open");
    assert_eq!(opened[0]["method"], "notifications/subscriptions/acknowledged");
    let honoured = json!({ "resourcesListChanged": true, "resourceSubscriptions": ["memo://status"] });
    assert_eq!(opened[0]["params"], json!({ "_meta": { TAG: id }, "notifications": honoured }));
    let other = talk.ask("subscriptions/listen", &json!({ "notifications": { "toolsListChanged": true } }));
    assert_eq!(other[0]["params"]["notifications"], json!({ "toolsListChanged": true }));
    let heard = talk.ask("tools/call", &json!({ "name": "touch" }));
    assert_eq!(heard[0]["params"], json!({ "_meta": { TAG: id }, "uri": "memo://status" }));
    assert_eq!(
        talk.ask("tools/call", &json!({ "name": "add_resource" }))[0]["params"],
        json!({ "_meta": { TAG: id } })
    );
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
    assert!(talk.send(&cancel).is_empty());
    assert_eq!(talk.ask("tools/call", &json!({ "name": "touch" })).len(), 1);
    let closing = talk.server.close(&mut talk.session);
    assert_eq!(closing.len(), 1, "the other subscription is still open");
}

#[test]
fn both_eras_live_side_by_side() {
    let mut talk = Talk::new(MODERN);
    talk.initialize("2025-06-18");
    let modern = talk.result("resources/read", &json!({ "uri": "memo://status" }));
    assert_eq!(modern["resultType"], "complete");
    talk.revision = Revision::V2025_06_18;
    let legacy = talk.result("resources/read", &json!({ "uri": "memo://status" }));
    assert!(legacy.get("resultType").is_none());
    assert_eq!(talk.error("resources/read", &json!({ "uri": "memo://nothing" })).0, -32002);
}

#[test]
fn log_messages_come_only_with_a_level() {
    let mut talk = Talk::new(MODERN);
    let echo = |meta| json!({ "name": "echo", "arguments": { "text": "ö" }, "_meta": meta });
    assert_eq!(talk.ask("tools/call", &echo(json!({}))).len(), 1);
    let level = "io.modelcontextprotocol/logLevel";
    assert_eq!(talk.ask("tools/call", &echo(json!({ level: "debug" })))[0]["method"], "notifications/message");
    assert_eq!(talk.ask("tools/call", &echo(json!({ level: "error" }))).len(), 1);
    assert_eq!(talk.error("tools/call", &echo(json!({ level: "loud" }))).0, -32602);
}

#[test]
fn completion_suggests_what_fits() {
    let mut talk = Talk::new(MODERN);
    let mut complete = |reference, name: &str, value: &str| {
        let argument = json!({ "name": name, "value": value });
        let context = json!({ "arguments": { "table": "orders" } });
        talk.answer("completion/complete", &json!({ "ref": reference, "argument": argument, "context": context }))
    };
    let template = |uri: &str| json!({ "type": "ref/resource", "uri": uri });
    let numbers = complete(template("number:///{number}"), "number", "")["result"]["completion"].clone();
    assert_eq!(numbers["values"].as_array().map(Vec::len), Some(100));
    assert_eq!((&numbers["total"], &numbers["hasMore"]), (&json!(1000), &json!(true)));
    let rows = complete(template("db://shop/{table}/{row}"), "row", "")["result"]["completion"]["values"].clone();
    assert_eq!(rows, json!(["1001", "1002"]));
    let greet = json!({ "type": "ref/prompt", "name": "greet" });
    assert_eq!(complete(greet, "style", "fr")["result"]["completion"]["values"], json!(["friendly"]));
    for unknown in
        [template("no:///{such}"), json!({ "type": "ref/other" }), json!({ "type": "ref/prompt", "name": "x" })]
    {
        assert_eq!(complete(unknown, "x", "")["error"]["code"], -32602);
    }
}
