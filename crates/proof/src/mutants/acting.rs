//! The reference client inside this process.

use std::{
    cell::{Cell, RefCell},
    ffi::OsString,
    io,
    pin::Pin,
    rc::Rc,
};

use tokio::{
    io::DuplexStream,
    sync::{Notify, mpsc},
};

use conform_reference_client::behaviour::Behaviour;
use mcp_conform::{
    reference::client::outside::{Child, Listening, Outside, Process, Stream},
    run::clients::{Ended, Handle, Inside, Reach},
};

/// The exit code of a panic, and that of a wrong command line.
const CRASHED: u8 = 101;
const WRONG: u8 = 2;

pub struct Acting {
    pub fault: Option<&'static str>,
    pub variation: Option<&'static str>,
}

async fn acted(
    target: &str,
    behaviour: Result<&'static Behaviour, String>,
    outside: Rc<dyn Outside>,
) -> Result<u8, String> {
    conform_reference_client::run(target, behaviour?, outside).await
}

impl Inside for Acting {
    fn run(&self, env: Vec<(String, String)>, reach: Reach) -> Pin<Box<dyn Future<Output = Ended>>> {
        let (fault, variation) = (self.fault, self.variation);
        Box::pin(async move {
            let behaviour = conform_client_faults::behaviour(fault, variation);
            let target = reach.target.clone();
            let memory = Rc::new(Memory { env, reach, stderr: RefCell::default(), crash: Rc::default() });
            let crash = Rc::clone(&memory.crash);
            let ended = tokio::select! {
                biased;
                () = crash.noticed.notified() => CRASHED,
                ended = acted(&target, behaviour, Rc::clone(&memory) as Rc<dyn Outside>) => ended.unwrap_or_else(|why| {
                    memory.say(&why);
                    WRONG
                }),
            };
            Ended { code: ended, stderr: memory.stderr.take() }
        })
    }
}

#[derive(Default)]
struct Crash {
    happened: Cell<bool>,
    noticed: Notify,
}

/// What the client uses in place of the operating system.
struct Memory {
    env: Vec<(String, String)>,
    reach: Reach,
    stderr: RefCell<String>,
    crash: Rc<Crash>,
}

type Later<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

impl Outside for Memory {
    fn variable(&self, name: &str) -> Option<OsString> {
        self.env.iter().find(|(known, _)| known == name).map(|(_, value)| value.into())
    }

    fn connect<'a>(&'a self, host: &'a str, port: u16) -> Later<'a, io::Result<Box<dyn Stream>>> {
        Box::pin(async move { Ok(Box::new(self.reach.connect(host, port).await?) as Box<dyn Stream>) })
    }

    fn listen(&self) -> Later<'_, io::Result<Box<dyn Listening>>> {
        Box::pin(async {
            let (port, connected) = self.reach.listen()?;
            Ok(Box::new(Port { port, connected }) as Box<dyn Listening>)
        })
    }

    fn open(&self, url: &str) {
        self.reach.open(url);
    }

    fn start(&self, program: &str) -> io::Result<Process> {
        let ([stdin, stdout, stderr], handle) = self.reach.start(program)?;
        let child = Started { handle, released: false, crash: Rc::clone(&self.crash) };
        Ok(Process {
            stdin: Box::new(stdin),
            stdout: Box::new(stdout),
            stderr: Box::new(stderr),
            child: Box::new(child),
        })
    }

    fn say(&self, text: &str) {
        *self.stderr.borrow_mut() += &format!("{text}\n");
    }

    fn crash(&self) {
        self.crash.happened.set(true);
        self.crash.noticed.notify_one();
    }
}

struct Port {
    port: u16,
    connected: mpsc::UnboundedReceiver<DuplexStream>,
}

impl Listening for Port {
    fn port(&self) -> u16 {
        self.port
    }

    fn accept(&mut self) -> Later<'_, io::Result<Box<dyn Stream>>> {
        Box::pin(async {
            let stream = self.connected.recv().await.ok_or(io::ErrorKind::ConnectionAborted)?;
            Ok(Box::new(stream) as Box<dyn Stream>)
        })
    }
}

struct Started {
    handle: Handle,
    released: bool,
    crash: Rc<Crash>,
}

impl Child for Started {
    fn wait(&mut self) -> Later<'_, ()> {
        Box::pin(self.handle.wait())
    }

    fn terminate(&mut self) {
        self.handle.terminate();
    }

    fn kill(&mut self) {
        self.handle.kill();
    }

    fn release(&mut self) {
        self.released = true;
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // A program that crashes has no time to stop its children.
        if !self.released && !self.crash.happened.get() {
            self.handle.kill();
        }
    }
}
