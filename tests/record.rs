//! `mcp-conform record` between a client and a server, and `judge` of its recording.
#![cfg(unix)]

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    os::unix::{fs::PermissionsExt, process::ExitStatusExt},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    thread,
};

use serde_json::{Value, json};
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_mcp-conform");

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// Records this shell script.
fn recording(out: &Path, script: &str) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(["record", "--out"]).arg(out).args(["--", "sh", "-c", script]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Starts the command with this input, and waits until it exits.
fn given(mut command: Command, input: &[u8]) -> Output {
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writing = thread::spawn(move || _ = stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    writing.join().unwrap();
    output
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The JSON report on a recording, and the exit code.
fn judged(path: &Path, more: &[&str]) -> (Value, i32) {
    let output =
        Command::new(PROGRAM).args(["judge", "--report", "json"]).args(more).arg(path).stderr(Stdio::piped()).output();
    let output = output.unwrap();
    let report = serde_json::from_slice(&output.stdout);
    let report = report.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    (report, output.status.code().unwrap())
}

/// The rules with that status: side and id.
fn with_status<'r>(report: &'r Value, status: &str) -> Vec<(&'r str, &'r str)> {
    let rules = report["rules"].as_array().unwrap().iter().filter(|rule| rule["status"] == status);
    rules.map(|rule| (rule["subject"].as_str().unwrap_or("server"), rule["id"].as_str().unwrap())).collect()
}

/// An executable for a client, which records the reference server.
fn executable(folder: &Path, out: &Path, server: &str) -> PathBuf {
    let path = folder.join("server");
    let text = format!("#!/bin/sh\nexec {PROGRAM} record --out {} -- {PROGRAM} serve {server}\n", out.display());
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// Runs the reference client, as for any server.
fn act(target: &str, transport: &str, more: &[&str]) -> Output {
    let mut command = Command::new(PROGRAM);
    command.arg("act").args(more).arg(target).env("MCP_CONFORMANCE_TRANSPORT", transport);
    command.output().unwrap()
}

/// Is killed at the end of its test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a program that prints a URL first.
fn serving(arguments: &[&str]) -> (Running, String) {
    let mut child = Command::new(PROGRAM)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (Running(child), line.trim().to_owned())
}

fn terminate(running: &mut Running) {
    let id = i32::try_from(running.0.id()).unwrap();
    rustix::process::kill_process(rustix::process::Pid::from_raw(id).unwrap(), rustix::process::Signal::TERM).unwrap();
    running.0.wait().unwrap();
}

#[test]
fn bytes_pass_unchanged_in_both_directions() {
    let folder = folder();
    let (out, sent, came) = (folder.path().join("t.jsonl"), folder.path().join("sent"), folder.path().join("came"));
    let mut input = b"{\"a\": \"\xc3\xa9\\u00e9\"}\r\n\n  not json \xff\xfe\0 \n".to_vec();
    input.extend(vec![b'x'; 3_000_000]);
    input.extend(b"\nno newline at the end");
    let script = format!("tee {} | tr a-y b-z | tee {}; echo oops >&2", sent.display(), came.display());
    let output = given(recording(&out, &script), &input);
    assert!(fs::read(&sent).unwrap() == input, "the server got other bytes");
    assert!(fs::read(&came).unwrap() == output.stdout, "the client got other bytes");
    assert_eq!((output.status.code(), output.stderr), (Some(0), b"oops\n".to_vec()));
    let lines = lines(&out);
    assert!(lines[0].get("transcript").is_some() && lines.last().unwrap().get("closed").is_some());
}

#[test]
fn the_dashes_before_the_command_may_be_missing() {
    let folder = folder();
    let mut command = Command::new(PROGRAM);
    command.args(["record", "--out"]).arg(folder.path().join("t.jsonl")).args(["sh", "-c", "echo $1", "sh", "--flag"]);
    assert_eq!(command.output().unwrap().stdout, b"--flag\n");
}

#[test]
fn exit_codes_and_signals_pass() {
    let folder = folder();
    let out = folder.path().join("t.jsonl");
    assert_eq!(given(recording(&out, "exit 7"), b"").status.code(), Some(7));
    assert_eq!(given(recording(&out, "kill -9 $$"), b"").status.signal(), Some(9));

    let mut child =
        recording(&out, "trap 'echo told; exit 5' USR1; echo ready; while :; do sleep 0.01; done").spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    let id = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::USR1).unwrap();
    output.read_to_string(&mut line).unwrap();
    assert_eq!((line.as_str(), child.wait().unwrap().code()), ("ready\ntold\n", Some(5)));
    let names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 3, "each has a file of its own: {names:?}");
}

#[test]
fn the_end_of_stdin_and_a_closed_stdout_reach_the_server() {
    let folder = folder();
    let out = folder.path().join("t.jsonl");
    let output = given(recording(&out, "cat >/dev/null; echo bye; exit 3"), b"x\n");
    assert_eq!((output.stdout.as_slice(), output.status.code()), (b"bye\n".as_slice(), Some(3)));
    // The client reads one line and closes its end.
    let mut child = recording(&out, "while echo line; do :; done; exit 4").spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let status = child.wait().unwrap();
    assert!(status.code() == Some(4) || status.signal() == Some(13), "{status}");
}

#[test]
fn a_killed_recording_leaves_what_it_had_and_ends_the_server() {
    let folder = folder();
    let (out, ended) = (folder.path().join("t.jsonl"), folder.path().join("ended"));
    let script = format!("cat; echo > {}", ended.display());
    let mut child = recording(&out, &script).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    while lines_there(&out) < 4 {
        thread::yield_now();
    }
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9));
    while !ended.exists() {
        thread::yield_now();
    }
    let frames = lines(&out).into_iter().filter(|line| line.get("frame").is_some()).count();
    assert_eq!(frames, 2);
}

