//! OAuth over HTTP: the client logs in when the server rejects a request for lack of a token.
//!
//! It shares nothing with the authorization servers that test it. A fault changes a decision ([`ways::Ways`]) or a
//! request before it is sent (the hook `errand`).

pub mod callback;
mod challenge;
mod discovery;
pub mod errand;
mod login;
mod registration;
mod tokens;
pub mod ways;

use std::rc::Rc;

use serde_json::Value;

use crate::{
    behaviour::decisions::{Head, Posting},
    state::Client,
};
use challenge::Challenge;
use ways::StepUp;

/// What the client has got.
#[derive(Default)]
pub struct Held {
    pub access: Option<String>,
    /// The last one, even if it was rejected.
    pub last: Option<String>,
    pub refresh: Option<String>,
    /// The metadata of the authorization server.
    pub server: Value,
    /// The response to the registration, and the issuer where it was made.
    pub registered: Option<(String, Value)>,
    /// `resource` of the requests.
    pub resource: String,
    pub scopes: Vec<String>,
    pub logins: usize,
    /// How often a request was repeated without a token.
    pub repeats: usize,
    /// How often it was repeated with a rejected token.
    pub again: usize,
}

/// Whether a rejected request can be sent again, with another token.
pub async fn renewed(client: &Rc<Client>, posting: &Posting, head: &Head) -> bool {
    let ways = client.ways.oauth;
    if !ways.supported || !matches!(head.status, 401 | 403) {
        return false;
    }
    if posting.get("authorization").is_none() && client.held.borrow().repeats < ways.repeats {
        client.held.borrow_mut().repeats += 1;
        return true;
    }
    if posting.get("authorization").is_some() && client.held.borrow().again < ways.repeats_token {
        client.held.borrow_mut().again += 1;
        return true;
    }
    if ways.connects_only && posting.rpc() == "tools/call" {
        return false;
    }
    let challenge = challenge::read(&head.challenges, ways.reads);
    let lacks_scope = challenge.get("error") == Some("insufficient_scope");
    if head.status == 403 && !(lacks_scope && ways.step_up != StepUp::Never || ways.any_403) {
        return false;
    }
    let _one = if ways.single_flight { Some(client.renewing.lock().await) } else { None };
    let used = posting.get("authorization").map(|value| String::from_utf8_lossy(value).into_owned());
    let held = client.held.borrow().access.clone().map(|token| format!("Bearer {token}"));
    // Another request has got a new token meanwhile.
    if ways.single_flight && held.is_some() && held != used {
        return true;
    }
    if head.status == 401 && tokens::refresh(client).await {
        return true;
    }
    log_in(client, &challenge, head.status == 403).await && !(ways.leaves_request && head.status == 403)
}

async fn log_in(client: &Rc<Client>, challenge: &Challenge, step_up: bool) -> bool {
    {
        let mut held = client.held.borrow_mut();
        if held.logins >= client.ways.oauth.most_logins {
            return false;
        }
        held.logins += 1;
    }
    match login::log_in(client, challenge, step_up).await {
        Ok(()) => true,
        Err(why) => {
            client.outside.say(&format!("error: login: {why}"));
            false
        }
    }
}
