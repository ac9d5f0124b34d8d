//! Tool calls can have side effects: a whole run calls no tool that may have some unless the user allows it.

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use serde_json::{Value, json};

use crate::{PROGRAM, ran, server::Reference};

/// A user who allows an unknown tool has probably mistyped the name.
#[test]
fn names_that_the_server_does_not_list_are_told() {
    let directory = tempfile::tempdir().expect("a directory");
    let config = directory.path().join("mcp-conform.toml");
    let text = format!(
        "[targets.a]\nstdio = [{PROGRAM:?}, \"serve\"]\n[tools.ecko]\nwith = {{ text = \"x\" }}\n\
         [tools.echo]\nwith = {{ text = \"x\" }}\n[prompts.great]\n[facts]\nslow = {{ tool = \"nothing-like-it\" }}\n"
    );
    fs::write(&config, text).expect("a file");
    let ran = ran(["run", "--config", &config.display().to_string(), "--filter", "tools.list", "--report", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let report: Value = serde_json::from_str(&ran.stdout).expect("a report");
    let notes: Vec<&str> = report["notes"].as_array().expect("notes").iter().filter_map(Value::as_str).collect();
    let told = |what: &str| notes.iter().any(|note| *note == format!("mcp-conform.toml names the {what}"));
    assert!(told("tool `ecko`, which the server does not list; did you mean `echo`?"), "{notes:#?}");
    assert!(told("prompt `great`, which the server does not list; did you mean `greet`?"), "{notes:#?}");
    assert!(notes.iter().any(|note| note.contains("the tool `nothing-like-it`, which")), "{notes:#?}");
    assert!(!notes.iter().any(|note| note.contains("`echo`, which")), "{notes:#?}");
}

/// An MCP server whose tools only record their calls.
struct Recorder {
    url: String,
    /// Names, and the arguments of each call.
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

    /// Names that were called in a run of all rules, in lower case: some servers ignore case.
    fn called(&self, options: &[&str]) -> BTreeSet<String> {
        self.calls.lock().expect("no test panics inside").clear();
        let ran = ran(["run", "--http", &self.url, "--timeout", "5"].iter().chain(options));
        assert!(ran.code < 2, "{}{}", ran.stdout, ran.stderr);
        let calls = self.calls.lock().expect("no test panics inside");
        let unknown = ["mcp-conform-no-such-tool", "constructor"];
        calls.iter().map(|(name, _)| name.to_lowercase()).filter(|name| !unknown.contains(&name.as_str())).collect()
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
    assert_eq!(server.called(&[]), names(&["find", "look", "pick"]));
    let refused = [r#"{"what":{"mcp-conform-none-of-these":[]}}"#, "{}"];
    assert_eq!(server.arguments("find"), refused, "nobody knows what to look for");

    let directory = tempfile::tempdir().expect("a directory");
    let config = directory.path().join("mcp-conform.toml");
    fs::write(&config, "[tools.send]\nwith = { to = \"me\" }\n").expect("a file");
    let config = config.display().to_string();
    assert_eq!(server.called(&["--config", &config]), names(&["find", "look", "pick", "send"]));
    assert_eq!(server.arguments("send"), [r#"{"to":"me"}"#], "who allows one call allows no other");

    assert_eq!(server.called(&["--call-tools"]), names(&["drop", "erase", "find", "look", "pick", "send"]));
}

/// The bytes that clients sent to a server, which does not know about it.
struct Overheard(Arc<Mutex<Vec<Vec<u8>>>>);

impl Overheard {
    /// A proxy for the server at that address; returns the address of the proxy.
    fn before(server: &str) -> (Self, String) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address").to_string();
        let said = Arc::<Mutex<Vec<Vec<u8>>>>::default();
        let (noted, server) = (Arc::clone(&said), server.to_owned());
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let server = TcpStream::connect(&server).expect("the server is there");
                let both = || (client.try_clone().expect("a socket"), server.try_clone().expect("a socket"));
                let ((mut to_client, mut from_server), (mut from_client, mut to_server)) = (both(), both());
                let noted = Arc::clone(&noted);
                let number = {
                    let mut all = noted.lock().expect("no test panics inside");
                    all.push(Vec::new());
                    all.len() - 1
                };
                thread::spawn(move || {
                    let _ = std::io::copy(&mut from_server, &mut to_client);
                    to_client.shutdown(Shutdown::Both)
                });
                thread::spawn(move || {
                    let mut piece = [0; 4096];
                    while let Ok(length @ 1..) = from_client.read(&mut piece) {
                        noted.lock().expect("no test panics inside")[number].extend_from_slice(&piece[..length]);
                        if to_server.write_all(&piece[..length]).is_err() {
                            break;
                        }
                    }
                    to_server.shutdown(Shutdown::Write)
                });
            }
        });
        (Self(said), address)
    }

    /// The bodies of all requests.
    fn bodies(&self) -> Vec<Vec<u8>> {
        let mut bodies = Vec::new();
        for said in self.0.lock().expect("no test panics inside").iter() {
            let mut reader = said.as_slice();
            loop {
                let head: Vec<String> =
                    reader.by_ref().lines().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
                if head.is_empty() {
                    break;
                }
                let length = head
                    .iter()
                    .find_map(|line| line.to_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
                let (body, rest) = reader.split_at(length.unwrap_or(0).min(reader.len()));
                bodies.push(body.to_vec());
                reader = rest;
            }
        }
        bodies
    }
}

/// The names in all tool calls; each body is a message or a batch.
fn calls<'a>(bodies: impl IntoIterator<Item = &'a [u8]>) -> BTreeSet<String> {
    let messages = bodies.into_iter().filter_map(|body| serde_json::from_slice::<Value>(body).ok());
    let messages = messages.flat_map(|message| message.as_array().cloned().unwrap_or_else(|| vec![message]));
    let calls = messages.filter(|message| message["method"] == "tools/call");
    calls.filter_map(|call| Some(call["params"]["name"].as_str()?.to_owned())).collect()
}

/// All rules in all revisions, over each transport. The server has everything: requests to its client, tasks, logs and
/// progress.
#[test]
fn no_suite_calls_a_tool_that_may_change_something() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name).display().to_string();
    let (transcript, stdin) = (path("transcript"), path("stdin"));
    let server = Reference::start();
    let (overheard, address) = Overheard::before(server.http.split('/').nth(2).expect("an address"));
    let tee = format!("tee -a {stdin} | {PROGRAM} serve");
    let targets: [&[&str]; 3] = [
        &["--http", &format!("http://{address}/mcp")],
        &["--sse", &format!("http://{address}/sse")],
        &["--", "sh", "-c", &tee],
    ];
    for target in targets {
        overheard.0.lock().expect("no test panics inside").clear();
        let options = ["run", "--revision", "all", "--transcript", &transcript];
        let ran = ran(options.iter().chain(target));
        assert!(ran.code < 2, "{target:?}: {}{}", ran.stdout, ran.stderr);
        let bodies = match target[0] {
            "--" => {
                fs::read(&stdin).expect("what it was sent").split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
            }
            _ => overheard.bodies(),
        };
        let called = calls(bodies.iter().map(Vec::as_slice));
        let (reading, changing) = offered(&fs::read_to_string(&transcript).expect("a transcript"));
        assert!(!reading.is_disjoint(&called), "{target:?}: {called:?}");
        assert!(changing.contains("touch") && changing.is_disjoint(&called), "{target:?}: {called:?} of {changing:?}");
    }
}

/// The tools of all lists in a transcript: those that are read-only in a revision, and the others.
fn offered(transcript: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let frames = transcript.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let tools =
        frames.flat_map(|line| line["frame"]["message"]["result"]["tools"].as_array().cloned().unwrap_or_default());
    let (reading, changing): (Vec<_>, Vec<_>) = tools.partition(|tool| tool["annotations"]["readOnlyHint"] == true);
    let names = |tools: Vec<Value>| tools.iter().filter_map(|tool| Some(tool["name"].as_str()?.to_owned())).collect();
    let (reading, changing): (_, BTreeSet<_>) = (names(reading), names(changing));
    let changing = changing.difference(&reading).cloned().collect();
    (reading, changing)
}
