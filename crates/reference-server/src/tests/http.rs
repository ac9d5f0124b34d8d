//! The server on a real socket.

use std::time::Duration;

use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use tokio::{sync::oneshot, time::timeout};

use crate::{Options, http};

/// Runs `talk` against a server that runs as long as it.
fn with_server<F: Future<Output = ()>>(options: Options, talk: impl FnOnce(String) -> F) {
    // A client needs a TLS provider even if it never uses TLS; another test may have installed it.
    rustls::crypto::ring::default_provider().install_default().ok();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let (ready, address) = oneshot::channel();
        let loopback = "127.0.0.1:0".parse().expect("an address");
        let server = http(options, loopback, |address| ready.send(address).expect("somebody waits"));
        let talk = async { talk(format!("http://{}", address.await.expect("an address"))).await };
        tokio::select! {
            ended = server => panic!("the server ended: {ended:?}"),
            finished = timeout(Duration::from_secs(20), talk) => finished.expect("the talk ends in time"),
        }
    });
}

fn post(url: &str, message: &Value) -> RequestBuilder {
    let post = Client::new().post(url).header("accept", "application/json, text/event-stream");
    post.header("content-type", "application/json").body(message.to_string())
}

fn request(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

fn initialize(version: &str) -> Value {
    let client = json!({ "name": "test", "version": "1" });
    request("initialize", &json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client }))
}

fn modern(url: &str, method: &str, mut params: Value) -> RequestBuilder {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    post(url, &request(method, &params)).header("mcp-protocol-version", "2026-07-28").header("mcp-method", method)
}

async fn sent(request: RequestBuilder) -> Response {
    request.send().await.expect("a response")
}

async fn status_and_body(request: RequestBuilder) -> (u16, Value) {
    let response = sent(request).await;
    let status = response.status().as_u16();
    (status, serde_json::from_str(&response.text().await.expect("a body")).unwrap_or_default())
}

/// Reads events until one holds all of these.
async fn events_until(response: &mut Response, wanted: &str) -> String {
    let mut text = String::new();
    while !text.contains(wanted) {
        let chunk = response.chunk().await.expect("a stream").unwrap_or_else(|| panic!("no {wanted} in {text}"));
        text.push_str(&String::from_utf8_lossy(&chunk));
    }
    text
}

