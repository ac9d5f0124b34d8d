//! A server process: one message per line on its stdin and stdout.

use std::{cell::RefCell, rc::Rc, time::Duration};

use serde_json::Value;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    sync::Mutex,
    task::{AbortHandle, spawn_local},
    time::timeout,
};

use crate::{
    behaviour::decisions::Shutdown,
    outside::{Child, Process},
    report::Failure,
    state::Client,
    transport::lines::{Lines, Stderr},
};

/// How long a write may wait for a server that does not read. A guess.
const WRITE: Duration = Duration::from_secs(10);

pub struct Stdio {
    stdin: Mutex<Option<Box<dyn AsyncWrite + Unpin>>>,
    child: Mutex<Box<dyn Child>>,
    tasks: RefCell<Vec<AbortHandle>>,
}

impl Stdio {
    pub fn start(client: &Rc<Client>, program: &str) -> Result<Rc<Self>, Failure> {
        let started = client.outside.start(program).map_err(|error| Failure::closed(format!("{program}: {error}")))?;
        let Process { stdin, stdout, stderr, child } = started;
        let started = client.state.borrow().starts;
        let tasks = vec![
            spawn_local(read(Rc::clone(client), stdout, started)).abort_handle(),
            spawn_local(drain(Rc::clone(client), stderr)).abort_handle(),
        ];
        Ok(Rc::new(Self { stdin: Mutex::new(Some(stdin)), child: Mutex::new(child), tasks: RefCell::new(tasks) }))
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

    /// Closes stdin, waits, and kills the process if it does not exit.
    pub async fn close(&self, client: &Client, plan: &Shutdown) {
        let stdin = self.stdin.lock().await.take();
        let mut child = self.child.lock().await;
        if !plan.kill {
            child.release();
        }
        if plan.close_stdin {
            drop(stdin);
        } else {
            client.left.borrow_mut().extend(stdin);
        }
        if timeout(plan.wait, child.wait()).await.is_err() {
            if plan.term {
                child.terminate();
            }
            let ended = timeout(plan.wait_after_term, child.wait()).await.is_ok();
            if plan.kill && !ended {
                child.kill();
                timeout(WRITE, child.wait()).await.ok();
            }
        }
        for task in self.tasks.borrow_mut().drain(..) {
            task.abort();
        }
    }
}

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
    // The exit of a replaced process does not concern the current one.
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
