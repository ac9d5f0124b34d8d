//! A server process: one message a line on its stdin and stdout.

use std::{cell::RefCell, process::Stdio as Pipes, rc::Rc, time::Duration};

use serde_json::Value;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    process::{Child, ChildStdin, Command},
    sync::Mutex,
    task::{AbortHandle, spawn_local},
    time::timeout,
};

use crate::act::{
    client::Client,
    faults::decisions::Shutdown,
    report::Failure,
    transport::lines::{Lines, Stderr},
};

/// How long a write may wait for a server that does not read. A guess.
const WRITE: Duration = Duration::from_secs(10);

pub struct Stdio {
    stdin: Mutex<Option<ChildStdin>>,
    child: Mutex<Child>,
    tasks: RefCell<Vec<AbortHandle>>,
}

impl Stdio {
    pub fn start(client: &Rc<Client>, program: &str) -> Result<Rc<Self>, Failure> {
        let mut command = Command::new(program);
        command.stdin(Pipes::piped()).stdout(Pipes::piped()).stderr(Pipes::piped()).kill_on_drop(true);
        let mut child = command.spawn().map_err(|error| Failure::closed(format!("{program}: {error}")))?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let mut tasks = Vec::new();
        let started = client.state.borrow().starts;
        if let Some(stdout) = stdout {
            tasks.push(spawn_local(read(Rc::clone(client), stdout, started)).abort_handle());
        }
        let stdio = Self { stdin: Mutex::new(stdin), child: Mutex::new(child), tasks: RefCell::default() };
        if let Some(stderr) = stderr {
            tasks.push(spawn_local(drain(Rc::clone(client), stderr)).abort_handle());
        }
        stdio.tasks.replace(tasks);
        Ok(Rc::new(stdio))
    }

    pub async fn send(&self, client: &Rc<Client>, message: &Value) -> Result<(), Failure> {
        let mut bytes = message.to_string().into_bytes();
        bytes.push(b'\n');
        if let Some(hook) = client.ways.spell {
            hook(&mut client.memory.borrow_mut(), message, &mut bytes);
        }
        let mut stdin = self.stdin.lock().await;
        let Some(pipe) = stdin.as_mut() else { return Err(Failure::closed("stdin of the server is closed")) };
        let write = async {
            pipe.write_all(&bytes).await?;
            pipe.flush().await
        };
        match timeout(WRITE, write).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(Failure::closed(format!("stdin of the server: {error}"))),
            Err(_) => Err(Failure::closed("the server does not read its stdin")),
        }
    }

    /// Closes stdin, waits, and ends the process if it does not exit.
    pub async fn close(self: &Rc<Self>, plan: &Shutdown) {
        if !plan.kill {
            // A process that is let go would be killed with its handle.
            std::mem::forget(Rc::clone(self));
        }
        if plan.close_stdin {
            self.stdin.lock().await.take();
        }
        let mut child = self.child.lock().await;
        if timeout(plan.wait, child.wait()).await.is_err() {
            if plan.term {
                terminate(&child);
            }
            let ended = timeout(plan.wait_after_term, child.wait()).await.is_ok();
            if plan.kill && !ended {
                child.start_kill().ok();
                timeout(WRITE, child.wait()).await.ok();
            }
        }
        for task in self.tasks.borrow_mut().drain(..) {
            task.abort();
        }
    }
}

#[cfg(unix)]
fn terminate(child: &Child) {
    let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
    if let Some(id) = id {
        rustix::process::kill_process(id, rustix::process::Signal::TERM).ok();
    }
}

#[cfg(not(unix))]
fn terminate(_: &Child) {}

async fn read(client: Rc<Client>, mut stdout: impl AsyncRead + Unpin, started: u32) {
    let mut lines = Lines::new(client.ways.lines);
    let mut chunk = vec![0; 65536];
    while let Ok(read @ 1..) = stdout.read(&mut chunk).await {
        for line in lines.push(&chunk[..read]) {
            let blank = line.iter().all(u8::is_ascii_whitespace);
            if !blank {
                client.hear_bytes(&line);
            }
        }
    }
    // A process that was replaced says nothing about the one in use.
    if client.state.borrow().starts == started {
        client.lose("the server closed its stdout");
    }
}

async fn drain(client: Rc<Client>, mut stderr: impl AsyncRead + Unpin) {
    let mut chunk = vec![0; 8192];
    if client.ways.lines.stderr == Stderr::Unread {
        std::future::pending::<()>().await;
    }
    while let Ok(read @ 1..) = stderr.read(&mut chunk).await {
        match client.ways.lines.stderr {
            Stderr::IsFailure => client.disconnect("the server wrote to stderr"),
            Stderr::Strict if std::str::from_utf8(&chunk[..read]).is_err() => {
                client.crash("stderr of the server is not UTF-8");
            }
            _ => {}
        }
    }
}