fn lines_there(path: &Path) -> usize {
    fs::read_to_string(path).unwrap_or_default().lines().count()
}

#[test]
fn a_full_disk_stops_the_recording_alone() {
    let output = given(recording(Path::new("/dev/full"), "cat"), &b"{\"a\":1}\n".repeat(10_000));
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 80_000));
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("nothing more is recorded, the traffic goes on"), "{said}");
    let output = given(recording(Path::new("/no/such/folder/t.jsonl"), "cat"), b"x\n");
    assert_eq!((output.status.code(), output.stdout), (Some(0), b"x\n".to_vec()));
}

#[test]
fn a_limit_on_the_size_of_files_stops_the_recording_alone() {
    let folder = folder();
    let mut command = Command::new("sh");
    let script = format!("ulimit -f 4; exec {PROGRAM} record --out {} -- cat", folder.path().join("t.jsonl").display());
    command.args(["-c", &script]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = given(command, &b"{\"a\":1}\n".repeat(10_000));
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 80_000), "{said}");
    assert!(said.contains("nothing more is recorded, the traffic goes on"), "{said}");
}

#[test]
fn a_command_that_does_not_exist_is_told() {
    let folder = folder();
    let output = Command::new(PROGRAM)
        .args(["record", "--out"])
        .arg(folder.path().join("t.jsonl"))
        .args(["--", "/no/such"])
        .output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no such file"));
}

#[test]
fn files_rotate_and_are_judged_together() {
    let folder = folder();
    let out = folder.path().join("t.jsonl");
    let server = folder.path().join("server");
    let text = format!("#!/bin/sh\nexec {PROGRAM} record --rotate 4k --out {} -- {PROGRAM} serve\n", out.display());
    fs::write(&server, text).unwrap();
    fs::set_permissions(&server, fs::Permissions::from_mode(0o755)).unwrap();
    act(&server.display().to_string(), "stdio", &[]);
    assert!(folder.path().join("t-3.jsonl").exists());
    let (report, code) = judged(&out, &[]);
    assert_eq!((code, with_status(&report, "fail")), (0, Vec::new()));
    let alone = Command::new(PROGRAM).arg("judge").arg(folder.path().join("t-3.jsonl")).output().unwrap();
    let said = String::from_utf8_lossy(&alone.stderr).into_owned();
    assert!(alone.status.code() == Some(2) && said.contains("began after the conversation"), "{said}");
    fs::remove_file(folder.path().join("t-2.jsonl")).unwrap();
    let (report, code) = judged(&out, &[]);
    assert_eq!((code, with_status(&report, "fail")), (0, Vec::new()));
    assert!(report["notes"].to_string().contains("t-2.jsonl, which cannot be read"), "{}", report["notes"]);
}

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

