//! Calling a tool is an act: a whole run calls no tool that may change something unless the user allows it.

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use serde_json::{Value, json};

use crate::ran;

/// An MCP server whose tools do nothing but note that they were called.
struct Recorder {
    url: String,
    /// Names, and what each was called with.
    calls: Arc<Mutex<BTreeSet<(String, String)>>>,
}

impl Recorder {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
        let calls = Arc::new(Mutex::default());
        let noted = Arc::clone(&calls);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let noted = Arc::clone(&noted);
                thread::spawn(move || serve(&stream, &noted));
            }
        });
        Self { url, calls }
    }

    /// Names that were called in a run of all rules, in small letters: another case is the same tool to some servers.
    fn called(&self, options: &[&str]) -> BTreeSet<String> {
        self.calls.lock().expect("no test panics inside").clear();
        let ran = ran(["run", "--http", &self.url, "--timeout", "5"].iter().chain(options));
        assert!(ran.code < 2, "{}{}", ran.stdout, ran.stderr);
        let calls = self.calls.lock().expect("no test panics inside");
        calls.iter().map(|(name, _)| name.to_lowercase()).filter(|name| name != "mcp-conform-no-such-tool").collect()
    }

    fn arguments(&self, name: &str) -> Vec<String> {
        let calls = self.calls.lock().expect("no test panics inside");
        calls.iter().filter(|(called, _)| called == name).map(|(_, arguments)| arguments.clone()).collect()
    }
}

fn serve(mut stream: &TcpStream, calls: &Mutex<BTreeSet<(String, String)>>) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let (mut length, mut post) = (0, false);
    for line in reader.by_ref().lines().map_while(Result::ok).take_while(|line| !line.is_empty()) {
        post |= line.starts_with("POST ");
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let (status, body) = match (post, message.get("id")) {
        (false, _) => ("405 Method Not Allowed", String::new()),
        (true, None) => ("202 Accepted", String::new()),
        (true, Some(id)) => {
            let mut answer = answer(&message, calls);
            answer["jsonrpc"] = json!("2.0");
            answer["id"] = id.clone();
            ("200 OK", answer.to_string())
        }
    };
    let head = "Content-Type: application/json\r\nConnection: close\r\nContent-Length";
    write!(stream, "HTTP/1.1 {status}\r\n{head}: {}\r\n\r\n{body}", body.len()).ok()
}

fn answer(message: &Value, calls: &Mutex<BTreeSet<(String, String)>>) -> Value {
    match message["method"].as_str() {
        Some("initialize") => json!({ "result": {
            "protocolVersion": "2025-11-25",
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "recorder", "version": "1" },
        } }),
        Some("ping") => json!({ "result": {} }),
        Some("tools/list") => json!({ "result": { "tools": tools() } }),
        Some("tools/call") => {
            if let Some(name) = message["params"]["name"].as_str() {
                let arguments = message["params"]["arguments"].to_string();
                calls.lock().expect("no test panics inside").insert((name.to_owned(), arguments));
            }
            json!({ "result": { "content": [] } })
        }
        _ => json!({ "error": { "code": -32601, "message": "Method not found" } }),
    }
}

fn tools() -> Value {
    let tool = |name: &str, properties: Value, hints: Value| {
        let required: Vec<_> = properties.as_object().into_iter().flatten().map(|(name, _)| name).collect();
        let schema = json!({ "type": "object", "properties": properties, "required": required });
        json!({ "name": name, "inputSchema": schema, "annotations": hints })
    };
    let read_only = json!({ "readOnlyHint": true });
    json!([
        tool("look", json!({}), read_only.clone()),
        tool("pick", json!({ "colour": { "type": "string", "enum": ["red", "blue"] } }), read_only.clone()),
        tool("find", json!({ "what": { "type": "string" } }), read_only),
        tool("send", json!({ "to": { "type": "string" } }), json!({})),
        tool("drop", json!({}), json!({ "readOnlyHint": false })),
        tool("erase", json!({}), json!({ "destructiveHint": true })),
    ])
}

#[test]
fn only_tools_that_may_be_called_are_called() {
    let server = Recorder::start();
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(server.called(&[]), names(&["look", "pick"]));

    let directory = tempfile::tempdir().expect("a directory");
    let config = directory.path().join("mcp-conform.toml");
    fs::write(&config, "[tools.send]\nwith = { to = \"me\" }\n").expect("a file");
    let config = config.display().to_string();
    assert_eq!(server.called(&["--config", &config]), names(&["look", "pick", "send"]));
    assert_eq!(server.arguments("send"), [r#"{"to":"me"}"#], "who allows one call allows no other");

    assert_eq!(server.called(&["--call-tools"]), names(&["drop", "erase", "find", "look", "pick", "send"]));
}
