//! Recordings that are made by the test, and how they are judged.

use crate::{http::over_http, *};

/// A recording of these messages, each with the side that sent it.
fn conversation(path: &Path, messages: &[(&str, Value)]) {
    let initialize = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } } });
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "result": {
        "protocolVersion": "2025-11-25", "capabilities": { "tools": {}, "resources": {} },
        "serverInfo": { "name": "s", "version": "1" } } });
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let opening = [("client", initialize), ("server", hello), ("client", initialized)];
    let mut lines = vec![
        json!({ "transcript": { "schema": 2, "version": "0.1.0", "judged": "server", "recorded": true,
            "target": { "name": "s", "transport": "stdio", "options": "" }, "started": 1, "ms": 0,
            "scope": { "strict": false }, "evidence_frames": 4, "notes": [], "end": {} } }),
        json!({ "link": { "link": 1, "transport": "stdio", "brief": false } }),
        json!({ "link": { "link": 1, "transport": "stdio", "revision": "2025-11-25", "brief": false } }),
    ];
    for (number, (from, message)) in (1..).zip(opening.iter().chain(messages)) {
        let bytes = message.to_string().len();
        lines.push(json!({ "frame": { "frame": number, "at": number * 1000, "link": 1, "from": from,
            "kind": "message", "by": "client", "bytes": bytes, "message": message } }));
    }
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    fs::write(path, text.join("\n") + "\n").unwrap();
}

fn request(id: u64, method: &str, params: &Value) -> (&'static str, Value) {
    ("client", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
}

fn result(id: u64, result: &Value) -> (&'static str, Value) {
    ("server", json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

/// What a run would find with the lists that it requests first.
#[test]
fn rules_on_calls_and_reads_use_the_lists_of_the_recording() {
    let folder = folder();
    let path = folder.path().join("t.jsonl");
    let tool = json!({ "name": "count", "inputSchema": { "type": "object" }, "outputSchema": {
        "type": "object", "properties": { "count": { "type": "integer" } } } });
    let counted =
        json!({ "content": [{ "type": "text", "text": "{\"count\":\"2\"}" }], "structuredContent": { "count": "2" } });
    let called = [request(2, "tools/call", &json!({ "name": "count" })), result(2, &counted)];
    let tools = |tool: &Value| [request(1, "tools/list", &json!({})), result(1, &json!({ "tools": [tool] }))].to_vec();
    let rule = ("server", "tools-structured-content-matches-output-schema");
    conversation(&path, &[tools(&tool), called.to_vec()].concat());
    let (report, code) = judged(&path, &[]);
    assert_eq!(code, 1);
    assert!(with_status(&report, "fail").contains(&rule), "{report:#}");

    // A tool that was listed in another way before or after the call proves nothing.
    let mut other = tool.clone();
    other["outputSchema"] = json!({ "type": "object" });
    conversation(&path, &[tools(&other), called.to_vec(), tools(&tool)].concat());
    assert!(!with_status(&judged(&path, &[]).0, "fail").contains(&rule));

    let uri = |uri: &str| json!({ "contents": [{ "uri": uri, "text": "t" }] });
    let listed = json!({ "resources": [{ "uri": "notes:///1", "name": "n" }] });
    let listed = [request(3, "resources/list", &json!({})), result(3, &listed)];
    let read = [request(4, "resources/read", &json!({ "uri": "notes:///1" })), result(4, &uri("no uri"))];
    conversation(&path, &[listed, read].concat());
    let (report, _) = judged(&path, &[]);
    assert!(with_status(&report, "fail").contains(&("server", "resources-read-contents-uri")), "{report:#}");
    let probing = report["rules"].as_array().unwrap().iter().find(|rule| rule["id"] == "jsonrpc-survives-bad-input");
    let reason = probing.and_then(|rule| rule["reason"].as_str()).unwrap_or_default();
    assert!(reason.contains("needs requests of its own"), "{reason}");
}

/// The responses may be those of the other request.
#[test]
fn an_id_that_the_client_used_twice_is_not_a_fault_of_the_server() {
    let folder = folder();
    let path = folder.path().join("t.jsonl");
    let messages = [
        request(2, "tools/list", &json!({})),
        request(2, "tools/call", &json!({ "name": "count" })),
        result(2, &json!({ "tools": [] })),
        result(2, &json!({ "content": [] })),
    ];
    conversation(&path, &messages);
    let (report, _) = judged(&path, &[]);
    assert_eq!(with_status(&report, "fail"), [("client", "client-request-id-never-reused")]);
}

#[test]
fn nothing_fails_where_both_sides_conform() {
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] {
        let folder = folder();
        let out = folder.path().join("t.jsonl");
        let server = executable(folder.path(), &out, &format!("--revision {revision}"));
        act(&server.display().to_string(), "stdio", &[]);
        let (report, code) = judged(&out, &[]);
        assert_eq!((code, report["revisions"].clone()), (0, json!([revision])));
        assert_eq!(with_status(&report, "fail"), Vec::new(), "stdio {revision}");
        for side in ["server", "client"] {
            assert!(with_status(&report, "pass").iter().any(|(of, _)| *of == side), "{side} in {revision}");
        }
        let transport = if revision == "2024-11-05" { "sse" } else { "http" };
        let report = over_http(folder.path(), transport, &["--revision", revision], &[]);
        assert_eq!(report["revisions"], json!([revision]), "{}", report["notes"]);
        assert_eq!(with_status(&report, "fail"), Vec::new(), "{transport} {revision}");
        assert_eq!(report["target"]["transport"], transport);
    }
}
