//! Local sockets through which the stub reaches the program.

use std::{io, path::Path};

#[cfg(unix)]
pub use tokio::net::{UnixListener as Listener, UnixStream as Stream};

#[cfg(unix)]
pub fn listen(at: &Path) -> io::Result<Listener> {
    Listener::bind(at)
}

#[cfg(unix)]
pub async fn connect(to: &Path) -> io::Result<Stream> {
    Stream::connect(to).await
}

#[cfg(unix)]
pub async fn accept(listener: &Listener) -> io::Result<Stream> {
    Ok(listener.accept().await?.0)
}

/// Makes a file that can be started: it runs the stub of this program with the arguments that it is given.
#[cfg(unix)]
pub fn executable(at: &Path, program: &Path, socket: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let quoted = |path: &Path| shlex::try_quote(&path.to_string_lossy()).map(std::borrow::Cow::into_owned);
    let (program, socket) = (quoted(program).map_err(io::Error::other)?, quoted(socket).map_err(io::Error::other)?);
    std::fs::write(at, format!("#!/bin/sh\nexec {program} stub {socket} -- \"$@\"\n"))?;
    std::fs::set_permissions(at, std::fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
mod absent {
    use std::{io, path::Path};

    pub type Listener = ();
    pub type Stream = tokio::io::DuplexStream;

    fn none<T>() -> io::Result<T> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "clients are tested over stdio on Unix only"))
    }

    pub fn listen(_: &Path) -> io::Result<Listener> {
        none()
    }

    pub async fn connect(_: &Path) -> io::Result<Stream> {
        none()
    }

    pub async fn accept((): &Listener) -> io::Result<Stream> {
        none()
    }

    pub fn executable(_: &Path, _: &Path, _: &Path) -> io::Result<()> {
        none()
    }
}

#[cfg(not(unix))]
pub use absent::*;
