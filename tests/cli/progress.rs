//! The progress line on a terminal, which is erased at the end.

use std::{
    fs,
    io::{Read, Write},
    num::NonZero,
    path::Path,
    process::{Child, Command, Stdio},
};

use crate::PROGRAM;

/// A terminal in which the program runs.
struct Terminal {
    script: Child,
    screen: vt100::Parser,
}

impl Terminal {
    fn start(columns: u16, arguments: &str) -> Self {
        let line = format!("stty cols {columns} rows 24; exec {PROGRAM} run {arguments}");
        let script = Command::new("script")
            .args(["--quiet", "--return", "--command", &line, "/dev/null"])
            .env_remove("CI")
            .env("TERM", "xterm")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("`script` of util-linux");
        let size = |number| NonZero::new(number).expect("a size");
        Self { script, screen: vt100::Parser::new(size(24), size(columns), 0) }
    }

    /// Reads until this is on the screen, or to the end.
    fn until(&mut self, text: &str) -> String {
        let mut byte = [0];
        while !self.screen.screen().contents().contains(text) {
            match self.script.stdout.as_mut().expect("a pipe").read(&mut byte) {
                Ok(1) => self.screen.process(&byte),
                _ => break,
            }
        }
        self.screen.screen().contents()
    }

    fn press(&mut self, key: &[u8]) {
        self.script.stdin.as_mut().expect("a pipe").write_all(key).expect("the program reads");
    }

    /// The final screen, and the exit code.
    fn end(mut self) -> (String, Option<i32>) {
        let shown = self.until("nothing stops it before the end");
        (shown, self.script.wait().expect("it ends").code())
    }
}

/// A server that does not respond until a file exists.
fn held_back(directory: &Path) -> String {
    let go = directory.join("go").display().to_string();
    let server = format!("while [ ! -e {go} ]; do sleep 0.1; done; exec {PROGRAM} serve");
    format!("--filter base.bad-input -- sh -c '{server}'")
}

#[test]
fn a_run_says_what_it_waits_for_and_leaves_nothing_behind() {
    let directory = tempfile::tempdir().unwrap();
    let mut terminal = Terminal::start(60, &held_back(directory.path()));
    let waiting = terminal.until("waits 1 s for server/discover");
    assert_eq!(waiting.lines().count(), 1, "{waiting}");
    fs::write(directory.path().join("go"), "").unwrap();
    let (shown, code) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("exit 0") && !shown.contains("waits") && !shown.contains(" suites"), "{shown}");
}

#[test]
fn a_narrow_terminal_shows_it_on_one_line() {
    let directory = tempfile::tempdir().unwrap();
    let mut terminal = Terminal::start(24, &held_back(directory.path()));
    let waiting = terminal.until("…");
    assert_eq!(waiting.lines().count(), 1, "{waiting}");
    terminal.press(b"\x03");
    assert_eq!(terminal.end().1, Some(130));
}

#[test]
fn a_run_that_is_interrupted_leaves_nothing_behind() {
    let directory = tempfile::tempdir().unwrap();
    let mut terminal = Terminal::start(80, &held_back(directory.path()));
    terminal.until("waits 1 s for");
    terminal.press(b"\x03");
    let (shown, code) = terminal.end();
    assert_eq!(code, Some(130), "{shown}");
    assert!(shown.starts_with("interrupted: judging the evidence so far"), "{shown}");
    assert!(!shown.contains("waits") && !shown.contains(" suites"), "{shown}");
}
