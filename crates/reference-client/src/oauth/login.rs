//! One login: from a challenge to a token.

use std::rc::Rc;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::{
    digest::{SHA256, digest},
    rand::{SecureRandom, SystemRandom},
};
use serde_json::Value;

use super::{
    callback,
    challenge::Challenge,
    discovery::{self, same},
    errand::{Errand, Pairs, Step, pairs, set},
    registration, tokens,
    ways::{ChecksIss, ChecksState, Compares, Pkce, Scopes, StepUp},
};
use crate::state::Client;

const CALLBACK: &str = "/callback";

/// A value that cannot be guessed.
fn random() -> Result<String, String> {
    let mut bytes = [0; 32];
    SystemRandom::new().fill(&mut bytes).map_err(|_| "no random numbers")?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

pub async fn log_in(client: &Rc<Client>, challenge: &Challenge, step_up: bool) -> Result<(), String> {
    let ways = client.ways.oauth;
    let mut found = discovery::resource(client, challenge).await;
    for _ in 1..ways.rounds {
        if found.is_err() {
            found = discovery::resource(client, challenge).await;
        }
    }
    let metadata = found?;
    let issuer = metadata["authorization_servers"][0].as_str().ok_or("no authorization server is listed")?.to_owned();
    let server = discovery::server(client, &issuer).await?;
    let methods = &server["code_challenge_methods_supported"];
    let openid = server["jwks_uri"].is_string();
    if openid && ways.rejects_openid {
        return Err("the metadata has unknown fields".to_owned());
    }
    let trusted = ways.trusts_openid && openid;
    if ways.demands_s256 && !trusted && !words(methods).iter().any(|method| method == "S256") {
        return Err("the authorization server does not support PKCE with S256".to_owned());
    }
    let scopes = scopes(client, challenge, &metadata, &server, step_up);
    {
        let mut held = client.held.borrow_mut();
        held.server = server.clone();
        let published = metadata["resource"].as_str().filter(|_| !ways.own_resource);
        published.unwrap_or(&client.options.target).clone_into(&mut held.resource);
        if openid && ways.no_resource_for_openid {
            held.resource.clear();
        }
        held.scopes.clone_from(&scopes);
    }
    let mut failed = String::new();
    for _ in 0..ways.tries {
        match once(client, &server, &issuer, &scopes).await {
            Ok(()) => return Ok(()),
            Err(why) => failed = why,
        }
    }
    Err(failed)
}

/// Sends the user away, and redeems the code.
async fn once(client: &Rc<Client>, server: &Value, issuer: &str, scopes: &[String]) -> Result<(), String> {
    let ways = client.ways.oauth;
    let mut listener = client.outside.listen().await.map_err(|error| format!("cannot listen: {error}"))?;
    let redirect = format!("http://127.0.0.1:{}{CALLBACK}", listener.port());
    let registered = registration::client_of(client, server, &redirect).await?;
    let (state, fresh) = (random()?, random()?);
    let verifier = if ways.same_verifier { "v".repeat(43) } else { fresh };
    let resource = client.held.borrow().resource.clone();
    let listed = words(&server["code_challenge_methods_supported"]);
    let method = match ways.pkce {
        Pkce::FirstListed => listed.first().map_or("S256", String::as_str),
        Pkce::Plain => "plain",
        Pkce::S256 | Pkce::Absent => "S256",
    };
    let challenge =
        if method == "plain" { verifier.clone() } else { URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.as_bytes())) };
    let id = registered["client_id"].as_str().unwrap_or_default();
    let endpoint = server["authorization_endpoint"].as_str().ok_or("there is no authorization endpoint")?;
    let mut errand = Errand::new(Step::Authorization, "GET", endpoint);
    errand.query = pairs(&[
        ("response_type", "code"),
        ("client_id", id),
        ("redirect_uri", &redirect),
        ("state", &state),
        ("resource", &resource),
    ]);
    errand.query.retain(|(_, value)| !value.is_empty());
    if ways.pkce != Pkce::Absent {
        errand.query.extend(pairs(&[("code_challenge", &challenge), ("code_challenge_method", method)]));
    }
    if !scopes.is_empty() {
        set(&mut errand.query, "scope", &scopes.join(" "));
    }
    let errand = errand.finish(client);
    let sent_state = errand.query.iter().any(|(name, _)| name == "state");
    let url = errand.full_url();
    for _ in 0..ways.preflights {
        // The hook must not change it again.
        Errand::new(Step::ResourceMetadata, "GET", &url).send(client).await?;
    }
    client.outside.open(&url);
    let response = callback::received(&mut *listener, CALLBACK).await?;
    drop(listener);
    check(client, server, issuer, &response, sent_state.then_some(state.as_str()))?;
    let code = get(&response, "code").unwrap_or("null");
    let mut form = pairs(&[
        ("grant_type", "authorization_code"),
        ("code", code),
        ("redirect_uri", &redirect),
        ("resource", &resource),
    ]);
    form.retain(|(_, value)| !value.is_empty());
    if ways.pkce != Pkce::Absent {
        set(&mut form, "code_verifier", &verifier);
    }
    if registered["client_secret"].is_null() {
        set(&mut form, "client_id", id);
    }
    tokens::exchange(client, Step::Token, form, ways.sends_code).await
}

