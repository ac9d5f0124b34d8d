//! The token endpoint: codes and refresh tokens.

use std::rc::Rc;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::Value;

use super::{
    errand::{Errand, Pairs, Step, set},
    ways::Auth,
};
use crate::state::Client;

/// Adds the authentication of the client.
fn authenticate(client: &Client, registered: &Value, errand: &mut Errand) {
    let ways = client.ways.oauth;
    let id = registered["client_id"].as_str().unwrap_or_default();
    let Some(secret) = registered["client_secret"].as_str() else { return set(&mut errand.form, "client_id", id) };
    let assigned = registered["token_endpoint_auth_method"].as_str().unwrap_or("client_secret_basic");
    let (basic, post) = match ways.auth {
        Auth::Assigned => (assigned == "client_secret_basic", assigned == "client_secret_post"),
        Auth::Basic => (true, false),
        Auth::Post => (false, true),
        Auth::Both => (true, true),
    };
    if basic {
        let one = |text: &str| {
            if ways.encodes { form_urlencoded::byte_serialize(text.as_bytes()).collect() } else { text.to_owned() }
        };
        let pair = format!("{}:{}", one(id), one(secret));
        errand.headers.push(("authorization".to_owned(), format!("Basic {}", STANDARD.encode(pair))));
    }
    if post {
        set(&mut errand.form, "client_id", id);
        set(&mut errand.form, "client_secret", secret);
    }
}

/// Exchanges the code or the refresh token in the form.
pub async fn exchange(client: &Rc<Client>, step: Step, form: Pairs, times: usize) -> Result<(), String> {
    let ways = client.ways.oauth;
    let (server, registered) = {
        let held = client.held.borrow();
        (held.server.clone(), held.registered.clone().map(|(_, registered)| registered).unwrap_or_default())
    };
    let endpoint = server["token_endpoint"].as_str().ok_or("there is no token endpoint")?.to_owned();
    let mut failed = String::new();
    for _ in 0..times {
        let mut errand = Errand::new(step, "POST", &endpoint);
        errand.form.clone_from(&form);
        authenticate(client, &registered, &mut errand);
        let (head, response) = errand.send(client).await?;
        let Some(token) = response["access_token"].as_str().map(str::to_owned).filter(|_| head.status == 200) else {
            failed = format!("the token endpoint returned {} {}", head.status, response["error"]);
            continue;
        };
        let kind = response["token_type"].as_str().unwrap_or_default();
        let known = kind == "Bearer" || kind.eq_ignore_ascii_case("bearer") && !ways.exact_token_type;
        if !known && !ways.any_token_type {
            return Err(format!("tokens of type {kind} are not supported"));
        }
        if ways.needs_lifetime && response["expires_in"].is_null() {
            return Err("the token has expired".to_owned());
        }
        let mut held = client.held.borrow_mut();
        if ways.needs_scopes && response["scope"].as_str().is_some_and(|scope| scope != held.scopes.join(" ")) {
            return Err("the token lacks scopes".to_owned());
        }
        held.last = Some(token.clone());
        held.access = Some(token);
        let next = response["refresh_token"].as_str().map(str::to_owned);
        let keeps = ways.keeps_first_refresh && held.refresh.is_some();
        if (next.is_some() || ways.drops_refresh) && !keeps {
            held.refresh = next;
        }
        return Ok(());
    }
    Err(failed)
}

/// Whether there is a new token without the user. A refresh token that is rejected is not used again.
pub async fn refresh(client: &Rc<Client>) -> bool {
    let ways = client.ways.oauth;
    let (token, resource) = {
        let mut held = client.held.borrow_mut();
        held.access = None;
        let invented = ways.invents_refresh.then(|| "undefined".to_owned());
        (held.refresh.clone().or(invented).filter(|_| ways.refreshes), held.resource.clone())
    };
    let Some(token) = token else { return false };
    let form =
        super::errand::pairs(&[("grant_type", "refresh_token"), ("refresh_token", &token), ("resource", &resource)]);
    let done = exchange(client, Step::Refresh, form, ways.repeats_refresh).await.is_ok();
    if !done {
        client.held.borrow_mut().refresh = None;
    }
    done
}
