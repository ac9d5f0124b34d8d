//! The signals that make a program exit: Ctrl-C, and those of a closing terminal or a system that shuts down.

use std::future::pending;

/// Waits for one of them; the value is its exit code.
pub async fn asked() -> u8 {
    match Signals::new() {
        Ok(mut signals) => signals.next().await,
        // Without a handler, the signal kills the program by default.
        Err(_) => pending().await,
    }
}

#[cfg(unix)]
pub struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hangup: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    pub fn new() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Its exit code: 128 plus its number.
    pub async fn next(&mut self) -> u8 {
        tokio::select! {
            _ = self.interrupt.recv() => 130,
            _ = self.terminate.recv() => 143,
            _ = self.hangup.recv() => 129,
        }
    }
}

#[cfg(windows)]
pub struct Signals(tokio::signal::windows::CtrlC);

#[cfg(windows)]
impl Signals {
    pub fn new() -> std::io::Result<Self> {
        tokio::signal::windows::ctrl_c().map(Self)
    }

    pub async fn next(&mut self) -> u8 {
        self.0.recv().await;
        130
    }
}
