//! The processes below this one, read from `/proc`. A system without it has no result.

use std::{collections::HashMap, fs, process};

/// The children of each process.
fn by_parent() -> HashMap<u32, Vec<u32>> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(process) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        // The name of a program is in parentheses and can contain anything; after it come the state and the parent.
        let parent = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1)?.parse().ok());
        if let Some(parent) = parent {
            children.entry(parent).or_default().push(process);
        }
    }
    children
}

/// The processes that this one started, and those whose parent has exited, if this one adopts them.
pub fn children() -> Vec<u32> {
    by_parent().remove(&process::id()).unwrap_or_default()
}

/// The children, their children, and so on.
pub fn descendants() -> Vec<u32> {
    let mut by_parent = by_parent();
    let mut found = by_parent.remove(&process::id()).unwrap_or_default();
    let mut at = 0;
    while let Some(process) = found.get(at) {
        found.extend(by_parent.remove(process).unwrap_or_default());
        at += 1;
    }
    found
}

/// The resident memory of a process.
pub fn resident_bytes(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let kilobytes =
        status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.split_whitespace().next()?.parse().ok());
    kilobytes.unwrap_or(0_u64) * 1024
}