fn get<'p>(pairs: &'p Pairs, name: &str) -> Option<&'p str> {
    pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

/// Whether the authorization response is the one that was requested.
fn check(client: &Client, server: &Value, issuer: &str, response: &Pairs, state: Option<&str>) -> Result<(), String> {
    let ways = client.ways.oauth;
    let given = get(response, "state");
    let fits = match ways.state {
        ChecksState::Always => given == state,
        ChecksState::IfPresent => given.is_none() || given == state,
        ChecksState::Never => true,
    };
    if !fits {
        return Err("the response has another state".to_owned());
    }
    let advertised = server["authorization_response_iss_parameter_supported"] == true;
    let iss = get(response, "iss");
    let equal = |compares: Compares| iss.is_none_or(|iss| same(iss, issuer, compares));
    let fits = match ways.iss {
        ChecksIss::Always => equal(Compares::Exactly) && (iss.is_some() || !advertised),
        ChecksIss::IfPresent => equal(Compares::Exactly),
        ChecksIss::IfAdvertised => !advertised || (iss.is_some() && equal(Compares::Exactly)),
        ChecksIss::Demanded => iss.is_some() && equal(Compares::Exactly),
        ChecksIss::Normalized => equal(Compares::Normalized) && (iss.is_some() || !advertised),
        ChecksIss::Never => true,
        ChecksIss::Unknown => iss.is_none(),
        ChecksIss::NotUnadvertised => iss.is_none() || advertised,
    };
    if !fits {
        return Err("the response is that of another issuer".to_owned());
    }
    match get(response, "error") {
        Some(error) if !ways.ignores_errors => Err(format!("the authorization server returned {error}")),
        _ => Ok(()),
    }
}

fn words(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn scopes(client: &Client, challenge: &Challenge, metadata: &Value, server: &Value, step_up: bool) -> Vec<String> {
    let ways = client.ways.oauth;
    let challenged: Vec<String> =
        challenge.get("scope").unwrap_or_default().split_whitespace().map(str::to_owned).collect();
    let (listed, of_server) = (words(&metadata["scopes_supported"]), words(&server["scopes_supported"]));
    let earlier = client.held.borrow().scopes.clone();
    if step_up {
        return match ways.step_up {
            StepUp::Union => {
                let new = challenged.into_iter().filter(|scope| !earlier.contains(scope)).collect();
                [earlier.clone(), new].concat()
            }
            StepUp::ChallengeOnly => challenged,
            StepUp::Same | StepUp::Never => earlier,
        };
    }
    let right = if challenged.is_empty() { listed.clone() } else { challenged.clone() };
    match ways.scopes {
        Scopes::Right => right,
        Scopes::Listed => {
            if listed.is_empty() {
                challenged
            } else {
                listed
            }
        }
        Scopes::OfServer => of_server,
        Scopes::Filtered => right.into_iter().filter(|scope| of_server.contains(scope)).collect(),
        Scopes::All => [right, of_server].concat(),
        Scopes::Invented => vec!["openid".to_owned(), "profile".to_owned()],
        Scopes::Absent => Vec::new(),
    }
}
