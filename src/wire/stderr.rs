//! Drains what a process writes to stderr and keeps the end of it. It is free text: shown, never judged.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::secrets::Secrets;

const KEPT: usize = 8 << 10;

#[derive(Clone, Default)]
pub struct Tail(Arc<Mutex<Kept>>, Secrets);

#[derive(Default)]
struct Kept {
    bytes: Vec<u8>,
    /// What came before is gone.
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
        // The first word may be half a secret.
        let whole = if kept.is_cut { text.split_once(char::is_whitespace).map_or("", |(_, rest)| rest) } else { &text };
        self.1.hide(whole.to_owned())
    }

    /// The line that says most.
    pub fn telling_line(&self) -> Option<String> {
        telling_line(&self.text()).map(str::to_owned)
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The last line that speaks of an error, or else the last one that says something: some runtimes end a trace with their
/// own name, or with a frame around it, which may have a title.
pub fn telling_line(text: &str) -> Option<&str> {
    let speaks = |line: &&str| line.contains(char::is_alphanumeric);
    let complains = |line: &&str| {
        let line = line.to_ascii_lowercase();
        ["error", "panicked", "exception", "fatal"].iter().any(|word| line.contains(word))
    };
    let is_edge = |line: &str| ["──", "━━", "══"].iter().any(|edge| line.contains(edge));
    let is_around = |c: char| c.is_whitespace() || "│┃║".contains(c);
    let lines = || text.lines().filter(|line| !is_edge(line)).map(|line| line.trim_matches(is_around));
    lines().rfind(complains).or_else(|| lines().rfind(speaks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_end_only() {
        let tail = Tail::default();
        assert_eq!(tail.telling_line(), None);
        tail.add(&b"x ".repeat(KEPT));
        tail.add(b"\nwarning\n fatal: no config \n+----+\n\n");
        assert!(tail.text().len() <= KEPT);
        assert_eq!(tail.telling_line().as_deref(), Some("fatal: no config"));
        assert_eq!(telling_line("╭─ Error ────╮\n│ No such option: -x │\n╰──────╯"), Some("No such option: -x"));
    }

    #[test]
    fn shows_no_half_of_a_secret() {
        let tail = Tail::hiding(Secrets::of(["abcdefgh12".to_owned()]));
        tail.add(&[b"abcdefgh12 ".as_slice(), &[b'x'; KEPT - 5]].concat());
        assert_eq!(tail.text(), "x".repeat(KEPT - 5));
    }
}
