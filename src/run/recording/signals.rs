//! Passes on signals to the server, and its exit to the client.

use std::{io, process::ExitStatus};

#[cfg(unix)]
pub use unix::{Passed, forward};
#[cfg(windows)]
pub use windows::{Passed, forward};

/// Ends this program as the server ended.
pub fn end_as(status: ExitStatus) -> ! {
    #[cfg(unix)]
    unix::die_as(status);
    // Exit codes have 32 bits on Windows, and 8 bits here.
    let code = status.code().map_or(1, |code| u8::try_from(code).unwrap_or(1));
    std::process::exit(code.into())
}

/// Handles SIGXFSZ, which would kill this program at a limit on file sizes. Writing then fails instead.
pub fn survive_limit_of_files() -> io::Result<()> {
    #[cfg(unix)]
    {
        use rustix::process::Signal;
        use tokio::signal::unix::{SignalKind, signal};

        // The handler stays when its receiver is dropped.
        signal(SignalKind::from_raw(Signal::XFSZ.as_raw())).map(drop)?;
    }
    Ok(())
}

#[cfg(unix)]
mod unix {
    use std::{
        io,
        os::unix::process::{CommandExt, ExitStatusExt},
        process::{Command, ExitStatus},
    };

    use rustix::process::{Pid, Signal, kill_process};
    use tokio::{
        process::Child,
        signal::unix::{SignalKind, signal},
        sync::mpsc::{UnboundedReceiver, unbounded_channel},
    };

    /// The signals that a client sends to a server.
    pub struct Passed(UnboundedReceiver<i32>);

    impl Passed {
        pub fn listen() -> io::Result<Self> {
            let (tell, told) = unbounded_channel();
            let kinds = [
                SignalKind::hangup(),
                SignalKind::interrupt(),
                SignalKind::quit(),
                SignalKind::user_defined1(),
                SignalKind::user_defined2(),
                SignalKind::terminate(),
            ];
            for kind in kinds {
                let (mut signals, tell) = (signal(kind)?, tell.clone());
                tokio::spawn(async move {
                    while signals.recv().await.is_some() && tell.send(kind.as_raw_value()).is_ok() {}
                });
            }
            super::survive_limit_of_files()?;
            Ok(Self(told))
        }

        pub async fn next(&mut self) -> i32 {
            match self.0.recv().await {
                Some(signal) => signal,
                None => std::future::pending().await,
            }
        }
    }

    pub fn forward(child: &Child, signal: i32) {
        let process = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        if let Some((process, signal)) = process.zip(Signal::from_named_raw(signal)) {
            let _ = kill_process(process, signal);
        }
    }

    /// Returns if no signal ended the server, or this one cannot end by it. A shell in the place of this program has
    /// none of its handlers.
    pub fn die_as(status: ExitStatus) {
        let Some(signal) = status.signal() else { return };
        let _ = Command::new("sh").args(["-c", &format!("ulimit -c 0; kill -{signal} $$")]).exec();
        std::process::exit(128 + signal);
    }
}

#[cfg(windows)]
mod windows {
    use std::io;

    use tokio::{process::Child, signal::windows};

    pub struct Passed(windows::CtrlC);

    impl Passed {
        pub fn listen() -> io::Result<Self> {
            windows::ctrl_c().map(Self)
        }

        pub async fn next(&mut self) -> i32 {
            self.0.recv().await;
            2
        }
    }

    /// The console sends these to the server, too.
    pub fn forward(_: &Child, _: i32) {}
}
