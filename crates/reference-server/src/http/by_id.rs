//! The defect of servers that keep the open requests of all clients in one table: a response is sent on the stream of the
//! request that last used its id.

use std::{collections::HashMap, sync::Arc};

use hyper::{StatusCode, body::Bytes, header::CONTENT_TYPE};
use serde_json::Value;
use tokio::sync::mpsc::{Sender, channel};

use super::{
    body::{Body, Reply, event, events},
    hub::{Shared, lock},
    streams::EVENTS_AHEAD,
};

/// The streams of open requests, by id, and those of requests whose id was used again.
#[derive(Default)]
pub struct ById {
    open: HashMap<String, Sender<Bytes>>,
    forgotten: Vec<Sender<Bytes>>,
}

/// The stream on which the request with this id waits, whatever is sent there.
pub fn exchanged(shared: &Shared, id: &Value, reply: Reply) -> Reply {
    if reply.status() != StatusCode::OK {
        return reply;
    }
    let (headers, body) = (reply.headers().clone(), reply.into_body());
    let id = id.to_string();
    let (sender, receiver) = channel(EVENTS_AHEAD);
    {
        let ById { open, forgotten } = &mut lock(shared).by_id;
        forgotten.retain(|stream| !stream.is_closed());
        forgotten.extend(open.insert(id.clone(), sender));
    }
    let shared = Arc::clone(shared);
    tokio::spawn(async move {
        let stream = |id: &str| lock(&shared).by_id.open.get(id).cloned();
        match body {
            Body::Whole(Some(bytes)) => {
                if let Some(stream) = stream(&id) {
                    let _ = stream.send(event("message", None, &bytes)).await;
                }
            }
            Body::Whole(None) => {}
            Body::Events(mut from, _) => {
                while let Some(event) = from.recv().await {
                    let Some(stream) = stream(&id) else { break };
                    if stream.send(event).await.is_err() {
                        break;
                    }
                }
            }
        }
        lock(&shared).by_id.open.remove(&id);
    });
    let mut exchanged = events(receiver);
    for (name, value) in &headers {
        if name != CONTENT_TYPE {
            exchanged.headers_mut().insert(name, value.clone());
        }
    }
    exchanged
}
