//! Converts recordings of other tools to the format of `mcp-conform record`, so that only one format is judged.

mod har;
mod har_file;
mod streams;
mod trace;

use std::{
    io::Write,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use tokio::time::Instant;

use crate::{
    evidence::{Recorder, RunHeader, Side, Tested, transcript},
    target::Limits,
};

/// A format, detected by the beginning of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// HTTP Archive 1.2, as browsers and proxies write it.
    Har,
    /// The JSON lines that mcp-trace-validator reads.
    Trace,
}

impl Format {
    /// The format of a file with this beginning; `None` for files of this program and for unknown ones.
    pub fn of(beginning: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(beginning);
        let text = text.trim_start_matches('\u{feff}').trim_start();
        let first: String = text.strip_prefix('{')?.chars().filter(|c| !c.is_whitespace()).take(6).collect();
        match first.as_str() {
            r#""log":"# => Some(Self::Har),
            _ => trace::is_event(text.lines().next()?).then_some(Self::Trace),
        }
    }

    /// The same recording in the format of `mcp-conform record`.
    pub fn converted(self, bytes: &[u8]) -> Result<Vec<u8>, String> {
        match self {
            Self::Har => har::converted(bytes),
            Self::Trace => trace::converted(bytes),
        }
    }
}

/// A record that is written in memory.
struct Written {
    recorder: Recorder,
    bytes: Arc<Mutex<Vec<u8>>>,
    /// When the recording began, by its own clock.
    began: Instant,
}

impl Written {
    fn begin(target: Tested, started: u64) -> Result<Self, String> {
        let mut first = Vec::new();
        transcript::begin(&mut first, &header(target, started)).map_err(|why| why.to_string())?;
        let bytes = Arc::new(Mutex::new(first));
        let lines = Arc::clone(&bytes);
        let recorder = Recorder::to(Box::new(move |kind, text| {
            // Writing to memory cannot fail.
            let _ = writeln!(lines.lock().unwrap_or_else(PoisonError::into_inner), r#"{{"{kind}":{text}}}"#);
        }));
        Ok(Self { recorder, bytes, began: Instant::now() })
    }

    /// Sets the time of what is recorded next.
    fn seen_after(&self, since: Duration) {
        self.recorder.seen_at(self.began + since);
    }

    fn close(self, ms: u64, notes: Vec<String>) -> Result<Vec<u8>, String> {
        let mut bytes = std::mem::take(&mut *self.bytes.lock().unwrap_or_else(PoisonError::into_inner));
        transcript::close(&mut bytes, &transcript::Closed { ms, notes, next: None }).map_err(|why| why.to_string())?;
        Ok(bytes)
    }
}

fn header(target: Tested, started: u64) -> RunHeader {
    RunHeader { recorded: true, ..RunHeader::new(Side::Server, target, started, Limits::default().evidence_frames) }
}

/// For a recording without a date.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_known_by_its_beginning() {
        assert_eq!(Format::of(b"\xEF\xBB\xBF{\n  \"log\": {\n"), Some(Format::Har));
        let event = br#"{"seq":0,"direction":"client-to-server","transport":"stdio","kind":"lifecycle","event":"x"}"#;
        assert_eq!(Format::of(event), Some(Format::Trace));
        for other in ["", "{", "{\"transcript\":{\"schema\":2}}", "{\"log\"", "{\"logs\":1}", "[]", "\0\0"] {
            assert_eq!(Format::of(other.as_bytes()), None, "{other}");
        }
    }
}
