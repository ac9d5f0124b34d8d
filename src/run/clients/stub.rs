//! The process that a client starts as its server: it connects its stdin, stdout, stderr and exit code to the program
//! that tests the client.

use std::{env, future::pending, io, path::Path, process, time::Duration};

use serde_json::json;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, split, stderr, stdin, stdout},
    sync::mpsc,
    time::timeout,
};

use super::{
    local,
    packets::{Kind, receive, send},
};
use crate::{
    error::Error,
    run::process::{runtime::runtime, signals::Signals},
};

/// Maximum delay between the end of stdin and a signal that the client sends together with it. A guess.
const SAME_MOMENT: Duration = Duration::from_millis(20);
/// Capacity of a pipe on Linux.
const ONE_READ: usize = 64 << 10;
/// Exit codes that a shell reports for a process that a signal ended.
const SIGNALLED: [(u8, &str); 3] = [(130, "SIGINT"), (143, "SIGTERM"), (129, "SIGHUP")];

/// Runs until the program, the client or a signal ends it.
pub fn stub(socket: &Path, arguments: &[String]) -> Result<u8, Error> {
    let runtime = runtime();
    let code = runtime.block_on(process_joined(socket, arguments)).unwrap_or(1);
    // A thread may still be blocked on stdin, and the runtime would wait for it.
    process::exit(code.into())
}

async fn process_joined(socket: &Path, arguments: &[String]) -> io::Result<u8> {
    let mut system = Signals::new()?;
    let (tell, signals) = mpsc::unbounded_channel();
    tokio::spawn(async move { while tell.send(system.next().await).is_ok() {} });
    let socket = local::connect(socket).await?;
    let hello = json!({ "arguments": arguments, "cwd": env::current_dir()?.display().to_string() });
    joined(socket, &hello.to_string(), signals, (stdin(), stdout(), stderr())).await
}

/// Runs until the program or a signal ends it; the value is the exit code. A signal is given as its exit code.
pub async fn joined(
    socket: impl AsyncRead + AsyncWrite,
    hello: &str,
    mut signals: mpsc::UnboundedReceiver<u8>,
    (mut input, mut output, mut errors): (impl AsyncRead + Unpin, impl AsyncWrite + Unpin, impl AsyncWrite + Unpin),
) -> io::Result<u8> {
    let (mut from, mut to) = split(socket);
    send(&mut to, Kind::Hello, hello.as_bytes()).await?;
    let forward = async move {
        let mut piece = vec![0; ONE_READ];
        loop {
            tokio::select! {
                Some(code) = signals.recv() => {
                    let name = SIGNALLED.iter().find(|(known, _)| *known == code).map_or("signal", |(_, name)| *name);
                    // stdin may have been closed at the same moment.
                    if let Ok(Ok(0)) = timeout(SAME_MOMENT, input.read(&mut piece)).await {
                        send(&mut to, Kind::End, b"").await?;
                    }
                    send(&mut to, Kind::Signal, name.as_bytes()).await?;
                    return Ok(code);
                }
                read = input.read(&mut piece) => match read? {
                    0 => break,
                    length => send(&mut to, Kind::Stdin, &piece[..length]).await?,
                },
            }
        }
        send(&mut to, Kind::End, b"").await?;
        let Some(code) = signals.recv().await else { return pending().await };
        let name = SIGNALLED.iter().find(|(known, _)| *known == code).map_or("signal", |(_, name)| *name);
        send(&mut to, Kind::Signal, name.as_bytes()).await?;
        Ok::<u8, io::Error>(code)
    };
    let backward = async move {
        while let Some((kind, bytes)) = receive(&mut from).await? {
            match kind {
                // Continue if the client no longer reads stdout: the end of stdin shows when it leaves.
                Kind::Stdout => _ = (output.write_all(&bytes).await, output.flush().await),
                Kind::Stderr => _ = (errors.write_all(&bytes).await, errors.flush().await),
                Kind::Exit => return Ok(bytes.first().copied().unwrap_or_default()),
                _ => {}
            }
        }
        Ok::<u8, io::Error>(1)
    };
    tokio::select! {
        code = forward => code,
        code = backward => code,
    }
}
