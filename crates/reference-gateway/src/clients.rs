//! All clients of the gateway.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;

use super::fault::ById;

/// A message for the client, and the request that it belongs to.
pub struct Down {
    pub message: Value,
    pub belongs_to: Option<String>,
}

/// All clients of the gateway.
#[derive(Clone, Default)]
pub struct Clients(Arc<Mutex<All>>);

#[derive(Default)]
struct All {
    /// In the order in which they connected.
    joined: Vec<UnboundedSender<Down>>,
    /// The clients of open requests, by id.
    by_id: HashMap<String, VecDeque<UnboundedSender<Down>>>,
}

impl Clients {
    pub fn join(&self, client: &UnboundedSender<Down>) {
        self.all().joined.push(client.clone());
    }

    pub fn first(&self) -> Option<UnboundedSender<Down>> {
        self.all().joined.iter().find(|client| !client.is_closed()).cloned()
    }

    pub fn others(&self, than: &UnboundedSender<Down>) -> Vec<UnboundedSender<Down>> {
        self.all().joined.iter().filter(|client| !client.same_channel(than)).cloned().collect()
    }

    /// The client has sent a request with that id.
    pub fn uses(&self, id: &str, client: &UnboundedSender<Down>, kept: ById) {
        let mut all = self.all();
        let clients = all.by_id.entry(id.to_owned()).or_default();
        if kept == ById::Last {
            clients.clear();
        }
        clients.push_back(client.clone());
    }

    /// The client that receives the next response with that id.
    pub fn next_with(&self, id: &str) -> Option<UnboundedSender<Down>> {
        self.all().by_id.get_mut(id)?.pop_front()
    }

    fn all(&self) -> MutexGuard<'_, All> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
