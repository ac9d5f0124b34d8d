//! What is needed to log in without a person, in one start of a client.

use std::{io, path::Path};

use tokio::{
    io::DuplexStream,
    sync::mpsc::{self, UnboundedSender},
    task::JoinSet,
};

use super::{
    journal::Journal,
    opener::openers,
    origins::Origins,
    printed::Printed,
    visitor::{Dial, Doors, How, Listeners, Visitor},
};

pub struct Login {
    pub journal: Journal,
    /// Where the client sends its users.
    pub urls: UnboundedSender<(How, String)>,
    /// In memory: where the client listens, and where the origins are.
    pub listeners: Listeners,
    pub doors: Doors,
    /// The authorization servers, as the beginnings of URLs.
    servers: Vec<String>,
    /// They end with it.
    pub tasks: JoinSet<()>,
}

impl Login {
    /// `mcp` is the address of the MCP server. `memory` is set in memory: the same, and how it is reached.
    pub fn new(origins: &Origins, mcp: &str, memory: Option<&(String, UnboundedSender<DuplexStream>)>) -> Self {
        let (journal, listeners, mut tasks) = (Journal::default(), Listeners::default(), JoinSet::new());
        let doors: Doors = origins.doors.iter().cloned().chain(memory.cloned()).collect();
        let dial = match memory {
            Some(_) => Dial::Memory { doors: doors.clone(), listeners: listeners.clone() },
            None => Dial::System,
        };
        let servers: Vec<String> = origins.all.iter().map(|at| format!("http://{}/", at.authority)).collect();
        let all = servers.iter().cloned().chain([format!("http://{mcp}/")]).collect();
        let (urls, wanted) = mpsc::unbounded_channel();
        let visitor = Visitor { dial, journal: journal.clone(), origins: all };
        tasks.spawn(visitor.run(wanted));
        Self { journal, urls, listeners, doors, servers, tasks }
    }

    pub fn offer_openers(&mut self, folder: &Path, program: &Path) -> io::Result<()> {
        self.tasks.spawn(openers(folder, program, self.urls.clone())?);
        Ok(())
    }

    /// Finds the URLs in one output of the client.
    pub fn printed(&self) -> Printed {
        Printed::new(self.servers.clone(), self.urls.clone())
    }
}
