//! The revisions with a handshake.

use serde_json::{Value, json};

use super::Talk;
use crate::{
    options::{Options, Transport},
    session::Session,
};
use conform_model::revision::Revision;

const LEGACY: [Revision; 4] =
    [Revision::V2024_11_05, Revision::V2025_03_26, Revision::V2025_06_18, Revision::V2025_11_25];

#[test]
fn the_handshake_settles_the_revision_asked_for_or_the_newest_legacy_one() {
    for (asked, settled) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-06-18", "2025-06-18"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let mut talk = Talk::new(Revision::NEWEST);
        let result = &talk.initialize(asked)["result"];
        assert_eq!(result["protocolVersion"], settled);
        assert_eq!(result["capabilities"].get("completions").is_some(), settled > "2024-11-05");
        assert_eq!(result["serverInfo"].get("title").is_some(), settled >= "2025-06-18");
    }
    let only_modern = Options { revisions: vec![Revision::NEWEST], ..Options::default() };
    let refused = Talk::with(only_modern, Revision::NEWEST).initialize("2025-11-25");
    assert_eq!(refused["error"]["code"], -32022);
    assert_eq!(refused["error"]["data"]["supported"], json!(["2026-07-28"]));
}

#[test]
fn ping_is_answered_before_the_handshake_and_nothing_else_is() {
    let mut talk = Talk::new(Revision::NEWEST);
    talk.revision = Revision::NEWEST_LEGACY;
    assert_eq!(talk.result("ping", &json!({})), json!({}));
    assert_eq!(talk.error("resources/list", &json!({})).0, -32602);
}

#[test]
fn resources_show_what_the_revision_defines_and_no_more() {
    for revision in LEGACY {
        let mut talk = Talk::new(revision);
        let resources = talk.resources();
        let readme = resources.iter().find(|resource| resource["name"] == "readme.md").expect("a readme");
        assert_eq!(readme.get("title").is_some(), revision >= Revision::V2025_06_18, "{revision}");
        assert_eq!(
            readme["annotations"].get("lastModified").is_some(),
            revision >= Revision::V2025_06_18,
            "{revision}"
        );
        assert_eq!(readme.get("icons").is_some(), revision >= Revision::V2025_11_25, "{revision}");
        assert_eq!(readme["capabilities"], json!({ "list": false, "subscribe": true }));
        assert!(talk.result("resources/list", &json!({})).get("ttlMs").is_none());
    }
}

#[test]
fn every_listed_resource_can_be_read_and_described() {
    let mut talk = Talk::new(Revision::V2025_11_25);
    let resources = talk.resources();
    assert!(resources.len() > 20, "several pages");
    for resource in resources {
        let uri = &resource["uri"];
        let contents = talk.result("resources/read", &json!({ "uri": uri }))["contents"].clone();
        assert_eq!(&contents[0]["uri"], uri);
        assert_eq!(talk.result("resources/metadata", &json!({ "uri": uri }))["resource"], resource);
        if resource["capabilities"]["list"] == false {
            let others = contents.as_array().into_iter().flatten().filter(|content| &content["uri"] != uri);
            assert_eq!(others.count(), 0, "{uri} brings neighbours");
            assert_eq!(talk.error("resources/list", &json!({ "uri": uri })).0, -32602);
        }
    }
    let report = talk.result("resources/read", &json!({ "uri": "file:///docs/report" }));
    assert_eq!(report["contents"].as_array().map(Vec::len), Some(3), "three formats of one document");
}

#[test]
fn without_the_proposal_contents_are_bare_and_lists_have_no_scope() {
    let mut talk = Talk::with(Options { proposals: Vec::new(), ..Options::default() }, Revision::V2025_06_18);
    let contents = talk.result("resources/read", &json!({ "uri": "memo://status" }))["contents"].clone();
    let text = "edited 0 times\n";
    assert_eq!(contents, json!([{ "uri": "memo://status", "mimeType": "text/plain", "text": text }]));
    assert!(talk.resources().iter().all(|resource| resource.get("capabilities").is_none()));
    assert_eq!(talk.error("resources/metadata", &json!({ "uri": "memo://status" })).0, -32601);
    let shown = talk.result("tools/call", &json!({ "name": "show_resources" }));
    assert!(shown["content"][1].get("annotations").is_some());
}

