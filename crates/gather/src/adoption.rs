//! Determines which proposals a run judges: the named ones and, by default, those that the server supports.
//!
//! No capability declares them, so requests are sent to which only a supporting server responds. Servers respond to
//! unknown methods in different ways. So the response is compared with that to a method that cannot exist.

use serde_json::{Value, json};
use tokio::join;

use conform_model::evidence::{End, Reply, RunContext};
use conform_session::{CallOptions, Conversation};
use conform_suite::{SURVEY, plan::Proposals};

const BY: &str = "adoption";

/// Sends requests for the known proposals that were not selected by name.
pub async fn adoption(
    wanted: &Proposals,
    known: &[&str],
    context: &RunContext,
    conversation: &Conversation,
) -> Vec<String> {
    let mut judged = wanted.named.clone();
    let open = |name: &str| known.contains(&name) && !wanted.named.iter().any(|named| named == name);
    if !wanted.auto || !context.offers("resources") {
        return judged;
    }
    let asking = Asking { conversation, survey: context.saves.get(SURVEY).unwrap_or(&Value::Null) };
    let shown = join!(
        async { if open("sep-2093") { Some(asking.shows_capabilities().await) } else { None } },
        async { if open("sep-prefix") { Some(asking.filters().await) } else { None } },
        async { if open("dialect-versioned") { Some(asking.has_versions().await) } else { None } },
    );
    let all = [("sep-2093", shown.0), ("sep-prefix", shown.1), ("dialect-versioned", shown.2)];
    judged.extend(all.into_iter().filter(|(_, shown)| *shown == Some(true)).map(|(name, _)| name.to_owned()));
    judged
}

struct Asking<'a> {
    conversation: &'a Conversation,
    survey: &'a Value,
}

impl Asking<'_> {
    async fn shows_capabilities(&self) -> bool {
        let has_form = |capabilities: &Value| {
            let known = |name: &String| matches!(name.as_str(), "list" | "subscribe");
            capabilities.as_object().is_some_and(|members| members.is_empty() || members.keys().any(known))
        };
        self.listed().iter().any(|resource| resource.get("capabilities").is_some_and(has_form))
            // If it lists nothing, it may return an error for anything.
            || self.answers("resources/metadata", |result| match result {
                Some(result) => result["resource"].is_object(),
                None => self.listed().is_empty(),
            }).await
    }

    /// A server with `resources/read` may also accept another name for it.
    async fn has_versions(&self) -> bool {
        let has_form = |result: &Value| result["resource"].is_object() || result["contents"].is_object();
        let reads = self.survey["reads"]
            .as_array()
            .is_some_and(|reads| reads.iter().any(|read| End::of(&read["reply"]) == Some(End::Result)));
        self.answers("resources/get", |result| !reads || result.is_some_and(has_form)).await
    }

    async fn filters(&self) -> bool {
        let templates = self.survey["templates"]["items"].as_array().map(Vec::as_slice).unwrap_or_default();
        self.heeds_prefix("resources/list", "resources", "uri", self.listed()).await
            || self.heeds_prefix("resources/templates/list", "resourceTemplates", "uriTemplate", templates).await
    }

    /// A prefix that matches nothing must empty the list. If the server responds differently, a whole URI as prefix
    /// must shorten it.
    async fn heeds_prefix(&self, method: &str, member: &str, key: &str, listed: &[Value]) -> bool {
        let Some(last) = listed.last().and_then(|item| item[key].as_str()) else { return false };
        let first_page = async |params| Some(self.ask(method, params).await.result?[member].as_array()?.clone());
        let reply = self.ask(method, json!({ "prefix": "mcp-conform-nobody-has-this:" })).await;
        let result = reply.result.unwrap_or_default();
        if result[member].as_array().is_some_and(Vec::is_empty) {
            // The first page of a list may be empty without a prefix, too.
            return result.get("nextCursor").is_none()
                || first_page(json!({})).await.is_some_and(|page| !page.is_empty());
        }
        // Only first pages are compared: a server whose cursor leads back to the first page lists everything twice.
        let begins = |item: &Value| item[key].as_str().is_some_and(|key| key.starts_with(last));
        let found = first_page(json!({ "prefix": last })).await.unwrap_or_default();
        !found.is_empty()
            && found.iter().all(begins)
            && first_page(json!({})).await.is_some_and(|page| !page.iter().all(begins))
    }

    /// Whether the server supports the method: its response differs from that to an unknown method, and a result has
    /// the expected form.
    async fn answers(&self, method: &str, is_meant: impl Fn(Option<&Value>) -> bool) -> bool {
        let uri = self.listed().iter().find_map(|resource| resource["uri"].as_str());
        let params = json!({ "uri": uri.unwrap_or("mcp-conform-none://nowhere/at-all") });
        let reply = self.ask(method, params.clone()).await;
        match (reply.end, code(&reply)) {
            (End::Error, Some(-32601)) => false,
            (End::Result | End::Error, _) => {
                let other = self.ask("mcp-conform/unknown", params).await;
                (reply.end, code(&reply)) != (other.end, code(&other)) && is_meant(reply.result.as_ref())
            }
            _ => false,
        }
    }

    async fn ask(&self, method: &str, params: Value) -> Reply {
        self.conversation.session().await.call(BY, method, Some(params), CallOptions::default()).await
    }

    fn listed(&self) -> &[Value] {
        self.survey["resources"]["items"].as_array().map(Vec::as_slice).unwrap_or_default()
    }
}

fn code(reply: &Reply) -> Option<i64> {
    reply.error.as_ref()?["code"].as_i64()
}