#[test]
fn a_legacy_session_from_beginning_to_end() {
    with_server(Options::default(), |base| async move {
        let url = format!("{base}/mcp");
        let opened = sent(post(&url, &initialize("2025-11-25"))).await;
        let session = opened.headers()["mcp-session-id"].to_str().expect("visible ASCII").to_owned();
        let within = |message: &Value| post(&url, message).header("mcp-session-id", session.clone());
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(sent(within(&ready)).await.status(), StatusCode::ACCEPTED);

        let ping = request("ping", &json!({}));
        assert_eq!(status_and_body(within(&ping)).await, (200, json!({ "jsonrpc": "2.0", "id": 1, "result": {} })));
        assert_eq!(status_and_body(post(&url, &ping)).await.0, 400);
        assert_eq!(status_and_body(within(&ping).header("mcp-protocol-version", "bogus")).await.0, 400);
        assert_eq!(status_and_body(within(&ping).header("origin", "http://elsewhere.example")).await.0, 403);
        assert_eq!(status_and_body(within(&ping).body("{")).await.1["error"]["code"], -32700);

        let general = Client::new().get(&url).header("mcp-session-id", &session).header("accept", "text/event-stream");
        let mut general = sent(general).await;
        let call = |params| request("tools/call", &params);
        sent(within(&call(json!({ "name": "add_resource" })))).await;
        let heard = events_until(&mut general, "list_changed").await;
        assert!(heard.starts_with("id: 1-1\ndata: \n\n"), "primed: {heard}");

        let params = json!({ "name": "slow", "arguments": { "steps": 2 }, "_meta": { "progressToken": 1 } });
        let mut slow = sent(within(&call(params))).await;
        events_until(&mut slow, "2-2").await;
        drop(slow);
        let resume = Client::new().get(&url).header("mcp-session-id", &session).header("accept", "text/event-stream");
        let missed = sent(resume.header("last-event-id", "2-2")).await.text().await.expect("a stream that ends");
        assert!(missed.contains(r#""progress":2"#) && missed.contains("result"), "{missed}");
        assert!(!missed.contains(r#""progress":1,"#), "{missed}");

        let end = || Client::new().delete(&url).header("mcp-session-id", &session);
        assert!(sent(end()).await.status().is_success());
        assert_eq!(sent(within(&ping)).await.status(), StatusCode::NOT_FOUND);
    });
}

#[test]
fn modern_requests_stand_alone_and_have_headers_that_agree() {
    with_server(Options::default(), |base| async move {
        let url = format!("{base}/mcp");
        let (status, found) = status_and_body(modern(&url, "server/discover", json!({}))).await;
        assert_eq!((status, &found["result"]["resultType"]), (200, &json!("complete")));
        let (status, unknown) = status_and_body(modern(&url, "no/such", json!({}))).await;
        assert_eq!((status, &unknown["error"]["code"]), (404, &json!(-32601)));

        let uri = "file:///docs/readme.md";
        let read = || modern(&url, "resources/read", json!({ "uri": uri }));
        for (named, status) in
            [(uri, 200), ("=?base64?ZmlsZTovLy9kb2NzL3JlYWRtZS5tZA==?=", 200), ("file:///other", 400)]
        {
            assert_eq!(status_and_body(read().header("mcp-name", named)).await.0, status, "{named}");
        }
        assert_eq!(status_and_body(read()).await.1["error"]["code"], -32020);
        let bare = post(&url, &request("resources/list", &json!({}))).header("mcp-protocol-version", "2026-07-28");
        let (status, incomplete) = status_and_body(bare.header("mcp-method", "resources/list")).await;
        assert_eq!((status, &incomplete["error"]["code"]), (400, &json!(-32602)));

        let filter = json!({ "notifications": { "resourcesListChanged": true } });
        let mut listening = sent(modern(&url, "subscriptions/listen", filter)).await;
        assert_eq!(listening.headers()["content-type"], "text/event-stream");
        events_until(&mut listening, "acknowledged").await;
        let params = json!({ "name": "add_resource" });
        assert_eq!(sent(modern(&url, "tools/call", params).header("mcp-name", "add_resource")).await.status(), 200);
        events_until(&mut listening, "list_changed").await;
    });
}

#[test]
fn faults_reach_what_http_adds() {
    let faulty = |fault: &str| Options { fault: Some(fault.to_owned()), ..Options::default() };
    with_server(faulty("origin-unchecked"), |base| async move {
        let asked = modern(&format!("{base}/mcp"), "server/discover", json!({}));
        assert_eq!(sent(asked.header("origin", "http://elsewhere.example")).await.status(), StatusCode::OK);
    });
    with_server(faulty("accepted-as-ok"), |base| async move {
        let note = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
        let note = post(&format!("{base}/mcp"), &note).header("mcp-protocol-version", "2026-07-28");
        assert_eq!(status_and_body(note).await, (200, json!({})));
        assert_eq!(sent(Client::new().put(format!("{base}/mcp"))).await.status(), StatusCode::METHOD_NOT_ALLOWED);
    });
}

#[test]
fn the_oldest_transport_answers_on_its_one_stream() {
    with_server(Options::default(), |base| async move {
        let mut stream = sent(Client::new().get(format!("{base}/sse")).header("accept", "text/event-stream")).await;
        let first = events_until(&mut stream, "\n\n").await;
        let path = first.strip_prefix("event: endpoint\ndata: ").expect("the endpoint comes first").trim();
        let posted = sent(post(&format!("{base}{path}"), &initialize("2024-11-05"))).await;
        assert_eq!(posted.status(), StatusCode::ACCEPTED);
        let answer = events_until(&mut stream, "\n\n").await;
        assert!(answer.contains(r#""protocolVersion":"2024-11-05""#), "{answer}");
    });
}
