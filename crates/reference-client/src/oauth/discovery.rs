//! From a challenge to the metadata of the authorization server.

use std::rc::Rc;

use serde_json::{Value, json};

use super::{
    challenge::Challenge,
    errand::{Errand, Step},
    ways::{Compares, ResourcePlace, ServerPlace},
};
use crate::state::Client;

/// Origin and path of a URL.
pub fn split(url: &str) -> (&str, &str) {
    let after = url.find("://").map_or(0, |at| at + 3);
    let end = url[after..].find(['/', '?', '#']).map_or(url.len(), |at| after + at);
    let path = url[end..].split(['?', '#']).next().unwrap_or_default();
    (&url[..end], path)
}

pub fn same(one: &str, other: &str, compares: Compares) -> bool {
    let normal = |url: &str| {
        let (origin, path) = split(url);
        let path = path.trim_end_matches('/').replace("%74", "t");
        origin.to_ascii_lowercase() + &path
    };
    match compares {
        Compares::Exactly => one == other,
        Compares::Normalized => normal(one) == normal(other),
        Compares::Hosts => split(one).0.eq_ignore_ascii_case(split(other).0),
        Compares::Never => true,
    }
}

/// The metadata of the protected resource.
pub async fn resource(client: &Rc<Client>, challenge: &Challenge) -> Result<Value, String> {
    let ways = client.ways.oauth;
    let (origin, path) = split(&client.options.target);
    if ways.ignores_metadata {
        return Ok(json!({ "resource": client.options.target, "authorization_servers": [origin] }));
    }
    let place = |place: &ResourcePlace| {
        let path = if *place == ResourcePlace::Path { path } else { "" };
        format!("{origin}/.well-known/oauth-protected-resource{path}")
    };
    let mut urls: Vec<String> = ways.resource_places.iter().map(place).collect();
    let named = challenge.get("resource_metadata").map(str::to_owned);
    let at = if ways.well_known_first { urls.len() } else { 0 };
    urls.splice(at..at, named);
    for url in urls {
        let (head, document) = Errand::new(Step::ResourceMetadata, "GET", &url).send(client).await?;
        let servers = document["authorization_servers"].as_array().is_some_and(|servers| !servers.is_empty());
        if head.status != 200 || !servers {
            continue;
        }
        let resource = document["resource"].as_str().unwrap_or_default();
        let differs = ways.exact_resource && split(resource).0 != origin;
        if ways.checks_resource && (differs || !split(resource).0.eq_ignore_ascii_case(origin)) {
            return Err(format!("the metadata is that of {resource}"));
        }
        return Ok(document);
    }
    Err("no metadata of the server was found".to_owned())
}

/// The metadata of the authorization server.
pub async fn server(client: &Rc<Client>, issuer: &str) -> Result<Value, String> {
    let ways = client.ways.oauth;
    let (origin, path) = split(issuer);
    let path = path.trim_end_matches('/');
    let place = |place: &ServerPlace| match place {
        ServerPlace::OauthInserted => Some(format!("{origin}/.well-known/oauth-authorization-server{path}")),
        ServerPlace::OpenidInserted => Some(format!("{origin}/.well-known/openid-configuration{path}")),
        ServerPlace::OpenidAppended if path.is_empty() => None,
        ServerPlace::OpenidAppended => Some(format!("{origin}{path}/.well-known/openid-configuration")),
        ServerPlace::OauthRoot => Some(format!("{origin}/.well-known/oauth-authorization-server")),
    };
    for url in ways.places.iter().filter_map(place) {
        let (head, document) = Errand::new(Step::ServerMetadata, "GET", &url).send(client).await?;
        if head.status != 200 || !document.is_object() {
            continue;
        }
        let stated = document["issuer"].as_str().unwrap_or_default();
        if !same(stated, issuer, ways.compares) {
            return Err(format!("the metadata is that of {stated}"));
        }
        return Ok(document);
    }
    if ways.defaults {
        let at = |name: &str| format!("{origin}/{name}");
        return Ok(json!({
            "issuer": issuer, "authorization_endpoint": at("authorize"), "token_endpoint": at("token"),
            "registration_endpoint": at("register"), "code_challenge_methods_supported": ["S256"],
        }));
    }
    Err("the authorization server has no metadata".to_owned())
}
