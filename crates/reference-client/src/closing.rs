//! How a connection is closed.

use std::{rc::Rc, time::Duration};

use tokio::time::sleep;

use crate::{behaviour::decisions::Shutdown, state::Client};

/// How long a server may take to exit after each of the steps.
const WAIT: Duration = Duration::from_secs(2);

/// The correct way to close; `deletes` is the number of DELETE requests.
pub fn plan(deletes: u32) -> Shutdown {
    Shutdown {
        last_words: Vec::new(),
        deletes,
        close_stdin: true,
        wait: WAIT,
        term: true,
        wait_after_term: WAIT,
        kill: true,
    }
}

impl Client {
    /// Closes the connection and everything that uses it.
    pub async fn close(self: &Rc<Self>) {
        // Wait for responses that are in transit.
        for _ in 0..20 {
            if self.state.borrow().served.iter().all(|(_, task)| task.is_some()) {
                break;
            }
            sleep(Duration::from_millis(50)).await;
        }
        let has_session = self.state.borrow().session.is_some() && self.state.borrow().over.is_none();
        let mut plan = plan(u32::from(has_session && self.ways.habits.ends_session));
        if let Some(hook) = self.ways.shutdown {
            self.with(|memory, scene| hook(memory, scene, &mut plan));
        }
        self.deliver_plain(std::mem::take(&mut plan.last_words)).await.ok();
        // From here on the end of the connection is expected.
        self.state.borrow_mut().starts += 1;
        let transport = self.transport.borrow_mut().take();
        if let Some(transport) = transport {
            transport.close(self, &plan).await;
        }
        let mut state = self.state.borrow_mut();
        for task in state.served.drain(..).filter_map(|(_, task)| task) {
            task.abort();
        }
        state.open.clear();
        (state.session, state.listens) = (None, Vec::new());
    }
}
