//! Whether a process has read what was written to it, so that a start is not taken for silence.

use std::{io, time::Duration};

use tokio::process::ChildStdin;

/// How often to look.
pub const LOOK: Duration = Duration::from_millis(20);

/// The writing end of a pipe once more. The reader sees its end only when this is gone too.
pub struct Unread(#[cfg(unix)] std::os::fd::OwnedFd);

impl Unread {
    #[cfg(unix)]
    pub fn of(stdin: &ChildStdin) -> io::Result<Self> {
        use std::os::fd::AsFd;
        Ok(Self(stdin.as_fd().try_clone_to_owned()?))
    }

    /// Whether something waits in the pipe. Systems that cannot tell say no.
    #[cfg(unix)]
    pub fn any(&self) -> bool {
        rustix::io::ioctl_fionread(&self.0).is_ok_and(|bytes| bytes > 0)
    }

    #[cfg(not(unix))]
    #[expect(clippy::unnecessary_wraps, reason = "as on other systems")]
    pub fn of(_: &ChildStdin) -> io::Result<Self> {
        Ok(Self())
    }

    #[cfg(not(unix))]
    pub fn any(&self) -> bool {
        false
    }
}
