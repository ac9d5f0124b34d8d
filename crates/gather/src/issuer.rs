//! Where the metadata of an authorization server can be.

use serde_json::{Value, json};

use conform_session::Conversation;
use conform_wire::HttpRequest;

const OAUTH: &str = "/.well-known/oauth-authorization-server";
const OPENID: &str = "/.well-known/openid-configuration";

/// The fact `issuer`:
/// - `url`, as the user gave it, and `other_url`, the same with or without a slash at the end;
/// - `places`, the paths where MCP clients look for metadata, in their order: `url` and `kind` (`oauth` or `openid`).
pub fn issuer(url: &str) -> Value {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = rest.find('/').map_or("", |at| &rest[at..]).split(['?', '#']).next().unwrap_or_default();
    let path = path.trim_end_matches('/');
    let place = |kind: &str, url: String| json!({ "url": url, "kind": kind });
    let mut places = vec![place("oauth", format!("{OAUTH}{path}")), place("openid", format!("{OPENID}{path}"))];
    if !path.is_empty() {
        places.push(place("openid", format!("{path}{OPENID}")));
    }
    let other_url = url.strip_suffix('/').map_or_else(|| format!("{url}/"), str::to_owned);
    json!({ "url": url, "other_url": other_url, "places": places })
}

/// The fact `metadata`: the first document that a client finds, among those that were gathered for the places.
pub fn issuer_metadata(documents: &Value) -> Value {
    let mut bodies = documents.as_array().into_iter().flatten().map(|entry| &entry["reply"]["body"]);
    bodies.find(|body| body["issuer"].is_string()).cloned().unwrap_or_else(|| json!({}))
}

/// The fact `scopes`: what authorization requests name as `scope`, or null. `usual` is that of the user, or `openid`, without
/// which some servers grant nothing; `unknown` has one that does not exist. Where `offline_access` exists, `OpenID` Connect
/// makes refresh tokens depend on it and on `prompt`.
pub fn scopes(metadata: &Value, given: Option<&str>) -> Value {
    let listed = metadata["scopes_supported"].as_array().map(Vec::as_slice).unwrap_or_default();
    let lists = |name: &str| listed.iter().any(|scope| scope == name);
    let usual = given.or_else(|| lists("openid").then_some("openid"));
    let with = |more: &str| usual.map_or_else(|| more.to_owned(), |usual| format!("{usual} {more}"));
    let is_offline = lists("offline_access") && !usual.is_some_and(|usual| usual.contains("offline_access"));
    json!({
        "usual": usual,
        "unknown": with("mcp-conform-unknown"),
        "offline": if is_offline { Some(with("offline_access")) } else { usual.map(str::to_owned) },
        "prompt": lists("offline_access").then_some("consent"),
    })
}

/// Deletes the clients that a suite registered, and returns the ids of those that stay.
pub async fn unregister(conversation: &Conversation, by: &str, saves: &Value) -> Vec<String> {
    let saved = saves.as_object().into_iter().flat_map(|saves| saves.values());
    let replies = saved.flat_map(|saved| match saved {
        Value::Array(entries) => entries.iter().map(|entry| &entry["reply"]).collect(),
        reply => vec![reply],
    });
    let mut left = Vec::new();
    for client in replies.map(|reply| &reply["body"]) {
        let Some(id) = client["client_id"].as_str() else { continue };
        let place = client["registration_client_uri"].as_str().zip(client["registration_access_token"].as_str());
        let deleted = match place {
            Some((uri, token)) => {
                let request = HttpRequest {
                    by: by.to_owned(),
                    method: "DELETE".to_owned(),
                    url: Some(uri.to_owned()),
                    headers: vec![("Authorization".to_owned(), format!("Bearer {token}"))],
                    ..HttpRequest::default()
                };
                let reply = conversation.session().await.http(request, &Value::Null, None, None).await;
                reply.http.is_some_and(|http| (200..300).contains(&http.status))
            }
            None => false,
        };
        if !deleted {
            left.push(id.to_owned());
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_an_issuer_comes_after_the_well_known_part_or_before() {
        let urls = |url: &str| {
            let issuer = issuer(url);
            let places = issuer["places"].as_array().expect("a list");
            places.iter().map(|place| place["url"].as_str().expect("a path").to_owned()).collect::<Vec<_>>()
        };
        let root = ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"];
        assert_eq!(urls("https://auth.example.com"), root);
        assert_eq!(urls("https://auth.example.com/"), root);
        let below = [
            "/.well-known/oauth-authorization-server/a",
            "/.well-known/openid-configuration/a",
            "/a/.well-known/openid-configuration",
        ];
        assert_eq!(urls("https://auth.example.com:8/a"), below);
        assert_eq!(issuer("https://a/b/")["other_url"], "https://a/b");
    }

    #[test]
    fn scopes_are_those_of_the_user_or_of_openid() {
        let openid = json!({ "scopes_supported": ["openid", "offline_access"] });
        let expected = json!({ "usual": "openid", "unknown": "openid mcp-conform-unknown", "offline": "openid offline_access", "prompt": "consent" });
        assert_eq!(scopes(&openid, None), expected);
        let own = json!({ "usual": "a b", "unknown": "a b mcp-conform-unknown", "offline": "a b", "prompt": null });
        assert_eq!(scopes(&json!({}), Some("a b")), own);
    }
}