#[test]
fn scoped_lists_page_through_direct_children() {
    let mut talk = Talk::new(Revision::V2025_11_25);
    let logs = talk.list("resources/list", "resources", &json!({ "uri": "file:///logs" }));
    assert_eq!(logs.len(), 12);
    let itself = talk.list("resources/list", "resources", &json!({ "uri": "file:///links/self" }));
    assert_eq!(itself[0]["uri"], "file:///links/self");
    let branch = talk.list("resources/list", "resources", &json!({ "uri": "endless:///41" }));
    assert_eq!(branch[1]["uri"], "endless:///42");
    assert_eq!(talk.list("resources/list", "resources", &json!({ "uri": "file:///void" })), Vec::<Value>::new());
    assert_eq!(talk.error("resources/list", &json!({ "uri": "file:///nowhere" })).0, -32002);
}

#[test]
fn prefixes_are_strings_and_go_with_cursors() {
    let mut talk = Talk::new(Revision::V2025_11_25);
    let all = talk.resources();
    for prefix in ["", "file:///d", "file:///docs", "db://shop/", "search://notes?q=a%20b", "no such thing"] {
        let fitting = all.iter().filter(|resource| resource["uri"].as_str().is_some_and(|uri| uri.starts_with(prefix)));
        let fitting: Vec<_> = fitting.cloned().collect();
        assert_eq!(talk.list("resources/list", "resources", &json!({ "prefix": prefix })), fitting, "{prefix}");
    }
    let page = talk.result("resources/list", &json!({ "prefix": "file:" }));
    let elsewhere = json!({ "prefix": "file:///", "cursor": page["nextCursor"] });
    assert_eq!(talk.error("resources/list", &elsewhere).0, -32602);
}

#[test]
fn errors_are_those_of_the_revision() {
    for revision in LEGACY {
        let mut talk = Talk::new(revision);
        let gone = json!({ "uri": "file:///docs/../../etc/passwd" });
        assert_eq!(talk.error("resources/read", &gone), (-32002, gone), "{revision}");
        for (method, params, code) in [
            ("no/such", json!({}), -32601),
            ("server/discover", json!({}), -32601),
            ("resources/read", json!({}), -32602),
            ("resources/read", json!({ "uri": 1 }), -32602),
            ("resources/read", json!({ "uri": "no uri" }), -32602),
            ("resources/list", json!({ "cursor": "made up" }), -32602),
            ("resources/list", json!({ "cursor": 1 }), -32602),
            ("tools/call", json!({ "name": "none" }), -32602),
            ("tools/call", json!({ "name": "echo", "arguments": [] }), -32602),
            ("prompts/get", json!({ "name": "greet" }), -32602),
            ("logging/setLevel", json!({ "level": "loud" }), -32602),
            ("ping", json!({ "_meta": 1 }), -32602),
        ] {
            assert_eq!(talk.error(method, &params).0, code, "{revision} {method} {params}");
        }
        let wrong = talk.result("tools/call", &json!({ "name": "add", "arguments": { "a": "1" } }));
        assert_eq!(wrong["isError"], true);
    }
}

#[test]
fn what_is_no_message_is_refused_and_changes_nothing() {
    for revision in LEGACY {
        let mut talk = Talk::new(revision);
        let id = if revision < Revision::V2025_11_25 { Some(&Value::Null) } else { None };
        for (bytes, code) in [
            (b"{\"jsonrpc\":".as_slice(), -32700),
            (b"\xff\xfe", -32700),
            (b"[]", -32600),
            (b"7", -32600),
            (b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -32600),
            (b"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", -32600),
        ] {
            let answers = talk.send_bytes(bytes);
            assert_eq!(answers[0]["error"]["code"], code, "{revision} {}", String::from_utf8_lossy(bytes));
            assert_eq!(answers[0].get("id"), id, "{revision}");
        }
        assert_eq!(talk.send(&json!({ "id": 5, "method": "ping" }))[0]["id"], 5);
        assert!(talk.send(&json!({ "jsonrpc": "2.0", "method": "notifications/no/such", "params": [] })).is_empty());
        assert!(talk.send(&json!({ "jsonrpc": "2.0", "id": 5, "result": {} })).is_empty());
        assert_eq!(talk.result("ping", &json!({})), json!({}));
    }
}

#[test]
fn batches_belong_to_one_revision() {
    let ping = |id: i64| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
    let notification = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    for revision in LEGACY {
        let mut talk = Talk::new(revision);
        let answers = talk.send(&json!([ping(1), notification, ping(2)]));
        if revision == Revision::V2025_03_26 {
            let empty = |id| json!({ "jsonrpc": "2.0", "id": id, "result": {} });
            assert_eq!(answers, [json!([empty(1), empty(2)])]);
            assert!(talk.send(&json!([notification])).is_empty());
        } else {
            assert_eq!(answers[0]["error"]["code"], -32600);
        }
    }
}

