//! `run --watch`: a change starts a run, and the changed verdicts are reported.

use std::{
    fs,
    io::{BufRead, BufReader, pipe},
    process::{Child, Command},
    sync::mpsc::{Receiver, channel},
    thread,
    time::Duration,
};

use crate::PROGRAM;

/// Far more than any run takes.
const LIMIT: Duration = Duration::from_secs(120);

struct Watching {
    child: Child,
    lines: Receiver<String>,
}

impl Watching {
    /// Reads until a line contains these words.
    fn until(&self, words: &str) -> String {
        let mut read = String::new();
        loop {
            let line =
                self.lines.recv_timeout(LIMIT).unwrap_or_else(|_| panic!("no line with `{words}` came:\n{read}"));
            read += &format!("{line}\n");
            if line.contains(words) {
                return read;
            }
        }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_change_is_run_and_told() {
    let directory = tempfile::tempdir().unwrap();
    let server = |fault: &str| {
        let configuration = format!("[targets.server]\nstdio = ['{PROGRAM}', 'serve'{fault}]\n");
        fs::write(directory.path().join("mcp-conform.toml"), configuration).unwrap();
    };
    server("");
    // One pipe for both streams keeps their lines in order.
    let (reader, writer) = pipe().expect("a pipe");
    let child = Command::new(PROGRAM)
        .args([
            "run",
            "--watch",
            ".",
            "--filter",
            "resources.list",
            "--report",
            "human",
            "--report",
            "json=report.json",
        ])
        .current_dir(&directory)
        .stdout(writer.try_clone().expect("the same pipe"))
        .stderr(writer)
        .spawn()
        .expect("the program starts");
    let (sender, lines) = channel();
    thread::spawn(move || BufReader::new(reader).lines().map_while(Result::ok).all(|line| sender.send(line).is_ok()));
    let watching = Watching { child, lines };

    watching.until("waiting for a change");
    server(", '--fault', 'list-item-without-name'");
    watching.until("mcp-conform.toml changed");
    let told = watching.until("1 worse");
    assert!(told.contains("worse\n  fail           resources-list-item-name  was pass"), "{told}");
    watching.until("waiting for a change");

    server(", '--no-such-flag'");
    let told = watching.until("waiting for a change");
    assert!(told.contains("could not be tested"), "{told}");

    server("");
    let told = watching.until("1 better");
    assert!(told.contains("better\n  pass           resources-list-item-name  was fail"), "{told}");
}

#[test]
fn what_is_not_there_cannot_be_watched() {
    let ran = crate::typed("run --reference --watch no/such/path");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("no/such/path"), "{}", ran.stderr);
}
