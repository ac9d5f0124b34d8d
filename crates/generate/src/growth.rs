//! Memory and open files of the server's processes, from `/proc`.

use std::fs;

use super::{caller::Caller, calls::Source, item::Growth, observe::Observer, subject::What};
use conform_wire::process::descendants::{descendants, resident_bytes};

/// Measurements in one run.
const LOOKS: usize = 20;
/// Fewer calls prove nothing: programs fill their caches first.
const FEWEST: usize = 500;
/// A smaller growth of memory or files may have any cause.
const BYTES: u64 = 32 << 20;
const FILES: u64 = 50;
/// The number of calls of one tool in a row, made twice, and how many of them must leave a file open.
const IN_A_ROW: usize = 60;
const LEFT_OPEN: u64 = IN_A_ROW as u64 * 3 / 4;
/// The maximum number of tools, and the maximum duration of their calls in milliseconds.
const TRIED: usize = 8;
const QUICK: u64 = 50;

/// The values so far.
#[derive(Default)]
pub struct Curves {
    every: usize,
    calls: Vec<usize>,
    memory: Vec<u64>,
    files: Vec<u64>,
    starts: usize,
}

impl Curves {
    pub fn new(calls: usize) -> Self {
        Self { every: (calls / LOOKS).max(1), ..Self::default() }
    }

    /// Measures if it is time to.
    pub fn look(&mut self, made: usize, caller: &Caller) {
        if !made.is_multiple_of(self.every) || !caller.is_process() {
            return;
        }
        if caller.starts != self.starts {
            // Another process starts with new values.
            *self = Self { every: self.every, starts: caller.starts, ..Self::default() };
        }
        if let Some((memory, files)) = measured() {
            self.calls.push(made);
            self.memory.push(memory);
            self.files.push(files);
        }
        if self.calls.len() > LOOKS * 2 {
            // Calls are counted per subject, so their total is not known at first.
            self.every *= 2;
            let keep = |values: &mut Vec<u64>| *values = values.iter().step_by(2).copied().collect();
            keep(&mut self.memory);
            keep(&mut self.files);
            self.calls = self.calls.iter().step_by(2).copied().collect();
        }
    }

    pub fn items(&self) -> Vec<Growth> {
        let item = |of: &'static str, curve: &[u64], least: u64| {
            // The beginning is the start of the program and what it loads during its first calls.
            let skipped = curve.len() / 4;
            let (curve, calls) = (&curve[skipped..], &self.calls[skipped..]);
            let (&first, &last) = (curve.first()?, curve.last()?);
            let made = calls.last()? - calls.first()?;
            if made < FEWEST || curve.len() < 8 {
                return None;
            }
            let half = curve[curve.len() / 2];
            // Proportional to the calls: the second half grows as much as the first, and never shrinks.
            let grows =
                curve.is_sorted() && last >= first + least && (last - half) * 4 >= (half.saturating_sub(first)) * 3;
            let name = format!("{of} of the process");
            Some(Growth { of, name, first, last, calls: made, curve: curve.to_vec(), grows })
        };
        [item("memory", &self.memory, BYTES), item("files", &self.files, FILES)].into_iter().flatten().collect()
    }
}

/// Finds tools that leave a file open with each call. One call is repeated, because a schema may allow too few
/// different ones.
pub async fn files(observer: &mut Observer<'_>, sources: &[Source], over: impl Fn() -> bool) -> Vec<Growth> {
    let mut found = Vec::new();
    for source in sources.iter().filter(|source| source.subject.what == What::Tool).take(TRIED) {
        if over() || !observer.caller.is_process() {
            break;
        }
        let name = &source.subject.name;
        let Some(call) = source.plainest().filter(|_| observer.usual.ms(name).is_some_and(|ms| ms <= QUICK)) else {
            continue;
        };
        let mut open = Vec::new();
        let starts = observer.caller.starts;
        for nr in 0..=IN_A_ROW * 2 {
            if nr % IN_A_ROW == 0 {
                open.extend(measured().map(|(_, files)| files));
            }
            if over() || observer.reply(&source.subject, &call).await.is_none() {
                break;
            }
        }
        let grows = |pair: &[u64]| pair[1].saturating_sub(pair[0]) >= LEFT_OPEN;
        if open.len() == 3 && observer.caller.starts == starts && open.windows(2).all(grows) {
            let name = format!("files of the process, after calls of {name}");
            let (first, last, calls) = (open[0], open[2], IN_A_ROW * 2);
            found.push(Growth { of: "files", name, first, last, calls, curve: open, grows: true });
        }
    }
    found
}

/// The memory and the number of open files of all processes below this one.
fn measured() -> Option<(u64, u64)> {
    let processes = descendants();
    let files = |process: &u32| fs::read_dir(format!("/proc/{process}/fd")).map_or(0, |entries| entries.count() as u64);
    let memory = processes.iter().map(|process| resident_bytes(*process)).sum();
    (!processes.is_empty()).then(|| (memory, processes.iter().map(files).sum()))
}
