//! The three transports.

pub mod event_stream;
pub mod headers;
pub mod http;
pub mod lines;
mod posting;
pub mod raw;
pub mod sse;
mod stdio;
pub mod streams;

use std::rc::Rc;

use serde_json::Value;

use crate::{behaviour::decisions::Shutdown, options::Transport, report::Failure, state::Client};

pub enum Connection {
    Stdio(Rc<stdio::Stdio>),
    Http(Rc<http::Http>),
    Sse(Rc<sse::Sse>),
}

impl Connection {
    pub async fn open(client: &Rc<Client>, transport: Transport) -> Result<Rc<Self>, Failure> {
        let target = &client.options.target;
        let able = transport.capabilities();
        Ok(Rc::new(if able.process {
            Self::Stdio(stdio::Stdio::start(client, target)?)
        } else if able.endpoint {
            Self::Sse(sse::Sse::open(client, target).await?)
        } else {
            Self::Http(http::Http::new(target))
        }))
    }

    pub async fn send(&self, client: &Rc<Client>, message: Value) -> Result<(), Failure> {
        match self {
            Self::Stdio(stdio) => return stdio.send(client, &message).await,
            Self::Http(http) => http.send(client, message).await,
            Self::Sse(sse) => sse.send(client, message).await,
        }
        Ok(())
    }

    /// Cancels a request by closing its stream, if each request has one.
    pub fn close_stream(&self, id: &Value) {
        if let Self::Http(http) = self {
            http.close_stream(id);
        }
    }

    pub fn stand_by(&self, client: &Rc<Client>) {
        if let Self::Http(http) = self {
            http.stand_by(client);
        }
    }

    /// An HTTP request without a message, for faults.
    pub async fn without_message(&self, client: &Rc<Client>, method: &str) {
        match self {
            Self::Http(http) if method == "DELETE" => http.delete(client).await,
            Self::Http(http) => drop(http.get(client, None).await),
            _ => {}
        }
    }

    pub async fn close(&self, client: &Rc<Client>, plan: &Shutdown) {
        match self {
            Self::Stdio(stdio) => stdio.close(client, plan).await,
            Self::Http(http) => {
                http.close();
                for _ in 0..plan.deletes {
                    http.delete(client).await;
                }
            }
            Self::Sse(sse) => sse.close(),
        }
    }
}