/// The report on a recording between the reference client and server.
fn over_http(folder: &Path, transport: &str, server: &[&str], client: &[&str]) -> Value {
    let out = folder.join(format!("{transport}.jsonl"));
    let (_server, url) = serving(&[&["serve", "--http", "127.0.0.1:0"], server].concat());
    let url = if transport == "sse" { url.replace("/mcp", "/sse") } else { url };
    let out_text = out.display().to_string();
    let (mut proxy, front) = serving(&["record", "--out", &out_text, "--listen", "127.0.0.1:0", "--http", &url]);
    act(&front, transport, client);
    terminate(&mut proxy);
    judged(&out, &[]).0
}

#[test]
fn faults_of_both_sides_are_found() {
    let folder = folder();
    let out = folder.path().join("t.jsonl");
    let server = executable(folder.path(), &out, "--revision 2025-11-25 --fault list-item-without-name");
    act(&server.display().to_string(), "stdio", &[]);
    let (report, code) = judged(&out, &[]);
    assert_eq!(code, 1);
    let failed = with_status(&report, "fail");
    assert!(!failed.is_empty() && failed.iter().all(|(side, _)| *side == "server"), "{failed:?}");
}

#[test]
fn a_fault_of_the_client_is_not_one_of_the_server() {
    for (fault, rule) in
        [("ids-are-timestamps", "client-request-id-type"), ("notifications-without-jsonrpc", "client-jsonrpc-member")]
    {
        let folder = folder();
        let report = over_http(folder.path(), "sse", &["--revision", "2024-11-05"], &["--fault", fault]);
        assert!(with_status(&report, "fail").contains(&("client", rule)), "{fault}: {}", report["notes"]);
        let all = [with_status(&report, "fail"), with_status(&report, "warn")].concat();
        assert!(all.iter().all(|(side, _)| *side == "client"), "{fault}: {all:?}");
    }
}

#[test]
fn a_truncated_recording_is_judged_up_to_there() {
    let folder = folder();
    let out = folder.path().join("t.jsonl");
    let server = executable(folder.path(), &out, "");
    act(&server.display().to_string(), "stdio", &[]);
    let text = fs::read(&out).unwrap();
    for part in [text.len() / 3, text.len() / 2, text.len() - 20] {
        let path = folder.path().join(format!("{part}.jsonl"));
        fs::write(&path, &text[..part]).unwrap();
        let (report, code) = judged(&path, &[]);
        assert_eq!((code, with_status(&report, "fail")), (0, Vec::new()));
        assert!(report["notes"].to_string().contains("the recording has no end"), "{}", report["notes"]);
    }
}

#[test]
fn follow_prints_each_finding_once_and_ends_with_the_recording() {
    let folder = folder();
    let out = folder.path().join("t.jsonl");
    let server = executable(folder.path(), &out, "--revision 2025-11-25 --fault list-item-without-name");
    act(&server.display().to_string(), "stdio", &[]);
    let output = Command::new(PROGRAM).args(["judge", "--follow"]).arg(&out).output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = told.lines().filter(|line| line.starts_with("FAIL server ")).collect();
    assert!(output.status.code() == Some(1) && !lines.is_empty(), "{told}");
    let mut once = lines.clone();
    once.dedup();
    assert_eq!(once, lines);
}

