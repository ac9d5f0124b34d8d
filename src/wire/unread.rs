//! Whether a process has read what was written to it, so that a start is not taken for silence.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::process::ChildStdin;

/// How often to look.
pub const LOOK: Duration = Duration::from_millis(20);

#[derive(Clone)]
pub enum Unread {
    /// The writing end of a pipe once more. The reader sees its end only when this is gone too.
    #[cfg(unix)]
    Pipe(Arc<std::os::fd::OwnedFd>),
    /// Bytes that wait in memory.
    Inside(Arc<AtomicUsize>),
    /// The system cannot tell.
    Unknown,
}

impl Unread {
    #[cfg(unix)]
    pub fn of(stdin: &ChildStdin) -> Self {
        use std::os::fd::AsFd;
        stdin.as_fd().try_clone_to_owned().map_or(Self::Unknown, |end| Self::Pipe(Arc::new(end)))
    }

    #[cfg(not(unix))]
    pub fn of(_: &ChildStdin) -> Self {
        Self::Unknown
    }

    /// Whether something waits there. Systems that cannot tell say no.
    pub fn any(&self) -> bool {
        match self {
            #[cfg(unix)]
            Self::Pipe(end) => rustix::io::ioctl_fionread(end).is_ok_and(|bytes| bytes > 0),
            Self::Inside(bytes) => bytes.load(Ordering::Relaxed) > 0,
            Self::Unknown => false,
        }
    }
}
