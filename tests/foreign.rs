//! `mcp-conform judge` of recordings that other tools made. Those in `tests/foreign` are real: `http.har` and `sse.har` are by
//! mitmproxy 11.0.2 (the Inspector with a server over `FastMCP`), `stdio.trace.jsonl` by mcp-reference-host 0.6.0 (with that
//! server), and `http.trace.jsonl` by mcp-everything-server 0.6.0.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/foreign").join(name)
}

fn judge(path: &Path, more: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_mcp-conform")).arg("judge").args(more).arg(path).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn report(path: &Path) -> Value {
    let (_, out, err) = judge(path, &["--report", "json"]);
    serde_json::from_str(&out).unwrap_or_else(|_| panic!("{err}"))
}

fn with_status<'r>(report: &'r Value, status: &str) -> Vec<&'r str> {
    let rules = report["rules"].as_array().unwrap().iter().filter(|rule| rule["status"] == status);
    rules.map(|rule| rule["id"].as_str().unwrap()).collect()
}

/// A HAR with these entries.
fn har(entries: &Value) -> String {
    json!({ "log": { "version": "1.2", "creator": { "name": "a browser", "version": "1" }, "entries": entries } })
        .to_string()
}

/// An entry that began so many milliseconds after the first one, and took ten.
fn entry(after: u32, method: &str, sent: &str, status: u16, kind: &str, received: &str) -> Value {
    json!({
        "startedDateTime": format!("2026-01-01T00:00:00.{after:03}Z"),
        "timings": { "send": 1, "wait": 5, "receive": 4 },
        "request": {
            "method": method,
            "url": "http://server.test/mcp",
            "headers": [
                { "name": ":authority", "value": "server.test" },
                { "name": "accept", "value": "application/json, text/event-stream" },
                { "name": "content-type", "value": "application/json" },
                { "name": "mcp-protocol-version", "value": "2025-06-18" },
            ],
            "postData": { "text": sent },
        },
        "response": {
            "status": status,
            "headers": [{ "name": "content-type", "value": kind }],
            "content": { "text": received },
        },
    })
}

fn handshake() -> Vec<Value> {
    let client = json!({ "name": "c", "version": "1" });
    let params = json!({ "protocolVersion": "2025-06-18", "capabilities": { "roots": {} }, "clientInfo": client });
    let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }).to_string();
    let server = json!({ "name": "s", "version": "1" });
    let result = json!({ "protocolVersion": "2025-06-18", "capabilities": { "tools": {} }, "serverInfo": server });
    let result = json!({ "jsonrpc": "2.0", "id": 1, "result": result }).to_string();
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string();
    vec![
        entry(0, "POST", &initialize, 200, "application/json", &result),
        entry(20, "POST", &initialized, 202, "text/plain", ""),
    ]
}

fn written(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recording");
    fs::write(&path, text).unwrap();
    (folder, path)
}

#[test]
fn recordings_of_other_tools_are_judged() {
    for (name, transport, least) in [
        ("http.har", "http", 40),
        ("sse.har", "sse", 20),
        ("stdio.trace.jsonl", "stdio", 80),
        ("http.trace.jsonl", "http", 30),
    ] {
        let report = report(&sample(name));
        assert_eq!(report["revisions"], json!(["2025-11-25"]), "{name}");
        assert_eq!(report["target"]["transport"], transport, "{name}");
        assert_eq!(with_status(&report, "fail"), Vec::<&str>::new(), "{name}");
        assert!(with_status(&report, "pass").len() > least, "{name}");
        assert!(report["notes"].to_string().contains("read from a "), "{}", report["notes"]);
    }
    // The server returns no text that is the JSON of the structured content.
    assert_eq!(with_status(&report(&sample("stdio.trace.jsonl")), "warn"), ["tools-structured-content-text-fallback"]);
}

#[test]
fn a_message_of_a_har_is_put_where_it_was_sent() {
    let mut entries = handshake();
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }).to_string();
    // The roots are requested and returned before the response ends, on streams of which only the whole is known.
    let roots = |id: &str| json!({ "jsonrpc": "2.0", "id": id, "method": "roots/list" });
    let tools = json!({ "jsonrpc": "2.0", "id": 2, "result": { "tools": [] } });
    let own = format!("data: {}\n\ndata: {tools}\n\n", roots("a"));
    let mut long = entry(100, "POST", &call, 200, "text/event-stream", &own);
    long["timings"]["receive"] = json!(500);
    let listened = format!("data: {}\n\n", roots("b"));
    entries.push(entry(60, "GET", "", 200, "text/event-stream", &listened));
    entries.push(long);
    for (after, id) in [(200, "a"), (300, "b")] {
        let returned = json!({ "jsonrpc": "2.0", "id": id, "result": { "roots": [] } }).to_string();
        entries.push(entry(after, "POST", &returned, 202, "text/plain", ""));
    }
    let (_folder, path) = written(&har(&json!(entries)));
    let report = report(&path);
    assert_eq!(with_status(&report, "fail"), Vec::<&str>::new());
    let passed = with_status(&report, "pass");
    assert!(passed.contains(&"client-response-id-echo"), "{passed:?}");
}

#[test]
fn a_fault_in_a_har_is_found() {
    let mut entries = handshake();
    entries[0]["response"]["content"]["text"] =
        json!(entries[0]["response"]["content"]["text"].as_str().unwrap().replace("\"serverInfo\"", "\"info\""));
    let (_folder, path) = written(&har(&json!(entries)));
    let (code, out, err) = judge(&path, &[]);
    assert_eq!(code, Some(1), "{out}{err}");
    assert!(out.contains("serverInfo"), "{out}");
}

#[test]
fn a_har_of_something_else_or_without_bodies_is_told() {
    let mut entries = handshake();
    for entry in &mut entries {
        entry["request"]["postData"] = json!({});
    }
    let cases = [
        (har(&json!([entry(0, "GET", "", 200, "text/html", "<p>")])), "the HAR has no messages of MCP"),
        (har(&json!(entries)), "2 requests by POST have no body"),
        ("{\"log\": {}}".to_owned(), "missing field `entries`"),
        ("{\"log\": ".to_owned(), "EOF"),
    ];
    for (text, why) in cases {
        let (_folder, path) = written(&text);
        let (code, _, said) = judge(&path, &[]);
        assert!(code == Some(2) && said.contains(why), "{code:?} {said}");
    }
    // Nobody knows what the response was.
    let mut entries = handshake();
    entries[0]["response"]["content"] = json!({});
    let (_folder, path) = written(&har(&json!(entries)));
    let (code, _, said) = judge(&path, &[]);
    assert!(code == Some(2) && said.contains("whose bodies are not in the HAR"), "{code:?} {said}");
}

#[test]
fn a_trace_that_is_cut_off_is_judged_and_one_with_a_mistake_is_not() {
    let text = fs::read_to_string(sample("stdio.trace.jsonl")).unwrap();
    let (_folder, path) = written(&text[..text.len() - 30]);
    assert_eq!(with_status(&report(&path), "fail"), Vec::<&str>::new());
    let (_folder, path) = written(&text.replacen("\"seq\":3", "\"seq\":\"3\"", 1));
    let (code, _, said) = judge(&path, &[]);
    assert!(code == Some(2) && said.contains("line 4"), "{said}");
    let (code, _, said) = judge(&sample("http.har"), &["--follow"]);
    assert!(code == Some(2) && said.contains("another tool wrote this"), "{said}");
}
