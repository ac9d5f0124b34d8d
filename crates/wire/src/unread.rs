//! Whether a process has read its input, so that a slow start is not taken for a missing response.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::process::ChildStdin;

/// How often to check. A guess.
pub const LOOK: Duration = Duration::from_millis(20);

#[derive(Clone)]
pub enum Unread {
    /// A duplicate of the writing end of a pipe. The reader sees the end only when this is closed too.
    #[cfg(unix)]
    Pipe(Arc<std::os::fd::OwnedFd>),
    /// Bytes that wait in memory.
    Inside(Arc<AtomicUsize>),
    /// The system does not report it.
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

    /// Whether unread bytes are left; `false` if the system does not report it.
    pub fn any(&self) -> bool {
        match self {
            #[cfg(unix)]
            Self::Pipe(end) => rustix::io::ioctl_fionread(end).is_ok_and(|bytes| bytes > 0),
            Self::Inside(bytes) => bytes.load(Ordering::Relaxed) > 0,
            Self::Unknown => false,
        }
    }
}
