//! Reads the stderr of a process and keeps its end. It is free text: shown without terminal control characters, never
//! judged.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anstream::adapter::strip_str;
use tokio::io::AsyncRead;

use crate::{pipe::Pipe, secrets::Secrets};

/// Room for a trace and a list of validation errors after it.
const KEPT: usize = 32 << 10;
/// Marks where a line was cut.
const MARK: &str = "…";
const LAST_LINES: usize = 5;
const ERRORS: [&str; 6] = ["error", "panic", "panicked", "exception", "fatal", "failed"];

#[derive(Clone, Default)]
pub struct Tail(Arc<Mutex<Kept>>, Secrets);

#[derive(Default)]
struct Kept {
    bytes: Vec<u8>,
    /// The beginning was dropped.
    is_cut: bool,
}

impl Tail {
    pub fn hiding(secrets: Secrets) -> Self {
        Self(Arc::default(), secrets)
    }

    pub fn add(&self, chunk: &[u8]) {
        let mut kept = self.lock();
        kept.bytes.extend_from_slice(chunk);
        let surplus = kept.bytes.len().saturating_sub(KEPT);
        kept.bytes.drain(..surplus);
        kept.is_cut |= surplus > 0;
    }

    pub fn text(&self) -> String {
        let kept = self.lock();
        let text = String::from_utf8_lossy(&kept.bytes);
        // The first word may be the rest of a secret.
        let whole = if kept.is_cut { text.split_once(char::is_whitespace).map_or("", |(_, rest)| rest) } else { &text };
        let shown = strip_str(whole).to_string().replace(|c: char| c.is_control() && c != '\n' && c != '\t', "");
        // A secret at the end may be incomplete, too.
        let (shown, mark) = shown.strip_suffix(MARK).map_or((shown.as_str(), ""), |shown| (shown, MARK));
        self.1.hide_cut(shown.to_owned()) + mark
    }

    /// Whether the last line is not complete yet.
    pub fn is_within_line(&self) -> bool {
        self.lock().bytes.last().is_some_and(|last| *last != b'\n')
    }

    /// Marks the end of a line that was not read to its end.
    pub fn mark_cut(&self) {
        self.add(MARK.as_bytes());
    }

    /// The most informative line.
    pub fn telling_line(&self) -> Option<String> {
        telling_line(&self.text())
    }

    /// The last output of a process that sent no message.
    pub fn last_words(&self) -> Option<String> {
        last_words(&self.text())
    }

