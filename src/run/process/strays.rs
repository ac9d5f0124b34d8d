//! Processes that a server started, that left its process group and that would outlive the run.
//!
//! On Linux they become children of this program when their parents end, so that none gets away; elsewhere they are
//! nobody's to find.

#[cfg(target_os = "linux")]
use rustix::process::Pid;

use super::{interrupts::Interrupts, runtime::block_on};
use crate::error::Error;

/// Does the work, unless Ctrl-C comes for the second time, and ends all that is left of the `party` that was tested. The
/// note tells what that was.
pub fn supervised<T>(
    party: &str,
    interrupts: &Interrupts,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<(T, Option<String>), Error> {
    let earlier = adopt();
    let done = block_on(async {
        tokio::select! {
            done = work => done,
            // What is dropped here ends its processes.
            () = interrupts.second() => Err(Error::Interrupted),
        }
    });
    let left = end(&earlier);
    let note = || format!("killed processes that the {party} left running outside of its process group: {left}");
    done.map(|done| (done, (left > 0).then(note)))
}

/// Children that were there before: this program may have taken the place of one that started them.
pub struct Earlier(#[cfg(target_os = "linux")] Vec<Pid>);

/// From now on what loses its parent below this program becomes its child.
pub fn adopt() -> Earlier {
    #[cfg(target_os = "linux")]
    {
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
        Earlier(if has_children() { children() } else { Vec::new() })
    }
    #[cfg(not(target_os = "linux"))]
    Earlier()
}

/// Ends every other child of this program, and says how many there were. Nothing that it started may be needed any more.
#[cfg(target_os = "linux")]
pub fn end(Earlier(spared): &Earlier) -> usize {
    use rustix::process::{Signal, WaitOptions, kill_process, waitpid};
    use std::{collections::HashSet, thread::sleep, time::Duration};

    /// So often the children are looked at, and so long apart. First those go that were killed just now, then the
    /// others are asked, then forced.
    const LOOKS: usize = 100;
    const GOING: usize = 20;
    const APART: Duration = Duration::from_millis(5);
    let mut found = HashSet::new();
    for look in 0..LOOKS {
        let mut left = if has_children() { children() } else { Vec::new() };
        left.retain(|child| !spared.contains(child) && matches!(waitpid(Some(*child), WaitOptions::NOHANG), Ok(None)));
        if left.is_empty() {
            break;
        }
        // A child keeps its number until it is waited for, so it cannot be somebody else's by now.
        for child in left.into_iter().filter(|_| look >= GOING) {
            let first = found.insert(child);
            match look < LOOKS / 2 {
                true if first => _ = kill_process(child, Signal::TERM),
                true => {}
                false => _ = kill_process(child, Signal::KILL),
            }
        }
        sleep(APART);
    }
    found.len()
}

/// Looking through all processes takes a while, and most often there are none.
#[cfg(target_os = "linux")]
fn has_children() -> bool {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT).is_ok()
}

#[cfg(target_os = "linux")]
fn children() -> Vec<Pid> {
    let own = std::process::id().to_string();
    let is_child = |name: &str| {
        let stat = std::fs::read_to_string(format!("/proc/{name}/stat")).unwrap_or_default();
        // The name of a program may hold anything; after it come the state and the parent.
        stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1)) == Some(own.as_str())
    };
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let numbers = names.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()) && is_child(name));
    numbers.filter_map(|name| Pid::from_raw(name.parse().ok()?)).collect()
}

#[cfg(not(target_os = "linux"))]
pub fn end(_: &Earlier) -> usize {
    0
}
