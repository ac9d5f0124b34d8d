//! Memory and open files of the server's processes, from `/proc`.

use std::{collections::HashMap, fs};

use serde_json::{Value, json};

use super::caller::Caller;

/// Measurements in one run.
const LOOKS: usize = 20;
/// Fewer calls prove nothing: programs fill their caches first.
const FEWEST: usize = 500;
/// A smaller growth of memory or files may have any cause.
const BYTES: u64 = 32 << 20;
const FILES: u64 = 50;
/// Bytes of a memory page on the usual machines.
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

/// The total of all processes below this one.
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
