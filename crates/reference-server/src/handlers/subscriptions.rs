//! Subscriptions: by resource for the legacy revisions, by an open `subscriptions/listen` for the modern ones.

use serde_json::{Map, Value, json};

use crate::{
    context::Context,
    fail::Fail,
    handlers::{Params, identity, resources::find, task_extension::demand},
    session::{Listen, SUBSCRIPTION_ID, Session},
};
use conform_model::revision::Revision;

/// Maximum number of open subscriptions on one connection.
const MOST_LISTENS: usize = 100;

pub fn subscribe(context: &mut Context, params: Params) -> Result<Value, Fail> {
    if let Some(uris) = dialect_uris(context, params)? {
        for uri in uris {
            context.session.subscribe_version(uri);
        }
    } else {
        let node = find(context, params.string("uri")?)?;
        context.session.subscribe(&node.uri);
    }
    Ok(Map::new().into())
}

pub fn unsubscribe(context: &mut Context, params: Params) -> Result<Value, Fail> {
    if let Some(uris) = dialect_uris(context, params)? {
        for uri in uris {
            context.session.unsubscribe_version(uri);
        }
    } else {
        context.session.unsubscribe(params.string("uri")?);
    }
    Ok(Map::new().into())
}

/// The versioned dialect subscribes to several resources at once.
fn dialect_uris<'a>(context: &Context, params: Params<'a>) -> Result<Option<Vec<&'a str>>, Fail> {
    let wanted = context.proposals.versioned && !params.0.contains_key("uri");
    wanted.then(|| params.strings("uris")).transpose()
}

/// The acknowledgement lists what will be sent: the request, without resources and tasks that do not exist.
pub fn listen(context: &mut Context, params: Params) -> Result<Value, Fail> {
    let filter = params.object("notifications")?;
    let mut honoured = Map::new();
    let mut wanted = |name: &str| -> Result<bool, Fail> {
        let wanted = filter.optional_bool(name)?.unwrap_or_default();
        if wanted {
            honoured.insert(name.to_owned(), json!(true));
        }
        Ok(wanted)
    };
    let (tools, prompts) = (wanted("toolsListChanged")?, wanted("promptsListChanged")?);
    let resources = wanted("resourcesListChanged")?;
    let uris = filter.optional_strings("resourceSubscriptions")?;
    let tasks = filter.optional_strings("taskIds")?;
    if tasks.is_some() {
        demand(context)?;
    }
    if context.session.listens.len() >= MOST_LISTENS {
        return Err(Fail::request("Too many subscriptions are open."));
    }
    if context.session.listens.iter().any(|listen| listen.id == *context.id) {
        return Err(Fail::request("A request of this id is open."));
    }
    let known = uris.iter().flatten().filter(|uri| context.content.find(uri).is_some());
    let known: Vec<_> = known.map(|&uri| uri.to_owned()).collect();
    if uris.is_some() {
        honoured.insert("resourceSubscriptions".to_owned(), json!(known));
    }
    let uris = known.into_iter().collect();
    let known = tasks.iter().flatten().filter(|id| context.content.tasks.find(id).is_some());
    let known: Vec<_> = known.map(|&id| id.to_owned()).collect();
    if tasks.is_some() {
        honoured.insert("taskIds".to_owned(), json!(known));
    }
    let tasks = known.into_iter().collect();
    context.session.listens.push(Listen { id: context.id.clone(), resources, tools, prompts, uris, tasks });
    let params = json!({ "_meta": { SUBSCRIPTION_ID: context.id }, "notifications": honoured });
    context.notify("notifications/subscriptions/acknowledged", &params);
    context.open = true;
    Ok(Value::Null)
}

/// The final responses to the subscriptions that the server closes, with their ids.
pub fn closed(session: &mut Session) -> Vec<(Value, Value)> {
    let listens = std::mem::take(&mut session.listens);
    let server = identity(Revision::V2026_07_28);
    let meta = |id: &Value| json!({ SUBSCRIPTION_ID: id, "io.modelcontextprotocol/serverInfo": server });
    let result = |id: &Value| json!({ "resultType": "complete", "_meta": meta(id) });
    listens.into_iter().map(|listen| (listen.id.clone(), result(&listen.id))).collect()
}
