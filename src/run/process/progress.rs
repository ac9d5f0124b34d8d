//! One line on the terminal during a run: what it waits for, and for how long. Without a terminal, a line now and then.
//!
//! It reads the record from its own thread. So the run does not need to know about it, and it continues while rules are
//! judged. This program already has code that escapes and truncates text of a server, so no crate for progress bars is
//! needed.

use std::{
    collections::HashMap,
    fmt::Write as _,
    io::{IsTerminal, Write as _},
    panic,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use crate::{
    assess::timeline::about,
    evidence::{Frame, FrameKind, Recorder, Side},
    outcome::excerpt::middle,
    report::plain,
};

/// A shorter run shows nothing. A guess.
const FIRST: Duration = Duration::from_millis(300);
/// The interval of updates; a guess.
const EVERY: Duration = Duration::from_millis(100);
/// Without a terminal, as in the log of a pipeline. A run over all revisions takes half a minute.
const LINE_EVERY: Duration = Duration::from_secs(30);
/// Shorter waits are not shown. A guess.
const NOTABLE: Duration = Duration::from_secs(1);

/// How many suites or scenarios there are, and how many are done.
#[derive(Debug)]
pub struct Counts {
    of: &'static str,
    planned: AtomicUsize,
    done: AtomicUsize,
}

impl Counts {
    pub fn of(of: &'static str) -> Arc<Self> {
        Arc::new(Self { of, planned: AtomicUsize::default(), done: AtomicUsize::default() })
    }

    pub fn plan(&self, more: usize) {
        self.planned.fetch_add(more, Ordering::Relaxed);
    }

    pub fn one_done(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// `None` until the server is known, because the plan depends on it.
    fn so_far(&self) -> Option<String> {
        let planned = self.planned.load(Ordering::Relaxed);
        // A suite may be gathered again after the server crashed.
        let done = self.done.load(Ordering::Relaxed).min(planned);
        (planned > 0).then(|| format!("{done} of {planned} {}", self.of))
    }
}

/// Shows the progress of a run until it is dropped, then erases it.
pub struct Progress {
    ending: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Without a terminal there is no width. Requests older than `patience` are no longer shown.
    pub fn show(recorder: &Recorder, counts: &Arc<Counts>, patience: Duration, width: Option<usize>) -> Self {
        let (end, ended) = channel();
        let (recorder, counts) = (recorder.clone(), Arc::clone(counts));
        if width.is_some() {
            // Print the message of a panic on its own line.
            let usual = panic::take_hook();
            panic::set_hook(Box::new(move |why| {
                erase();
                usual(why);
            }));
        }
        let thread = thread::spawn(move || follow(&recorder, &counts, patience, width, &ended));
        Self { ending: Some((end, thread)) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.ending.take() {
            drop(end);
            // The thread returns nothing.
            let _ = thread.join();
        }
    }
}

fn follow(recorder: &Recorder, counts: &Counts, patience: Duration, width: Option<usize>, ended: &Receiver<()>) {
    let began = Instant::now();
    let mut waits = Waits::default();
    let (mut pause, every) = width.map_or((LINE_EVERY, LINE_EVERY), |_| (FIRST, EVERY));
    while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
        pause = every;
        recorder.since(waits.seen).iter().for_each(|frame| waits.see(frame));
        let line = waits.line(began.elapsed(), counts, patience);
        to_stderr(&match width {
            // The last column stays empty, or the cursor would move to the next line.
            Some(width) => format!("\r{}\x1b[K", middle(&plain(&line), width.saturating_sub(1))),
            None => format!("{}\n", plain(&line)),
        });
    }
    if pause == EVERY {
        erase();
    }
}

/// Erases the line so that something else can be printed.
pub fn erase() {
    if std::io::stderr().is_terminal() {
        to_stderr("\r\x1b[K");
    }
}

/// A closed terminal is not an error.
fn to_stderr(text: &str) {
    let mut stderr = std::io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

/// The pending requests of a run, according to its record.
#[derive(Default)]
struct Waits {
    seen: u64,
    /// Who sent the newest request.
    newest: String,
    /// The last unanswered request of each connection: a later request shows that the earlier one was abandoned.
    open: HashMap<u32, Open>,
}

struct Open {
    by: String,
    id: String,
    about: String,
    since: Duration,
}

impl Waits {
    fn see(&mut self, frame: &Frame) {
        self.seen = frame.frame;
        if frame.ended.is_some() && frame.post.is_none() {
            self.open.remove(&frame.link);
        }
        let Some(message) = frame.message.as_ref().filter(|_| frame.kind == FrameKind::Message) else { return };
        let Some(id) = message.get("id").map(ToString::to_string) else { return };
        match (frame.from, &frame.by, message.get("method").and_then(|method| method.as_str())) {
            (Side::Client, Some(by), Some(method)) => {
                let about = about(message).map_or_else(|| method.to_owned(), |about| format!("{method} {about}"));
                let since = Duration::from_micros(frame.at);
                self.open.insert(frame.link, Open { by: by.clone(), id, about, since });
                self.newest.clone_from(by);
            }
            (Side::Server, _, None) if self.open.get(&frame.link).is_some_and(|open| open.id == id) => {
                self.open.remove(&frame.link);
            }
            _ => {}
        }
    }

    fn line(&mut self, now: Duration, counts: &Counts, patience: Duration) -> String {
        // These have timed out.
        self.open.retain(|_, open| now.saturating_sub(open.since) <= patience);
        let so_far = counts.so_far().unwrap_or_else(|| "connecting".to_owned());
        let mut line = format!("{:.1} s · {so_far}", now.as_secs_f64());
        // Writing to a string does not fail.
        let _ = match self.open.values().min_by_key(|open| open.since) {
            Some(Open { by, about, since, .. }) if now.saturating_sub(*since) >= NOTABLE => {
                write!(line, " · {by} waits {} s for {about}", now.saturating_sub(*since).as_secs())
            }
            Some(Open { by, about, .. }) => write!(line, " · {by} · {about}"),
            None if self.newest.is_empty() => Ok(()),
            None => write!(line, " · {}", self.newest),
        };
        line
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::evidence::Sent;

    const PATIENCE: Duration = Duration::from_secs(10);

    fn line(recorder: &Recorder, waits: &mut Waits, later: Duration) -> String {
        recorder.since(waits.seen).iter().for_each(|frame| waits.see(frame));
        let suites = Counts::of("suites");
        suites.plan(9);
        suites.one_done();
        let line = waits.line(later, &suites, PATIENCE);
        line.split_once(" · ").map(|(_, rest)| rest.to_owned()).unwrap_or_default()
    }

    #[test]
    fn names_what_was_asked_longest_ago() {
        let (recorder, mut waits) = (Recorder::new(1 << 20, 1 << 20, 1000), Waits::default());
        let ask = |link: u32, by: &str, id: u64, uri: &str| {
            let sent = Sent { link, by: by.to_owned(), post: None };
            recorder.sent(&sent, &json!({ "id": id, "method": "resources/read", "params": { "uri": uri } }), 1);
        };
        let (soon, late) = (Duration::from_millis(900), Duration::from_millis(3200));
        assert_eq!(line(&recorder, &mut waits, soon), "1 of 9 suites");
        ask(1, "read", 1, "file:///a");
        ask(1, "read", 2, "file:///b");
        ask(2, "list", 2, "file:///c");
        assert_eq!(line(&recorder, &mut waits, soon), "1 of 9 suites · read · resources/read file:///b");
        assert_eq!(line(&recorder, &mut waits, late), "1 of 9 suites · read waits 3 s for resources/read file:///b");
        recorder.received(1, None, &json!({ "id": 2, "result": {} }), 1, Vec::new(), None);
        assert_eq!(line(&recorder, &mut waits, late), "1 of 9 suites · list waits 3 s for resources/read file:///c");
        assert_eq!(line(&recorder, &mut waits, PATIENCE * 2), "1 of 9 suites · list", "nobody waits that long");
    }
}
