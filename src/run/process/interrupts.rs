//! Ctrl-C and other signals that stop the program: the first one stops the run and reports what was gathered, the
//! second one exits at once.

use std::{future::pending, process, thread, time::Duration};

use tokio::{sync::watch, time::sleep};

use super::{console::complain, progress, signals::Signals};

/// Time after the second signal for stopping the servers. A guess.
const LAST: Duration = Duration::from_secs(1);

/// The number of signals so far, and the exit code of the last one.
#[derive(Clone, Copy, Debug, Default)]
struct Heard {
    times: u8,
    code: u8,
}

/// By default nothing is handled, and signals have their usual effect.
#[derive(Clone, Debug)]
pub struct Interrupts(watch::Receiver<Heard>);

impl Default for Interrupts {
    fn default() -> Self {
        Self(watch::channel(Heard::default()).1)
    }
}

impl Interrupts {
    /// Starts to listen. A separate thread handles signals even while rules are judged.
    pub fn listen() -> Self {
        let (tell, heard) = watch::channel(Heard::default());
        thread::spawn(move || super::runtime::block_on(listen(&tell)));
        Self(heard)
    }

    /// The conventional exit code, once there was a signal.
    pub fn code(&self) -> Option<u8> {
        let Heard { times, code } = *self.0.borrow();
        (times > 0).then_some(code)
    }

    pub async fn first(&self) {
        self.heard(1).await;
    }

    pub async fn second(&self) {
        self.heard(2).await;
    }

    async fn heard(&self, times: u8) {
        if self.0.clone().wait_for(|heard| heard.times >= times).await.is_err() {
            pending::<()>().await;
        }
    }
}

async fn listen(tell: &watch::Sender<Heard>) {
    let Ok(mut signals) = Signals::new() else { return };
    loop {
        let code = signals.next().await;
        tell.send_modify(|heard| *heard = Heard { times: heard.times.saturating_add(1), code });
        if tell.borrow().times > 1 {
            sleep(LAST).await;
            process::exit(code.into());
        }
        progress::erase();
        complain("interrupted: judging the evidence so far. Press Ctrl-C again to quit immediately");
    }
}
