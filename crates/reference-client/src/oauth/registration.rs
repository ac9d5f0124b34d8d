//! Dynamic registration.

use std::rc::Rc;

use serde_json::{Value, json};

use super::{
    discovery::split,
    errand::{Errand, Step},
};
use crate::state::Client;

/// What the registration returned; the client registers once at each authorization server.
pub async fn client_of(client: &Rc<Client>, server: &Value, redirect: &str) -> Result<Value, String> {
    let ways = client.ways.oauth;
    let issuer = server["issuer"].as_str().unwrap_or_default().to_owned();
    let known = client.held.borrow().registered.clone().filter(|(at, _)| *at == issuer);
    if let Some((_, known)) = known {
        return Ok(known);
    }
    let guessed = || {
        let origin = server["token_endpoint"].as_str().map(|url| split(url).0.to_owned());
        origin.filter(|_| ways.guesses_registration).map(|origin| format!("{origin}/register"))
    };
    let offered = server["registration_endpoint"].as_str().map(str::to_owned).or_else(guessed);
    let Some(endpoint) = offered else { return without_id(client, "clients cannot register, and no id is configured") };
    let supported = server["token_endpoint_auth_methods_supported"].as_array();
    let supports = |method: &&str| supported.is_none_or(|all| all.iter().any(|known| known == method));
    let method = ["none", "client_secret_basic", "client_secret_post"].into_iter().find(supports).unwrap_or("none");
    for _ in 0..ways.registers {
        let mut errand = Errand::new(Step::Registration, "POST", &endpoint);
        errand.json = json!({
            "client_name": "the reference client",
            "redirect_uris": [redirect],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": method,
            "application_type": "native",
        });
        let (head, registered) = errand.send(client).await?;
        if head.status == 201 && registered["client_id"].is_string() {
            client.held.borrow_mut().registered = Some((issuer, registered.clone()));
            return Ok(registered);
        }
    }
    without_id(client, "the registration was rejected")
}

fn without_id(client: &Client, why: &str) -> Result<Value, String> {
    if client.ways.oauth.needs_no_id { Ok(json!({ "client_id": "undefined" })) } else { Err(why.to_owned()) }
}
