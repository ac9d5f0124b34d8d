//! A token for an OAuth client with its own credentials. The token endpoint is found as the specification says: by the
//! metadata of the server and of its authorization server.

use std::{net::IpAddr, sync::Arc, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use reqwest::Url;
use serde_json::{Value, json};

use crate::{
    error::Error,
    target::{Client, Inside},
    wire::{Fetched, Secrets, fetch},
};

const RESOURCE: &str = "/.well-known/oauth-protected-resource";
const SERVER: &str = "/.well-known/oauth-authorization-server";
const OPENID: &str = "/.well-known/openid-configuration";

pub struct Granted {
    pub token: String,
    /// What rules may know of the response.
    pub described: Value,
}

pub async fn request(
    client: &Client,
    inside: Option<&Arc<dyn Inside>>,
    endpoint: &str,
    within: Duration,
) -> Result<Granted, Error> {
    let endpoint = Url::parse(endpoint).map_err(|error| Error::usage(format!("{endpoint}: {error}")))?;
    let found = match &client.token_endpoint {
        Some(known) => Found { token_endpoint: known.clone(), post: false },
        None => find(&endpoint, within).await,
    };
    let failed = |came: String| Error::Target {
        tried: format!("to get a token for {} at {}", client.id, found.token_endpoint),
        came,
        help: "check client_id, client_secret and scopes; `token_endpoint` under auth sets the token endpoint".into(),
        refused: false,
    };
    if client.token_endpoint.is_none() && !is_private(&found.token_endpoint) {
        return Err(failed("the server names this endpoint, and the secret would be sent unencrypted".to_owned()));
    }
    let mut resource = endpoint;
    resource.set_fragment(None);
    resource.set_query(None);
    let mut form = vec![("grant_type", "client_credentials"), ("resource", resource.as_str())];
    let scopes = client.scopes.join(" ");
    if !client.scopes.is_empty() {
        form.push(("scope", &scopes));
    }
    let mut headers = vec![("content-type", "application/x-www-form-urlencoded"), ("accept", "application/json")];
    let basic;
    if found.post {
        form.extend([("client_id", client.id.as_str()), ("client_secret", &client.secret)]);
    } else {
        let [id, secret] = [&client.id, &client.secret].map(|text| encoded(&[("", text)])[1..].to_owned());
        basic = format!("Basic {}", STANDARD.encode(format!("{id}:{secret}")));
        headers.push(("authorization", &basic));
    }
    let body = encoded(&form);
    let answer = fetch(inside, "POST", &found.token_endpoint, &headers, Some(body), within).await.map_err(failed)?;
    let mut document = document(&answer).unwrap_or_default();
    let token = document["access_token"].as_str().map(str::to_owned);
    // The response may repeat the secret, or contains the token.
    Secrets::of([&client.secret].into_iter().chain(&token).cloned()).hide_in(&mut document);
    let Some(token) = token else {
        let error = document["error"].as_str().map(|error| format!(": {error}")).unwrap_or_default();
        return Err(failed(format!("HTTP {} without an access_token{error}", answer.status)));
    };
    let described = json!({
        "token_type": document["token_type"],
        "expires_in": document["expires_in"],
        "scope": document["scope"],
        "refreshable": document["refresh_token"].is_string(),
    });
    Ok(Granted { token, described })
}

/// Whether no third party can read what is sent to this URL: it is encrypted, or stays on this machine.
fn is_private(url: &str) -> bool {
    let Ok(url) = Url::parse(url) else { return false };
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    url.scheme() == "https" || host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

struct Found {
    token_endpoint: String,
    /// Whether the client's secret is sent in the body.
    post: bool,
}

/// Without any metadata, the default token endpoint of revision 2025-03-26 is used.
async fn find(endpoint: &Url, within: Duration) -> Found {
    let issuer = issuer(endpoint, within).await;
    let bases = [issuer.as_ref(), Some(endpoint)];
    let places = bases.iter().flatten().flat_map(|base| {
        let path = base.path().trim_end_matches('/');
        let root = [SERVER.to_owned(), OPENID.to_owned()];
        let paths = [format!("{SERVER}{path}"), format!("{OPENID}{path}"), format!("{path}{OPENID}")];
        paths.into_iter().chain(root).filter_map(|path| base.join(&path).ok())
    });
    for place in places {
        let Some(metadata) = get(&place, within).await else { continue };
        let Some(token_endpoint) = metadata["token_endpoint"].as_str() else { continue };
        let methods: Vec<&str> = metadata["token_endpoint_auth_methods_supported"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let post = methods.contains(&"client_secret_post") && !methods.contains(&"client_secret_basic");
        return Found { token_endpoint: token_endpoint.to_owned(), post };
    }
    let usual = endpoint.join("/token").map_or_else(|_| endpoint.to_string(), Into::into);
    Found { token_endpoint: usual, post: false }
}

/// The first authorization server in the metadata of the protected resource.
async fn issuer(endpoint: &Url, within: Duration) -> Option<Url> {
    let asked =
        fetch(None, "POST", endpoint.as_str(), &[("content-type", "application/json")], Some("{}".into()), within);
    let challenges = asked.await.map(|refusal| refusal.challenges).unwrap_or_default();
    let named = challenges.iter().find_map(|challenge| challenge["resource_metadata"].as_str());
    let paths = [format!("{RESOURCE}{}", endpoint.path()), RESOURCE.to_owned()];
    let places = named.into_iter().chain(paths.iter().map(String::as_str)).filter_map(|path| endpoint.join(path).ok());
    for place in places {
        if let Some(metadata) = get(&place, within).await {
            return Url::parse(metadata["authorization_servers"][0].as_str()?).ok();
        }
    }
    None
}

async fn get(url: &Url, within: Duration) -> Option<Value> {
    let answer = fetch(None, "GET", url.as_str(), &[("accept", "application/json")], None, within).await.ok()?;
    document(&answer).filter(|_| answer.status == 200)
}

fn document(answer: &Fetched) -> Option<Value> {
    serde_json::from_slice(&answer.body).ok().filter(Value::is_object)
}

/// Encodes a form as the query of a URL is encoded.
fn encoded(form: &[(&str, &str)]) -> String {
    let url = Url::parse_with_params("http://form/", form);
    url.ok().and_then(|url| url.query().map(str::to_owned)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::encoded;

    #[test]
    fn forms_are_encoded() {
        assert_eq!(encoded(&[("scope", "a b"), ("resource", "http://h/m")]), "scope=a+b&resource=http%3A%2F%2Fh%2Fm");
        assert_eq!(encoded(&[("", "a:b%")]), "=a%3Ab%25");
    }
}