    /// Keeps the end of what this pipe still has.
    pub async fn drain(self, mut pipe: Pipe<impl AsyncRead + Unpin>) {
        while let Some(chunk) = pipe.chunk().await {
            self.add(chunk);
        }
        if pipe.is_cut() {
            self.mark_cut();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The line with the error, or else the last line with text. Some runtimes end a trace with their own name, or put a
/// frame with a title around it. Some programs print their usage after an error.
pub fn telling_line(text: &str) -> Option<String> {
    complaint(text).or_else(|| spoken(text).next_back().map(str::to_owned))
}

/// The last output of a process that sent no message: the line with the error, or else the last few lines, such as a
/// usage text.
pub fn last_words(text: &str) -> Option<String> {
    if let Some(line) = complaint(text) {
        return Some(line);
    }
    let mut last: Vec<&str> = spoken(text).rev().take(LAST_LINES).collect();
    last.reverse();
    (!last.is_empty()).then(|| last.join(" | "))
}

/// A line that begins like an error, or else one that mentions an error and does not only name an option.
fn complaint(text: &str) -> Option<String> {
    let speaks = |line: &&str| {
        let line = line.to_ascii_lowercase();
        ERRORS.iter().any(|word| line.contains(word)) && !line.starts_with('-') && !line.starts_with("usage")
    };
    let line =
        || raised(text).or_else(|| spoken(text).rfind(|line| begins(line))).or_else(|| spoken(text).rfind(speaks));
    panicked(text).or_else(|| line().map(str::to_owned))
}

/// The last panic of a Rust program, whose message is on the next line.
fn panicked(text: &str) -> Option<String> {
    let (before, after) = text.rsplit_once(" panicked at ")?;
    let mut lines = after.lines();
    let place = lines.next().filter(|place| place.ends_with(':'))?;
    let thread = before.lines().next_back()?.trim_start();
    let message = lines.next().filter(|message| !message.trim().is_empty())?;
    Some(format!("{thread} panicked at {place} {}", message.trim()))
}

/// Whether the first word is that of an error, as in `fatal: ...` and `ValueError: ...`.
fn begins(line: &str) -> bool {
    let first = line.split(|c: char| c.is_whitespace() || c == ':').next().unwrap_or_default();
    let word = first.trim_matches(|c: char| !c.is_alphanumeric()).to_ascii_lowercase();
    ERRORS.contains(&word.as_str()) || word.ends_with("error") || word.ends_with("exception")
}

/// The line of the last Python traceback that has the exception, whatever it is called. The lines of a traceback within
/// a group of exceptions begin with a bar.
fn raised(text: &str) -> Option<&str> {
    let (_, trace) = text.rsplit_once("Traceback (most recent call last)")?;
    let mut lines = trace.lines().skip(1).map(|line| line.trim_start().strip_prefix("| ").unwrap_or(line));
    lines.find(|line| line.starts_with(char::is_alphanumeric)).map(str::trim_end)
}

/// The lines with text, without a frame around them.
fn spoken(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    let is_edge = |line: &&str| ["──", "━━", "══"].iter().any(|edge| line.contains(edge));
    let is_around = |c: char| c.is_whitespace() || "│┃║".contains(c);
    let lines = text.lines().filter(move |line| !is_edge(line)).map(move |line| line.trim_matches(is_around));
    lines.filter(|line| line.contains(char::is_alphanumeric))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::AsyncWriteExt;

    use super::*;

    #[test]
    fn keeps_the_end_only() {
        let tail = Tail::default();
        assert_eq!(tail.telling_line(), None);
        tail.add(&b"x ".repeat(KEPT));
        tail.add(b"\nwarning\n fatal: no config \n+----+\n\n");
        assert!(tail.text().len() <= KEPT);
        assert_eq!(tail.telling_line().as_deref(), Some("fatal: no config"));
        let framed = "╭─ Error ────╮\n│ No such option: -x │\n╰──────╯";
        assert_eq!(telling_line(framed).as_deref(), Some("No such option: -x"));
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_of_a_trace_is_read_after_the_exit_or_marked_as_cut() {
        for (rest, expected) in [
            ("st' from 'httpx'\n", "ImportError: cannot import name 'request' from 'httpx'"),
            ("", "ImportError: cannot import name 'reque…"),
        ] {
            let (mut child, pipe) = tokio::io::duplex(1 << 10);
            let (exit, exited) = tokio::sync::watch::channel(None);
            let tail = Tail::default();
            let draining = tokio::spawn(tail.clone().drain(Pipe::new(pipe, exited)));
            child
                .write_all(b"Traceback (most recent call last):\nImportError: cannot import name 'reque")
                .await
                .unwrap();
            exit.send_replace(Some(conform_model::evidence::Exit::Status(0)));
            tokio::time::sleep(Duration::from_millis(500)).await;
            child.write_all(rest.as_bytes()).await.unwrap();
            draining.await.unwrap();
            assert_eq!(tail.telling_line().as_deref(), Some(expected));
        }
    }

    #[test]
    fn what_says_what_went_wrong_stands_before_the_rest() {
        for (text, telling) in [
            (
                "Error: unknown flag: --x\nUsage:\n  serve [flags]\nFlags:\n  --error-log FILE",
                "Error: unknown flag: --x",
            ),
            ("thread 'main' panicked at a.rs:1:\nno port\nnote: run with", "thread 'main' panicked at a.rs:1: no port"),
            (
                "Traceback (most recent call last):\n  File \"a\", line 1\n    f()\nSystemExit: no key\n",
                "SystemExit: no key",
            ),
            (
                "  + Exception Group Traceback (most recent call last):\n  |   File \"a\", line 1\n  |     run()\n  | ExceptionGroup: 1\n  +-+--- 1 ---\n    | Traceback (most recent call last):\n    |   File \"b\", line 2\n    |     check()\n    | ValidationError: 2 errors\n    | PingRequest.method\n    +---\n",
                "ValidationError: 2 errors",
            ),
            (
                "node:internal\n  throw err;\nError: Cannot find module\n  at x\n\nNode.js v22",
                "Error: Cannot find module",
            ),
            ("started\n2026-01-01 ERROR no database\nbye", "2026-01-01 ERROR no database"),
        ] {
            assert_eq!(telling_line(text).as_deref(), Some(telling));
            assert_eq!(last_words(text).as_deref(), Some(telling));
        }
        let usage = "usage: notes <dir>\n  <dir>  where notes are\n  --error-log FILE\n";
        assert_eq!(
            last_words(usage).as_deref(),
            Some("usage: notes <dir> | <dir>  where notes are | --error-log FILE")
        );
        assert_eq!(last_words("1\n2\n3\n4\n\n5\n6\n").as_deref(), Some("2 | 3 | 4 | 5 | 6"));
        assert_eq!(last_words("\n--\n"), None);
    }

    #[test]
    fn what_a_terminal_would_act_on_is_gone() {
        let tail = Tail::default();
        tail.add("\u{1b}]0;mine\u{7}\u{1b}[2J\u{1b}[31mError:\u{1b}[0m no\tkey\u{8}\r\n\u{9b}5mbye".as_bytes());
        assert_eq!(tail.text(), "Error: no\tkey\n5mbye");
    }

    #[test]
    fn shows_no_half_of_a_secret() {
        let tail = Tail::hiding(Secrets::of(["abcdefgh12".to_owned()]));
        tail.add(&[b"abcdefgh12 ".as_slice(), b"x".repeat(KEPT - 5).as_slice()].concat());
        assert_eq!(tail.text(), "x".repeat(KEPT - 5));
    }
}
