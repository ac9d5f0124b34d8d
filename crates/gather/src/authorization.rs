//! Determines whether a server requires authorization, and the facts that suites need to judge it.
//!
//! A request without a token shows that. A server that responds normally requires none. A 401 without OAuth metadata
//! may be a private agreement, which the specification leaves to the parties.

use serde_json::{Value, json};

use conform_model::evidence::{End, Reply, RunContext};
use conform_session::Conversation;
use conform_wire::{HttpRequest, target::Target};

const BY: &str = "authorization";
const ID: &str = "mcp-conform-bare";
const SESSION: &str = "mcp-session-id";
const RESOURCE: &str = "/.well-known/oauth-protected-resource";
const SERVER: &str = "/.well-known/oauth-authorization-server";

/// Adds to the facts:
/// - `endpoint`: the possible URLs of metadata, and whether the path ends in a slash;
/// - `NAME_token`: `header` and `token` of each configured token, as a placeholder;
/// - `authorization`: whether it is `required`, with which `challenges`, the `places` where metadata may be, and
///   whether some is `published`: without it, a bearer token may be a private agreement, too.
pub async fn authorization(context: &mut RunContext, conversation: &Conversation, target: &Target) {
    let Some(url) = target.start.url().filter(|_| target.start.capabilities().stream_per_request) else { return };
    for token in &target.tokens {
        let stand_in = token.stand_in();
        context.facts[format!("{}_token", token.name)] =
            json!({ "header": format!("Bearer {stand_in}"), "token": stand_in });
    }
    let shook_hands = End::of(&context.server["hello"]) == Some(End::Result);
    let given =
        target.start.headers().iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization")) || url.contains('@');
    if shook_hands && !given {
        context.facts["authorization"] = json!({ "required": false });
        return;
    }
    context.facts["endpoint"] = endpoint(url);
    let asking = Asking { conversation, context };
    let bare = asking.bare().await;
    let served = bare.end == End::Result;
    let http = bare.http;
    // With a token, the same request succeeded, so any other outcome is a rejection for lack of a token.
    let turned_away = |status| status == 401 || (shook_hands && !served && status < 500 && status != 429);
    let required = http.as_ref().is_some_and(|http| turned_away(http.status));
    let challenges = http.map(|http| http.challenges).unwrap_or_default();
    let asks = |challenge: &Value| matches!(challenge["scheme"].as_str(), Some("bearer" | "dpop"));
    let bearer = target.tokens.iter().any(|token| token.name == "own");
    let named = challenges.iter().filter_map(|challenge| challenge["resource_metadata"].as_str());
    let mut places: Vec<String> = named.map(str::to_owned).collect();
    places.extend(asking.usual_places());
    let points = challenges.iter().any(|challenge| challenge["resource_metadata"].is_string());
    let published = required && (points || asking.finds(&places).await);
    let protected = required && (bearer || challenges.iter().any(asks) || published);
    context.facts["authorization"] =
        json!({ "required": required, "challenges": challenges, "places": places, "published": published });
    context.protected = protected;
}

/// Well-known URLs for an endpoint.
fn endpoint(url: &str) -> Value {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = rest.find('/').map_or("", |at| &rest[at..]).split(['?', '#']).next().unwrap_or_default();
    let below = path.trim_end_matches('/');
    let mut endpoint = json!({
        "url": without_user(url),
        "slash": path.len() > 1 && path.ends_with('/'),
        "resource_at_root": RESOURCE,
        "server_at_root": SERVER,
    });
    if !below.is_empty() {
        endpoint["resource_by_path"] = json!(format!("{RESOURCE}{path}"));
        endpoint["server_by_path"] = json!(format!("{SERVER}{path}"));
        endpoint["server_below_path"] = json!(format!("{below}{SERVER}"));
    }
    endpoint
}

/// The URL without query, user name and password.
fn without_user(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (host, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    format!("{scheme}://{}{path}", host.rsplit('@').next().unwrap_or_default())
}

struct Asking<'a> {
    conversation: &'a Conversation,
    context: &'a RunContext,
}

