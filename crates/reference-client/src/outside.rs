//! The functions of the system that the client uses: variables, processes, connections and stderr. A proof replaces
//! them by others in memory.

use std::{
    env,
    ffi::OsString,
    io,
    pin::Pin,
    process::{Stdio, exit},
};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    process,
};

type Later<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

pub trait Stream: AsyncRead + AsyncWrite + Unpin {}

impl<T: AsyncRead + AsyncWrite + Unpin> Stream for T {}

pub trait Outside {
    /// A variable of the environment.
    fn variable(&self, name: &str) -> Option<OsString>;

    fn connect<'a>(&'a self, host: &'a str, port: u16) -> Later<'a, io::Result<Box<dyn Stream>>>;

    /// A free port of this machine.
    fn listen(&self) -> Later<'_, io::Result<Box<dyn Listening>>>;

    /// Shows the URL to the user.
    fn open(&self, url: &str);

    /// Starts a server.
    fn start(&self, program: &str) -> io::Result<Process>;

    /// Writes to stderr.
    fn say(&self, text: &str);

    /// Exits at once, like a program with an uncaught exception. In memory it ends soon after.
    fn crash(&self);
}

pub trait Listening {
    fn port(&self) -> u16;
    fn accept(&mut self) -> Later<'_, io::Result<Box<dyn Stream>>>;
}

/// A started server, which is killed when this is dropped.
pub struct Process {
    pub stdin: Box<dyn AsyncWrite + Unpin>,
    pub stdout: Box<dyn AsyncRead + Unpin>,
    pub stderr: Box<dyn AsyncRead + Unpin>,
    pub child: Box<dyn Child>,
}

pub trait Child {
    /// Waits until it has exited.
    fn wait(&mut self) -> Later<'_, ()>;
    fn terminate(&mut self);
    fn kill(&mut self);
    /// Do not kill it when this is dropped.
    fn release(&mut self);
}

/// The system that this program runs on.
pub struct System;

/// The exit code of a panic.
const CRASHED: i32 = 101;

impl Outside for System {
    fn variable(&self, name: &str) -> Option<OsString> {
        env::var_os(name)
    }

    fn connect<'a>(&'a self, host: &'a str, port: u16) -> Later<'a, io::Result<Box<dyn Stream>>> {
        Box::pin(async move {
            let stream = TcpStream::connect((host, port)).await?;
            stream.set_nodelay(true).ok();
            Ok(Box::new(stream) as Box<dyn Stream>)
        })
    }

    fn listen(&self) -> Later<'_, io::Result<Box<dyn Listening>>> {
        Box::pin(async {
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            let port = listener.local_addr()?.port();
            Ok(Box::new(Port { listener, port }) as Box<dyn Listening>)
        })
    }

    fn open(&self, url: &str) {
        let browser = env::var_os("BROWSER").filter(|browser| !browser.is_empty());
        let mut command = process::Command::new(browser.unwrap_or_else(|| "xdg-open".into()));
        command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if command.spawn().is_err() {
            self.say(&format!("Open this page: {url}"));
        }
    }

    fn start(&self, program: &str) -> io::Result<Process> {
        let mut command = process::Command::new(program);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn()?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else { return Err(io::ErrorKind::BrokenPipe.into()) };
        let child = Started { child: Some(child), released: false };
        Ok(Process {
            stdin: Box::new(stdin),
            stdout: Box::new(stdout),
            stderr: Box::new(stderr),
            child: Box::new(child),
        })
    }

    fn say(&self, text: &str) {
        eprintln!("{text}");
    }

    fn crash(&self) {
        exit(CRASHED);
    }
}

struct Port {
    listener: TcpListener,
    port: u16,
}

impl Listening for Port {
    fn port(&self) -> u16 {
        self.port
    }

    fn accept(&mut self) -> Later<'_, io::Result<Box<dyn Stream>>> {
        Box::pin(async { Ok(Box::new(self.listener.accept().await?.0) as Box<dyn Stream>) })
    }
}

struct Started {
    child: Option<process::Child>,
    released: bool,
}

impl Child for Started {
    fn wait(&mut self) -> Later<'_, ()> {
        Box::pin(async {
            if let Some(child) = &mut self.child {
                child.wait().await.ok();
            }
        })
    }

    #[cfg(unix)]
    fn terminate(&mut self) {
        let id = self.child.as_ref().and_then(process::Child::id).and_then(|id| i32::try_from(id).ok());
        if let Some(id) = id.and_then(rustix::process::Pid::from_raw) {
            rustix::process::kill_process(id, rustix::process::Signal::TERM).ok();
        }
    }

    #[cfg(not(unix))]
    fn terminate(&mut self) {}

    fn kill(&mut self) {
        if let Some(child) = &mut self.child {
            child.start_kill().ok();
        }
    }

    fn release(&mut self) {
        self.released = true;
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if self.released {
            std::mem::forget(self.child.take());
        }
    }
}
