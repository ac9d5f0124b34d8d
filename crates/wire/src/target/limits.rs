//! The limits of a run, whatever the server does. `docs/limits.md` has a table of them.

use std::time::Duration;

/// A limit that is reached is reported by its name. Only a rule can make it a fault of the server.
#[derive(Clone, Debug)]
pub struct Limits {
    /// From a request to its response.
    pub request: Duration,
    /// Gathering of one suite.
    pub suite: Duration,
    /// The whole run.
    pub run: Duration,
    /// Each stage of ending a process: close stdin, SIGTERM, SIGKILL.
    pub grace: Duration,
    /// Concurrent requests.
    pub in_flight: usize,
    /// One line, event or body.
    pub message_bytes: usize,
    /// Values in one message, each of which takes many times the memory of its text.
    pub message_values: usize,
    /// Consecutive lines that are not messages.
    pub junk_lines: usize,
    /// Whether an HTTP request is sent again if the server was busy or its connection ended.
    pub repeats: bool,
    /// Size of the record in memory; older frames go to a temporary file, ...
    pub memory_bytes: usize,
    /// ... which is limited to this size.
    pub disk_bytes: usize,
    /// Frames in the record, each of which takes time to judge.
    pub record_messages: usize,
    /// Limits of resource walks, instead of those in the suite.
    pub walk: Reach,
    /// Messages that a finding shows.
    pub evidence_frames: usize,
}

/// Limits of a walk that the user has set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    pub nodes: Option<usize>,
    pub depth: Option<usize>,
    pub pages: Option<usize>,
    pub seconds: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            request: Duration::from_secs(10),
            suite: Duration::from_secs(120),
            run: Duration::from_secs(300),
            grace: Duration::from_secs(2),
            in_flight: 8,
            message_bytes: 16 << 20,
            message_values: 250_000,
            junk_lines: 10_000,
            repeats: true,
            memory_bytes: 32 << 20,
            disk_bytes: 96 << 20,
            record_messages: 200_000,
            walk: Reach::default(),
            evidence_frames: 4,
        }
    }
}

impl Limits {
    /// The names in `[limits]` and for `--limit`.
    pub const NAMES: [&str; 16] = [
        "request",
        "suite",
        "run",
        "grace",
        "in_flight",
        "message_bytes",
        "message_values",
        "junk_lines",
        "memory_bytes",
        "disk_bytes",
        "record_messages",
        "walk_nodes",
        "walk_depth",
        "walk_pages",
        "walk_seconds",
        "evidence_frames",
    ];

    /// Sets one by its name; `Err` describes the accepted values.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "request" => self.request = seconds(value)?,
            "suite" => self.suite = seconds(value)?,
            "run" => self.run = seconds(value)?,
            "grace" => self.grace = seconds(value)?,
            "in_flight" => self.in_flight = count(value)?,
            "message_bytes" => self.message_bytes = count(value)?.max(1024),
            "message_values" => self.message_values = count(value)?,
            "junk_lines" => self.junk_lines = count(value)?,
            "memory_bytes" => self.memory_bytes = count(value)?,
            "disk_bytes" => self.disk_bytes = count(value)?,
            "record_messages" => self.record_messages = count(value)?,
            "walk_nodes" => self.walk.nodes = Some(count(value)?),
            "walk_depth" => self.walk.depth = Some(count(value)?),
            "walk_pages" => self.walk.pages = Some(count(value)?),
            "walk_seconds" => self.walk.seconds = Some(seconds(value)?.as_secs().max(1)),
            "evidence_frames" => self.evidence_frames = count(value)?,
            _ => return Err(format!("is unknown; known: {}", Self::NAMES.join(", "))),
        }
        Ok(())
    }
}

/// One year: no longer wait is needed, and sums of durations do not overflow.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// A duration of this many seconds, if it is in range.
pub fn patience(seconds: f64) -> Result<Duration, String> {
    if seconds > LONGEST.as_secs_f64() {
        return Err(format!("takes {} seconds at most, not {seconds}", LONGEST.as_secs()));
    }
    let time = Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero());
    time.ok_or_else(|| format!("takes a number of seconds above 0, not {seconds}"))
}

/// The seconds in `10`, `0.5`, `500ms`, `5s` or `2m`.
pub fn time(text: &str) -> Option<f64> {
    let units = [("ms", 0.001), ("s", 1.0), ("m", 60.0)];
    let (number, unit) =
        units.iter().find_map(|(unit, of)| Some((text.strip_suffix(unit)?, *of))).unwrap_or((text, 1.0));
    Some(number.parse::<f64>().ok()? * unit)
}

fn seconds(value: &str) -> Result<Duration, String> {
    // A string in the configuration has quotes.
    let number =
        time(value.trim_matches('"')).ok_or_else(|| format!("takes a number of seconds above 0, not {value}"))?;
    patience(number)
}

fn count(value: &str) -> Result<usize, String> {
    value.parse().ok().filter(|count| *count > 0).ok_or_else(|| format!("takes a whole number above 0, not {value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_can_be_set_and_nothing_else() {
        let mut limits = Limits::default();
        assert_eq!(
            limits.set("grace", "1e19"),
            Err("takes 31536000 seconds at most, not 10000000000000000000".to_owned())
        );
        for name in Limits::NAMES {
            assert_eq!(limits.set(name, "7"), Ok(()), "{name}");
            assert!(limits.set(name, "0").is_err_and(|why| why.ends_with("above 0, not 0")), "{name}");
            assert!(limits.set(name, "many").is_err(), "{name}");
        }
        assert_eq!(limits.set("grace", "500ms"), Ok(()));
        assert_eq!((limits.grace, limits.set("grace", "\"2m\"")), (Duration::from_millis(500), Ok(())));
        assert_eq!(limits.grace, Duration::from_secs(120));
        assert!(limits.set("grace", "ms").is_err());
        assert_eq!((limits.request, limits.walk.depth), (Duration::from_secs(7), Some(7)));
        assert!(limits.set("requests", "7").is_err());
    }
}