impl Asking<'_> {
    /// A request that lacks only authorization.
    async fn bare(&self) -> Reply {
        let revision = self.context.revision;
        let capabilities = &self.context.client["capabilities"];
        let body = if revision.is_modern() {
            json!({ "jsonrpc": "2.0", "id": ID, "method": "server/discover", "params": { "_meta": {
                "io.modelcontextprotocol/protocolVersion": revision,
                "io.modelcontextprotocol/clientCapabilities": capabilities,
            } } })
        } else {
            let client = json!({ "name": conform_model::PROGRAM, "version": conform_model::VERSION });
            json!({ "jsonrpc": "2.0", "id": ID, "method": "initialize", "params": {
                "protocolVersion": revision, "capabilities": capabilities, "clientInfo": client,
            } })
        };
        let headers = [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
        let reply = self.ask("POST", None, &headers, body).await;
        let session = reply.http.as_ref().and_then(|http| http.headers.get(SESSION)).cloned();
        let within: Vec<_> = headers.into_iter().chain(session.as_deref().map(|id| (SESSION, id))).collect();
        // Some servers accept the first request without a token, but no later one.
        let next = match reply.end {
            End::Result => Some(self.ask("POST", None, &within, self.second()).await),
            _ => None,
        };
        // A server that accepts every client has opened a session, which is not needed.
        if let Some(session) = &session {
            self.ask("DELETE", None, &[(SESSION, session)], Value::Null).await;
        }
        let refused = |reply: &Reply| reply.http.as_ref().is_some_and(|http| http.status == 401);
        next.filter(refused).unwrap_or(reply)
    }

    /// A request that can follow the first one.
    fn second(&self) -> Value {
        if !self.context.revision.is_modern() {
            return json!({ "jsonrpc": "2.0", "id": ID, "method": "ping" });
        }
        json!({ "jsonrpc": "2.0", "id": ID, "method": "tools/list", "params": { "_meta": {
            "io.modelcontextprotocol/protocolVersion": self.context.revision,
            "io.modelcontextprotocol/clientCapabilities": self.context.client["capabilities"],
        } } })
    }

    /// Where a client of the revision looks for metadata without a pointer to it.
    fn usual_places(&self) -> Vec<String> {
        let names: &[&str] = if self.context.revision.features().metadata_at_root {
            &["server_at_root", "resource_by_path", "resource_at_root"]
        } else {
            &["resource_by_path", "resource_at_root", "server_at_root"]
        };
        let endpoint = &self.context.facts["endpoint"];
        names.iter().filter_map(|name| endpoint[*name].as_str()).map(str::to_owned).collect()
    }

    async fn finds(&self, places: &[String]) -> bool {
        for place in places {
            let reply = self.ask("GET", Some(place), &[("Accept", "application/json")], Value::Null).await;
            let body = reply.body.unwrap_or_default();
            if body.get("authorization_servers").is_some() || body.get("issuer").is_some() {
                return true;
            }
        }
        false
    }

    async fn ask(&self, method: &str, url: Option<&str>, headers: &[(&str, &str)], body: Value) -> Reply {
        let request = HttpRequest {
            by: BY.to_owned(),
            method: method.to_owned(),
            url: url.map(str::to_owned),
            headers: headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            without: vec!["authorization".to_owned(), SESSION.to_owned()],
            body: (!body.is_null()).then(|| body.to_string().into_bytes()),
            ..HttpRequest::default()
        };
        self.conversation.session().await.http(request, &body, None, None).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn well_known_places_come_before_the_path_or_below_it() {
        let known = endpoint("https://me:pw@host:8/a/mcp?key=1");
        assert_eq!(known["url"], "https://host:8/a/mcp");
        assert_eq!(known["resource_by_path"], "/.well-known/oauth-protected-resource/a/mcp");
        assert_eq!(known["server_below_path"], "/a/mcp/.well-known/oauth-authorization-server");
        assert_eq!(known["slash"], false);
        let root = endpoint("http://host/");
        assert_eq!((root.get("resource_by_path"), &root["slash"]), (None, &json!(false)));
        assert_eq!(endpoint("http://host/mcp/")["slash"], true);
    }
}
