//! What the authorization servers of one world know.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use hyper::{body::Bytes, http::request::Parts};
use tokio::time::{Instant, sleep};

use super::{Origin, Settings, documents, protected, settings::Document};
use crate::{faults::unlike_any_other, http::Reply};

/// A unique value that was issued.
#[derive(Clone, Debug)]
pub struct Secret {
    /// `access token`, `refresh token`, `code` or `client secret`.
    pub kind: &'static str,
    pub value: String,
    pub issuer: Origin,
}

/// The authorization servers of a world, and what its MCP server accepts.
#[derive(Clone)]
pub struct Authority(Arc<Mutex<Book>>);

pub struct Book {
    pub settings: &'static Settings,
    pub origins: HashMap<Origin, String>,
    /// All values begin with it.
    own: String,
    issued: usize,
    pub secrets: Vec<Secret>,
    /// The codes by the requests for them: a client may send a request before it opens the same URL.
    pub codes: HashMap<(Origin, String), String>,
    pub grants: HashMap<String, Grant>,
    pub access: HashMap<String, Access>,
    pub refresh: HashMap<String, Renewal>,
    /// How many requests with a token were accepted.
    pub accepted: usize,
    /// The first access token that was accepted.
    pub first: Option<String>,
}

/// What a code stands for.
pub struct Grant {
    pub issuer: Origin,
    pub scope: Option<String>,
    pub redeemed: bool,
}

pub struct Access {
    pub scope: String,
    pub since: Instant,
}

pub struct Renewal {
    pub issuer: Origin,
    pub scope: String,
    pub over: bool,
}

impl Authority {
    pub fn new(settings: &'static Settings, origins: HashMap<Origin, String>) -> Self {
        Self(Arc::new(Mutex::new(Book {
            settings,
            origins,
            own: unlike_any_other().replace('-', "x"),
            issued: 0,
            secrets: Vec::new(),
            codes: HashMap::new(),
            grants: HashMap::new(),
            access: HashMap::new(),
            refresh: HashMap::new(),
            accepted: 0,
            first: None,
        })))
    }

    fn lock(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Everything that was issued so far.
    pub fn secrets(&self) -> Vec<Secret> {
        self.lock().secrets.clone()
    }

    /// The response, unless the MCP server has to respond.
    pub async fn meet(&self, at: Origin, head: &Parts, body: &Bytes) -> Option<Reply> {
        let (reply, delay) = {
            let mut book = self.lock();
            let reply = match at {
                Origin::Mcp => protected::meet(&mut book, head, body),
                _ => Some(documents::serve(&mut book, at, head, body)),
            };
            let slow = reply.as_ref().is_some_and(|reply| reply.extensions().get() == Some(&super::TOKEN));
            (reply, if slow { book.settings.slow } else { Duration::ZERO })
        };
        sleep(delay).await;
        reply
    }
}

impl Book {
    /// A text of the settings with the addresses in it; in capitals for a scheme in upper case.
    pub fn filled(&self, text: &str, at: Origin) -> String {
        let issuer = format!("{{{}}}{}", at.name(), self.settings.tenant);
        let upper = |at: Origin| self.origin(at).replacen("http", "HTTP", 1);
        let text =
            text.replace("{issuer}", &issuer).replace("{UPPER}", &upper(at)).replace("{MCP}", &upper(Origin::Mcp));
        Origin::ALL.iter().fold(text, |text, origin| {
            text.replace(&format!("{{{}}}", origin.name()), self.origins.get(origin).map_or("", String::as_str))
        })
    }

    pub fn origin(&self, at: Origin) -> &str {
        self.origins.get(&at).map_or("", String::as_str)
    }

    /// A value that occurs nowhere else.
    pub fn unique(&mut self, prefix: &str) -> String {
        self.issued += 1;
        // No value is the beginning of another one.
        format!("{prefix}-{}-{:05}", self.own, self.issued)
    }

    pub fn issue(&mut self, kind: &'static str, prefix: &str, issuer: Origin) -> String {
        let value = self.unique(prefix);
        self.keep(kind, value.clone(), issuer);
        value
    }

    pub fn keep(&mut self, kind: &'static str, value: String, issuer: Origin) {
        self.secrets.push(Secret { kind, value, issuer });
    }

    /// The document with an endpoint of this name at that path.
    pub fn endpoint(&self, path: &str) -> Option<(&'static Document, &'static str)> {
        const ENDPOINTS: [&str; 3] = ["/authorize", "/token", "/register"];
        self.settings.documents.iter().find_map(|document| {
            let name = path.strip_prefix(document.endpoints)?;
            Some((document, *ENDPOINTS.iter().find(|known| **known == name)?))
        })
    }
}
