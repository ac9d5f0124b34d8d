//! Recordings over HTTP, and how they are judged.

use crate::*;

/// The report on a recording between the reference client and server.
pub fn over_http(folder: &Path, transport: &str, server: &[&str], client: &[&str]) -> Value {
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
