//! Processes, most of them one line of shell.

use std::{os::unix::fs::PermissionsExt, path::PathBuf};

use serde_json::json;

use super::*;

fn shell(script: &str) -> Start {
    let argv = ["sh", "-c", script].map(str::to_owned).to_vec();
    Start::Program(Program { argv, ..Program::default() })
}

fn program(name: &str, cwd: Option<PathBuf>) -> Start {
    Start::Program(Program { argv: vec![name.to_owned()], cwd, ..Program::default() })
}

async fn close(open: Open) -> Ending {
    timeout(PATIENCE, open.wire.close()).await.expect("an end in time")
}

async fn refused(start: Start) -> OpenError {
    match try_open(start, &limits()).await {
        Ok(_) => panic!("it started"),
        Err(error) => error,
    }
}

#[tokio::test]
async fn carries_messages_both_ways_and_ends_in_order() {
    let mut open = open(program("cat", None), &limits()).await;
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let posted = open.wire.send(&envelope(), &message).expect("sent");
    open.wire.send_raw(&envelope(), b"not json", 1).expect("sent");
    assert_eq!((posted.frame, posted.post), (1, None));
    assert_eq!(open.message().await, message);
    assert_eq!(open.junk().await, "not JSON: expected ident at column 2");
    let kinds: Vec<FrameKind> = open.frames().iter().map(|frame| frame.kind).collect();
    assert_eq!(kinds, [FrameKind::Message, FrameKind::Junk, FrameKind::Message, FrameKind::Junk]);
    assert_eq!(close(open).await.how, "exited with status 0 when stdin was closed");
}

#[tokio::test]
async fn names_the_flaws_of_lines() {
    let script = r#"printf '{"a":1}\r\n\n\n7\nHello\n{"a":1,"a":2}\n\357\273\277{}'"#;
    let mut open = open(shell(script), &limits()).await;
    assert_eq!(open.message().await, json!({"a": 1}));
    assert_eq!(open.junk().await, "2 empty lines");
    assert_eq!(open.message().await, json!(7));
    assert_eq!(open.junk().await, "not JSON: expected value at column 1");
    assert_eq!(open.message().await, json!({"a": 2}));
    assert_eq!(open.message().await, json!({}));
    assert_eq!(open.closed().await, "exited with status 0");
    let flaws: Vec<Vec<String>> = open.frames().into_iter().map(|frame| frame.flaws).collect();
    let none: [&str; 0] = [];
    assert_eq!(flaws, [&["crlf"][..], &none, &none, &none, &["duplicate-key"], &["bom", "unterminated"], &none]);
}

#[tokio::test]
async fn reads_no_further_than_the_limit() {
    let small = Limits { message_bytes: 10, ..limits() };
    let mut open = open(shell("printf '\"0123456789abcdef\"\n{}\n'"), &small).await;
    assert_eq!(open.junk().await, "longer than 10 bytes, not read further");
    assert_eq!(open.message().await, json!({}));
    assert_eq!(open.frames()[0].text.as_deref(), Some("\"012345678"));
    assert_eq!(open.notes()[0], "the line that was too long ended after 18 bytes");
}

#[tokio::test]
async fn reads_long_lines() {
    let script = "printf '\"'; head -c 8000000 /dev/zero | tr '\\0' x; printf '\"\n'";
    let mut open = open(shell(script), &limits()).await;
    assert_eq!(open.message().await.as_str().map(str::len), Some(8_000_000));
}

#[tokio::test]
async fn tells_how_a_server_died() {
    let mut open = open(shell("echo starting >&2; echo 'no config file' >&2; exit 3"), &limits()).await;
    assert_eq!(open.closed().await, "exited with status 3; on stderr: starting | no config file");
    assert_eq!(open.wire.stderr_tail(), "starting\nno config file\n");
    assert_eq!(open.wire.send(&envelope(), &json!({})).expect_err("gone"), "the server exited with status 3");
    assert_eq!(close(open).await.how, "exited with status 3 before stdin was closed");
}

#[tokio::test]
async fn tells_the_signal_that_ended_a_server() {
    let mut open = open(shell("kill -SEGV $$"), &limits()).await;
    assert_eq!(open.closed().await, "was ended by SIGSEGV");
}

#[tokio::test]
async fn gives_environment_and_directory() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().canonicalize().expect("a path");
    let mut start = shell(r#"printf '["%s","%s"]\n' "$NAME" "$(pwd)""#);
    let program = start.program_mut().expect("a program");
    (program.env, program.cwd) = (vec![("NAME".to_owned(), "value".to_owned())], Some(path.clone()));
    let mut open = open(start, &limits()).await;
    assert_eq!(open.message().await, json!(["value", path]));
}

#[tokio::test]
async fn terminates_a_server_that_stays() {
    let impatient = Limits { grace: Duration::from_millis(50), ..limits() };
    let open = open(shell("exec sleep 1000"), &impatient).await;
    assert_eq!(close(open).await.how, "still ran 50ms after stdin was closed; then was ended by SIGTERM");
}