#[test]
fn credentials_are_not_recorded() {
    let folder = folder();
    let out = folder.path().join("t.jsonl");
    let mut command = recording(&out, "cat; echo \"$MY_API_KEY\"; :");
    command.env("MY_API_KEY", "very-secret-in-env");
    given(command, b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"very-secret-in-env\"}\n");
    assert!(!fs::read_to_string(&out).unwrap().contains("very-secret"));

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let upstream = format!("http://{}/mcp", listener.local_addr().unwrap());
    let body = json!({ "jsonrpc": "2.0", "id": 1, "result": { "echo": "Bearer very-secret-token" } }).to_string();
    let serving_once = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = vec![0; 65536];
        let length = stream.read(&mut request).unwrap();
        let head = format!(
            "Content-Type: application/json\r\nSet-Cookie: sid=very-secret-cookie\r\nContent-Length: {}",
            body.len()
        );
        write!(stream, "HTTP/1.1 200 OK\r\n{head}\r\n\r\n{body}").unwrap();
        String::from_utf8_lossy(&request[..length]).into_owned()
    });
    let http = folder.path().join("http.jsonl");
    let out = http.display().to_string();
    let (mut proxy, front) = serving(&["record", "--out", &out, "--listen", "127.0.0.1:0", "--http", &upstream]);
    let sent = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
    let headers = "Authorization: Bearer very-secret-token\r\nX-Mixed-Case: kept\r\nContent-Type: application/json";
    let response = asked(
        &front,
        &format!(
            "POST /mcp?api_key=very-secret-query HTTP/1.1\r\nHost: x\r\n{headers}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{sent}",
            sent.len()
        ),
    );
    terminate(&mut proxy);
    let passed = serving_once.join().unwrap();
    assert!(
        passed.contains("Authorization: Bearer very-secret-token") && passed.contains("X-Mixed-Case: kept"),
        "{passed}"
    );
    assert!(passed.contains("api_key=very-secret-query"), "{passed}");
    assert!(response.contains("very-secret-cookie"), "{response}");
    let recorded = fs::read_to_string(&http).unwrap();
    assert!(recorded.contains("Bearer (given by the user)") && !recorded.contains("very-secret"), "{recorded}");
}

/// The response to a complete HTTP request.
fn asked(url: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address(url)).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

fn address(url: &str) -> &str {
    url.trim_start_matches("http://").split('/').next().unwrap()
}

#[test]
fn events_pass_at_once_and_an_absolute_endpoint_stays_in_front() {
    let folder = folder();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let named = origin.clone();
    let (go_on, wait) = std::sync::mpsc::channel::<()>();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 8192]).unwrap();
        let event = format!("event: endpoint\ndata: {named}/messages?s=1\n\n");
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
            .unwrap();
        write!(stream, "{:x}\r\n{event}\r\n", event.len()).unwrap();
        // The stream continues only after the client has received the first event.
        wait.recv().unwrap();
        write!(stream, "4\r\n: b\n\r\n0\r\n\r\n").unwrap();
    });
    let out = folder.path().join("t.jsonl").display().to_string();
    let url = format!("{origin}/sse");
    let (_proxy, front) = serving(&["record", "--out", &out, "--listen", "127.0.0.1:0", "--http", &url]);
    let mut stream = TcpStream::connect(address(&front)).unwrap();
    stream.write_all(b"GET /sse HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n").unwrap();
    let mut text = String::new();
    while !text.contains("\n\n") {
        let mut piece = [0; 4096];
        let length = stream.read(&mut piece).unwrap();
        text += &String::from_utf8_lossy(&piece[..length]);
    }
    assert!(text.contains("data: /messages?s=1\n\n"), "{text}");
    go_on.send(()).unwrap();
    server.join().unwrap();
}

#[test]
fn a_server_that_closes_the_connection_without_a_response_closes_that_of_the_client() {
    let folder = folder();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let server = thread::spawn(move || listener.accept().unwrap().0.read(&mut [0; 8192]).unwrap());
    let out = folder.path().join("t.jsonl").display().to_string();
    let (_proxy, front) = serving(&["record", "--out", &out, "--listen", "127.0.0.1:0", "--http", &url]);
    assert_eq!(asked(&front, "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"), "");
    assert!(server.join().unwrap() > 0);
}

#[test]
fn an_absent_upstream_and_a_port_in_use_are_told() {
    let folder = folder();
    let out = folder.path().join("t.jsonl").display().to_string();
    let (_proxy, front) =
        serving(&["record", "--out", &out, "--listen", "127.0.0.1:0", "--http", "http://127.0.0.1:1/mcp"]);
    let response = asked(&front, "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}");
    assert!(response.starts_with("HTTP/1.1 502") && response.contains("cannot be reached"), "{response}");
    let listen = address(&front);
    let output = Command::new(PROGRAM)
        .args(["record", "--out", &out, "--listen", listen, "--http", "http://127.0.0.1:1/mcp"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot listen on"));
}
