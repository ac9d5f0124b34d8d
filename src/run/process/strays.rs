//! Processes that a server started, that left its process group, and that would outlive the run.
//!
//! On Linux they become children of this program when their parents exit, so none escapes. Other systems offer no way
//! to find them.

#[cfg(target_os = "linux")]
use rustix::process::Pid;

use super::{interrupts::Interrupts, runtime::block_on};
use crate::error::Error;

/// Does the work, unless Ctrl-C is pressed twice. Then kills all remaining processes of the `party` under test; a note
/// has their number.
pub fn supervised<T>(
    party: &str,
    interrupts: &Interrupts,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<(T, Option<String>), Error> {
    let earlier = adopt();
    let done = block_on(async {
        tokio::select! {
            done = work => done,
            // Dropping the work kills its processes.
            () = interrupts.second() => Err(Error::Interrupted),
        }
    });
    let left = end(&earlier);
    let note = || format!("killed processes that the {party} left running outside of its process group: {left}");
    done.map(|done| (done, (left > 0).then(note)))
}

/// Children that existed before: a shell may have started them and then replaced itself with this program.
pub struct Earlier(#[cfg(target_os = "linux")] Vec<Pid>);

/// From now on, orphaned descendants of this program become its children.
pub fn adopt() -> Earlier {
    #[cfg(target_os = "linux")]
    {
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
        Earlier(if has_children() { children() } else { Vec::new() })
    }
    #[cfg(not(target_os = "linux"))]
    Earlier()
}

/// Kills every other child of this program, and returns how many there were. Call this only when none is needed any
/// more.
#[cfg(target_os = "linux")]
pub fn end(Earlier(spared): &Earlier) -> usize {
    use rustix::process::{Signal, WaitOptions, kill_process, waitpid};
    use std::{collections::HashSet, thread::sleep, time::Duration};

    /// How often the children are checked, and at which interval. The first checks wait for those that were just
    /// killed. Then the others get SIGTERM, and after half of the checks SIGKILL.
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
        // The id of a child is not reused before it is waited for, so this signals the right process.
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

/// Listing all processes is slow, and usually there are no children.
#[cfg(target_os = "linux")]
fn has_children() -> bool {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT).is_ok()
}

#[cfg(target_os = "linux")]
fn children() -> Vec<Pid> {
    let numbers = crate::wire::process::descendants::children().into_iter();
    numbers.filter_map(|number| Pid::from_raw(number.try_into().ok()?)).collect()
}

#[cfg(not(target_os = "linux"))]
pub fn end(_: &Earlier) -> usize {
    0
}
