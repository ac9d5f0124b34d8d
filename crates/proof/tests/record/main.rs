//! `mcp-conform record` between a client and a server, and `judge` of its recording.
#![cfg(unix)]

mod conversations;
mod http;

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

const PROGRAM: &str = env!("CARGO_BIN_EXE_proof");

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