#[tokio::test]
async fn kills_a_server_that_ignores_everything() {
    let impatient = Limits { grace: Duration::from_millis(50), ..limits() };
    let mut open = open(shell("trap '' TERM; echo '{}'; while :; do sleep 1; done"), &impatient).await;
    open.message().await;
    assert_eq!(close(open).await.how, "still ran 250ms after stdin was closed and 50ms after SIGTERM; was killed");
}

#[tokio::test]
async fn ends_what_the_server_left_behind() {
    let directory = tempfile::tempdir().expect("a directory");
    let grandchild = "trap 'echo gone > trace; exit' TERM; echo '{}'; while :; do sleep 1; done";
    let script = format!("({grandchild}) & head -n 1");
    let mut start = shell(&script);
    start.program_mut().expect("a program").cwd = Some(directory.path().to_owned());
    let mut open = open(start, &Limits { grace: Duration::from_secs(2), ..limits() }).await;
    open.message().await;
    open.wire.send(&envelope(), &json!(1)).expect("sent");
    assert_eq!(open.message().await, json!(1));
    assert!(open.closed().await.starts_with("exited with status 0"));
    close(open).await;
    assert_eq!(std::fs::read_to_string(directory.path().join("trace")).expect("a trace"), "gone\n");
}

#[tokio::test]
async fn does_not_wait_for_a_server_that_does_not_read() {
    let small = Limits { message_bytes: 1000, grace: Duration::from_millis(50), ..limits() };
    let open = open(shell("exec sleep 1000"), &small).await;
    let longer_than_any_pipe = json!("x".repeat(2 << 20));
    open.wire.send(&envelope(), &longer_than_any_pipe).expect("queued");
    let error = open.wire.send(&envelope(), &json!({})).expect_err("too much waits");
    assert!(error.starts_with("the server does not read stdin: "), "{error}");
    assert!(close(open).await.how.contains("SIGTERM"));
}

#[tokio::test]
async fn goes_on_without_a_reader_of_stdin() {
    let mut open = open(shell("exec 0<&-; echo '{}'; exec sleep 1000"), &limits()).await;
    open.message().await;
    // A process that another test is starting may still hold the pipe open for a moment.
    while open.notes().is_empty() {
        let _ = open.wire.send(&envelope(), &json!({}));
        tokio::task::yield_now().await;
    }
    assert!(open.notes()[0].starts_with("could not be written to: "));
    assert_eq!(open.wire.send(&envelope(), &json!({})).expect_err("closed"), "the server closed its stdin");
}

#[tokio::test]
async fn closes_while_nobody_takes_what_comes() {
    let open = open(shell("cat > /dev/null; yes '{}' | head -n 50000"), &limits()).await;
    let (recorder, ending) = (open.recorder.clone(), close(open).await);
    assert_eq!(ending.how, "exited with status 0 when stdin was closed");
    assert_eq!(recorder.frames().filter(|frame| frame.kind == FrameKind::Message).count(), 50_000);
}

#[tokio::test]
async fn says_what_keeps_a_program_from_starting() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("server");
    std::fs::write(&file, "#!/no/such/interpreter\n").expect("a file");
    let path = file.to_str().expect("a path");
    let error = refused(program(path, None)).await;
    assert_eq!(
        (error.came.as_str(), error.help),
        ("permission denied", format!("make it executable: chmod +x {path}"))
    );

    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).expect("permission");
    assert_eq!(refused(program(path, None)).await.came, "the file exists, but its interpreter or loader is missing");

    let error = refused(program("server", Some(directory.path().to_owned()))).await;
    assert_eq!(error.help, "is it in PATH? There is a file of that name: ./server");
    let error = refused(program("no-such-server", None)).await;
    assert_eq!((error.tried.as_str(), error.came.as_str()), ("to start no-such-server", "command not found"));
    assert_eq!(error.help, "is it installed and in PATH?");
    assert_eq!(refused(program("./no-such-server", None)).await.came, "no such file");
    assert!(refused(program("node server.js", None)).await.help.starts_with("it contains spaces"));
    assert_eq!(refused(program("cat", Some("/no/such".into()))).await.came, "/no/such is not a directory");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn tells_whether_a_process_has_read_what_it_was_sent() {
    let deaf = open(shell("exec sleep 60"), &limits()).await;
    deaf.wire.send_raw(&envelope(), b"{}", 1).expect("sent");
    assert!(timeout(Duration::from_millis(100), deaf.wire.taken()).await.is_err());
    let reader = open(shell("sleep 0.1; exec cat"), &limits()).await;
    reader.wire.send_raw(&envelope(), b"{}", 1).expect("sent");
    timeout(PATIENCE, reader.wire.taken()).await.expect("it reads");
    assert_eq!(close(reader).await.how, "exited with status 0 when stdin was closed");
}
