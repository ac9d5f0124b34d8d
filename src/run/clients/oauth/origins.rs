//! The listeners of a world besides the MCP server.

use std::{collections::HashMap, io};

use tokio::{net::TcpListener, sync::mpsc};

use super::visitor::Doors;
use crate::{reference::server::oauth::Origin, run::clients::stage::Listener};

/// The first port of the origins in memory.
const FIRST: u16 = 3001;

/// A listener and its host and port.
pub struct At {
    pub origin: Origin,
    pub authority: String,
    pub listener: Listener,
}

/// Where the origins of a world are.
pub struct Origins {
    pub all: Vec<At>,
    pub doors: Doors,
}

impl Origins {
    /// Every origin but that of the MCP server, which has its listener already.
    pub async fn open(in_memory: bool) -> io::Result<Self> {
        let (mut all, mut doors) = (Vec::new(), Doors::new());
        for (nr, origin) in (FIRST..).zip(Origin::ALL.into_iter().filter(|origin| *origin != Origin::Mcp)) {
            let (authority, listener) = if in_memory {
                let (door, connected) = mpsc::unbounded_channel();
                let authority = format!("127.0.0.1:{nr}");
                doors.push((authority.clone(), door));
                (authority, Listener::Memory(connected))
            } else {
                let listener = TcpListener::bind("127.0.0.1:0").await?;
                (listener.local_addr()?.to_string(), Listener::Port(listener))
            };
            all.push(At { origin, authority, listener });
        }
        Ok(Self { all, doors })
    }

    /// The URLs of all origins.
    pub fn urls(&self, mcp: &str) -> HashMap<Origin, String> {
        let others = self.all.iter().map(|at| (at.origin, at.authority.as_str()));
        others.chain([(Origin::Mcp, mcp)]).map(|(origin, authority)| (origin, format!("http://{authority}"))).collect()
    }
}
