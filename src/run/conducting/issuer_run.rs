//! One test of an authorization server: its metadata first, then the registration of clients, and then all others.

use serde_json::Value;

use super::{
    run_context::context,
    server_run::{ServerRun, not_run},
};
use crate::{
    error::Error,
    evidence::RunContext,
    gather::{issuer, issuer_metadata, scopes, unregister},
    revision::Revision,
    run::inputs::oauth_client::oauth_client,
    session::{Conversation, Unopened},
    suite::Suite,
};

/// The suite whose documents say where the endpoints of an authorization server are.
const METADATA: &str = "authorization-server.metadata";
/// The suite that registers clients, with this redirect URI, and saves the first one as `first`.
const REGISTRATION: &str = "authorization-server.registration";
const REDIRECT_URI: &str = "http://127.0.0.1:4999/callback";

impl ServerRun<'_> {
    /// Gathers for the suites about an authorization server, which knows no handshake.
    pub async fn issuer(&mut self, revision: Revision) -> Result<(), Unopened> {
        let opener = &self.executor.opener;
        let session = opener.connect_without_handshake(revision).await?;
        let mut context = context(None, session.transport(), revision, self.job);
        let url = self.job.target.start.url().unwrap_or_default();
        context.facts["issuer"] = issuer(url);
        let mut conversation = Some(Conversation::new(opener.clone(), session, revision));
        if let Some(metadata) = self.suites.iter().find(|suite| suite.id == METADATA) {
            let gathered = self.executor.suite(metadata, &context, &mut conversation, None, false).await?;
            self.keep(&mut context, gathered);
        }
        let documents = &context.saves.get(METADATA).unwrap_or(&Value::Null)["documents"];
        let statuses = documents.as_array().into_iter().flatten().map(|entry| &entry["reply"]["http"]["status"]);
        if statuses.into_iter().all(Value::is_null) {
            let why = documents[0]["reply"]["why"].as_str().unwrap_or("there was no HTTP response").to_owned();
            let help = "check the URL: it is the issuer, and not that of the metadata".to_owned();
            return Err(Error::Target { tried: format!("GET {url}"), came: why, help, refused: false }.into());
        }
        context.facts["metadata"] = issuer_metadata(documents);
        context.facts["scopes"] = scopes(&context.facts["metadata"], context.facts["scope"].as_str());
        self.gather_in_turn(&mut context, &mut conversation, |suite| suite.id == REGISTRATION).await?;
        // Without a client of the user, the rules about clients use one that has just been registered.
        let registered = |save: &str| {
            let client = &context.saves.get(REGISTRATION)?[save]["body"];
            let id = client["client_id"].as_str()?;
            Some((id.to_owned(), client["token_endpoint_auth_method"].clone()))
        };
        let (refreshing, others) = (registered("refreshing"), registered("first"));
        if context.facts.get("oauth_client").is_some() {
            // The user says that the client is public; whether the server has public clients, its metadata says.
            let methods = context.facts["metadata"]["token_endpoint_auth_methods_supported"].as_array();
            let method = methods.and_then(|methods| methods.iter().find(|method| *method == "none"));
            context.facts["oauth_client"]["method"] = method.cloned().unwrap_or_default();
        } else if let Some((id, method)) = refreshing.or_else(|| others.clone()) {
            context.facts["oauth_client"] = oauth_client(&id, REDIRECT_URI)?;
            context.facts["oauth_client"]["method"] = method;
        }
        if let Some((id, _)) = others.filter(|(id, _)| context.facts["oauth_client"]["id"] != id.as_str()) {
            context.facts["other_client"] = oauth_client(&id, REDIRECT_URI)?;
        }
        let others = |suite: &Suite| ![METADATA, REGISTRATION].contains(&suite.id.as_str());
        self.gather_in_turn(&mut context, &mut conversation, others).await?;
        if let (Some(conversation), Some(saves)) = (&conversation, context.saves.get(REGISTRATION)) {
            let left = unregister(conversation, REGISTRATION, saves).await;
            let told = format!("clients that were registered and that the server did not delete: {}", left.join(", "));
            self.note((!left.is_empty()).then_some(told));
        }
        self.note(failed_login(&context));
        self.executor.close(conversation, false).await;
        self.executor.endings.wait().await;
        self.note(not_run(&context));
        self.contexts.push(context);
        Ok(())
    }
}

/// Why no login led to the client, if so: then the rules about codes are not exercised.
fn failed_login(context: &RunContext) -> Option<String> {
    let saves = context.saves.values().filter_map(Value::as_object).flat_map(|saves| saves.values());
    let logins: Vec<&Value> = saves.filter(|saved| saved.get("login").is_some()).collect();
    let succeeded = |login: &&Value| login.pointer("/http/redirect/query/code").is_some();
    let why = logins.iter().find_map(|login| login["why"].as_str())?;
    (!logins.iter().any(succeeded)).then(|| format!("no login led to the client: {why}"))
}