#[test]
fn subscribers_hear_of_changes_until_they_unsubscribe() {
    let mut talk = Talk::new(Revision::V2025_06_18);
    let touch = json!({ "name": "touch" });
    assert_eq!(talk.ask("tools/call", &touch).len(), 1, "nobody has subscribed");
    talk.result("resources/subscribe", &json!({ "uri": "memo://status" }));
    let heard = talk.ask("tools/call", &touch);
    assert_eq!(heard[0]["method"], "notifications/resources/updated");
    assert_eq!(heard[0]["params"], json!({ "uri": "memo://status" }));
    talk.result("resources/unsubscribe", &json!({ "uri": "memo://status" }));
    assert_eq!(talk.ask("tools/call", &touch).len(), 1);
    let text = talk.result("resources/read", &json!({ "uri": "memo://status" }))["contents"][0]["text"].clone();
    assert_eq!(text, "edited 3 times\n");
    let before = talk.resources().len();
    assert_eq!(
        talk.ask("tools/call", &json!({ "name": "add_resource" }))[0]["method"],
        "notifications/resources/list_changed"
    );
    assert_eq!(talk.resources().len(), before + 1);
}

#[test]
fn the_slow_tool_reports_growing_progress_and_takes_its_time() {
    let mut talk = Talk::new(Revision::V2025_03_26);
    let params = json!({ "name": "slow", "arguments": { "steps": 2 }, "_meta": { "progressToken": "t" } });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let turn = talk.server.message(&mut talk.session, request);
    let delays: Vec<_> = turn.out.iter().map(|out| out.after.as_millis()).collect();
    assert_eq!(delays, [20, 40, 40]);
    let said = String::from_utf8(turn.out[1].bytes.clone()).expect("UTF-8");
    assert!(said.contains(r#""progressToken":"t","progress":2,"total":2"#), "{said}");
}

#[test]
fn the_versioned_dialect_tells_what_has_not_changed() {
    let options = Options { proposals: vec!["dialect-versioned".to_owned()], ..Options::default() };
    let mut talk = Talk::with(options, Revision::V2025_06_18);
    let got = talk.result("resources/get", &json!({ "uri": "memo://status" }));
    assert_eq!(got["contents"], json!({ "contentType": "text/plain", "content": "edited 0 times\n" }));
    let known = json!({ "uri": "memo://status", "version": got["resource"]["version"] });
    assert!(talk.answer("resources/get", &known)["error"]["message"].as_str().is_some_and(|why| why == "Not modified"));
    talk.result("resources/subscribe", &json!({ "uris": ["memo://status", "file:///docs/readme.md"] }));
    let heard = talk.ask("tools/call", &json!({ "name": "touch" }));
    assert_eq!(heard[0]["method"], "notifications/resources/content_changed");
    assert_eq!(heard[0]["params"]["resource"]["version"], "v2");
    assert_eq!(talk.result("resources/get", &known)["resource"]["version"], "v2");
}

/// Whatever the server receives, it responds or ignores it, and continues.
#[test]
fn nothing_makes_it_panic() {
    let odd =
        [json!(null), json!(true), json!(-1), json!(1e300), json!(""), json!("\u{0}"), json!([[]]), json!({ "": {} })];
    let methods = [
        "initialize",
        "server/discover",
        "ping",
        "logging/setLevel",
        "resources/list",
        "resources/read",
        "resources/templates/list",
        "resources/metadata",
        "resources/subscribe",
        "resources/unsubscribe",
        "tools/list",
        "tools/call",
        "prompts/list",
        "prompts/get",
        "completion/complete",
        "subscriptions/listen",
        "",
    ];
    let members =
        ["uri", "cursor", "name", "arguments", "ref", "argument", "context", "level", "notifications", "_meta"];
    for revision in Revision::ALL {
        let mut talk = Talk::new(revision);
        for (method, member) in methods.iter().flat_map(|method| members.map(|member| (*method, member))) {
            for value in &odd {
                talk.send(&json!({ "jsonrpc": "2.0", "id": value, "method": method, "params": { member: value } }));
                talk.ask(method, &json!({ member: value }));
            }
        }
        talk.session = Session::new(Transport::Stdio);
        assert!(talk.initialize("2025-11-25").get("result").is_some());
    }
}
