//! Memory and open files of the server's processes, from `/proc`.

use std::{collections::HashMap, fs};

use serde_json::{Value, json};

use super::{caller::Caller, calls::Source, observe::Observer, subject::What};

/// Measurements in one run.
const LOOKS: usize = 20;
/// Fewer calls prove nothing: programs fill their caches first.
const FEWEST: usize = 500;
/// A smaller growth of memory or files may have any cause.
const BYTES: u64 = 32 << 20;
const FILES: u64 = 50;
/// Calls of one tool in a row, twice, and how many of those have to leave a file open.
const IN_A_ROW: u64 = 60;
const LEFT_OPEN: u64 = IN_A_ROW * 3 / 4;
/// Tools that are tried, and the time in milliseconds that one of their calls may take.
const TRIED: usize = 8;
const QUICK: u64 = 50;
/// Pages of memory in bytes, as on every machine that is usual for servers.
const PAGE: u64 = 4096;

#[derive(Default)]
pub struct Growth {
    every: usize,
    calls: Vec<usize>,
    memory: Vec<u64>,
    files: Vec<u64>,
    starts: usize,
}

impl Growth {
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
    }

    pub fn items(&self) -> Vec<Value> {
        let item = |of: &str, curve: &[u64], least: u64| {
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
            Some(
                json!({ "of": of, "name": format!("{of} of the process"), "first": first, "last": last, "calls": made, "curve": curve, "grows": grows }),
            )
        };
        [item("memory", &self.memory, BYTES), item("files", &self.files, FILES)].into_iter().flatten().collect()
    }
}

/// Tools that leave a file open with each call. A schema may allow fewer different calls than would show it.
pub async fn files(observer: &mut Observer<'_>, sources: &[Source], over: impl Fn() -> bool) -> Vec<Value> {
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
            if over() || observer.caller.call(observer.scene, &source.subject, &call).await.is_none() {
                break;
            }
            observer.made += 1;
        }
        let grows = |pair: &[u64]| pair[1].saturating_sub(pair[0]) >= LEFT_OPEN;
        if open.len() == 3 && observer.caller.starts == starts && open.windows(2).all(grows) {
            found.push(json!({
                "of": "files", "name": format!("files of the process, after calls of {name}"), "first": open[0],
                "last": open[2], "calls": IN_A_ROW * 2, "curve": open, "grows": true,
            }));
        }
    }
    found
}

/// What all processes below this one take together.
fn measured() -> Option<(u64, u64)> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for entry in fs::read_dir("/proc").ok()?.flatten() {
        let Some(process) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        // The name is in parentheses and may contain any character.
        let parent = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(1)?.parse().ok());
        children.entry(parent.unwrap_or_default()).or_default().push(process);
    }
    let mut waiting = children.get(&std::process::id())?.clone();
    let (mut memory, mut files) = (0, 0);
    while let Some(process) = waiting.pop() {
        let resident = fs::read_to_string(format!("/proc/{process}/statm")).ok();
        let pages = resident.and_then(|text| text.split_whitespace().nth(1)?.parse::<u64>().ok());
        memory += pages.unwrap_or_default() * PAGE;
        files += fs::read_dir(format!("/proc/{process}/fd")).map_or(0, |entries| entries.count() as u64);
        waiting.extend(children.get(&process).into_iter().flatten());
    }
    Some((memory, files))
}
