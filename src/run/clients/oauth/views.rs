//! What rules see of a world with authorization.

use serde_json::{Value, json};

use super::{
    journal::Kept,
    logins,
    requests::{Context, Request},
    tokens,
};
use crate::reference::server::oauth::Secret;

/// The names of the lists, in suites.
pub const NAMES: [&str; 4] = ["requests", "logins", "tokens", "opened"];

pub struct Views {
    requests: Vec<Value>,
    logins: Vec<Value>,
    tokens: Vec<Value>,
    opened: Vec<Value>,
    /// How far the first login came.
    pub reached: Reached,
}

/// How far a client came with its first login.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reached {
    Nothing,
    /// It was rejected for lack of a token.
    Rejected,
    Metadata,
    Registered,
    SentAway,
    Delivered,
    Redeemed,
    Accepted,
}

impl Reached {
    /// What the client did last, for the note that says why nothing else is tested.
    pub fn words(self) -> &'static str {
        match self {
            Self::Nothing => "it sent nothing",
            Self::Rejected => "nothing followed status 401",
            Self::Metadata => "nothing followed the request for metadata",
            Self::Registered => "nothing followed the registration",
            Self::SentAway => {
                "the authorization response did not reach it: no browser was opened and no URL printed, or nothing listens at its redirect URI"
            }
            Self::Delivered => "it did not request a token after the authorization response",
            Self::Redeemed => "it did not use its token",
            Self::Accepted => "it logged in",
        }
    }
}

impl Views {
    /// `target` is the URL that the client was given. `fetches` is set if the client is known to follow the redirects of
    /// a login itself.
    pub fn of(kept: &Kept, secrets: &[Secret], target: &str, world: &str, fetches: bool) -> Self {
        let context = Context { kept, secrets, target, world, fetches };
        let requests: Vec<Request> = context.requests();
        let tokens = tokens::of(&context, &requests);
        let logins = logins::of(&context, &requests, &tokens);
        let opened = kept.visits.iter().map(|visit| {
            let scheme = visit.url.trim_start().split(':').next().unwrap_or_default().to_ascii_lowercase();
            json!({
                "url": visit.url,
                "scheme": scheme,
                "how": visit.how.word(),
                "delivered": visit.delivered.is_some(),
                "end": visit.end,
                "frames": [],
            })
        });
        let opened = opened.collect();
        let reached = reached(&requests, &logins);
        let requests = requests.into_iter().map(|request| request.item).collect();
        Self { requests, logins, tokens, opened, reached }
    }

    /// Whether the client followed the redirects of a login itself.
    pub fn fetches(&self) -> bool {
        self.logins.iter().any(|login| login["how"] == "fetched" && login["exchanges"] != 0)
    }

    pub fn named(&self, name: &str) -> &[Value] {
        match name {
            "requests" => &self.requests,
            "logins" => &self.logins,
            "tokens" => &self.tokens,
            _ => &self.opened,
        }
    }
}

fn reached(requests: &[Request], logins: &[Value]) -> Reached {
    let any = |about: &str| requests.iter().any(|request| request.passed.about == about);
    let login = |field: &str| logins.iter().any(|login| login[field] == true);
    let steps = [
        (requests.iter().any(|request| request.accepted), Reached::Accepted),
        (logins.iter().any(|login| login["exchanges"] != 0), Reached::Redeemed),
        (login("delivered"), Reached::Delivered),
        (any("authorization"), Reached::SentAway),
        (any("registration"), Reached::Registered),
        (any("resource metadata") || any("server metadata"), Reached::Metadata),
        (any("mcp"), Reached::Rejected),
    ];
    steps.into_iter().find(|(there, _)| *there).map_or(Reached::Nothing, |(_, step)| step)
}
