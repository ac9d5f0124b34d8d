//! One action of one client.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use serde_json::{Value, json};

use super::listed::Listed;
use crate::{
    evidence::{End, SKILLS},
    revision::Revision,
    session::{CallOptions, Session},
    suite::{Action, Do, How},
};

/// Maximum number of pages of a list.
const PAGES: usize = 20;
/// How long to wait for a response after one did not arrive within the request timeout. The rules need 4 s.
const SHORT: Duration = Duration::from_secs(5);

/// What identifies a request.
#[derive(Clone)]
pub struct Names {
    pub token: u64,
    /// Instead of the next one.
    pub id: Option<Value>,
    pub listed: Listed,
    pub timed_out: Arc<AtomicBool>,
}

pub const fn time(ms: usize) -> Duration {
    Duration::from_millis(ms as u64)
}

/// One action of one client, if the revision has its request and the server declares the capability.
pub async fn once(session: Arc<Session>, Action { what, how }: Action, Names { token, id, listed, timed_out }: Names) {
    let declared = |capability: &str| {
        let result = session.hello.as_ref().and_then(|hello| hello.result.as_ref());
        let found = result.and_then(|result| result["capabilities"].pointer(&format!("/{capability}")));
        found.is_some_and(|found| *found != Value::Bool(false) && !found.is_null())
    };
    let modern = session.revision().is_some_and(Revision::is_modern);
    let (method, capability) = match &what {
        Do::Call { .. } => ("tools/call", Some("tools")),
        Do::Get { .. } => ("prompts/get", Some("prompts")),
        Do::Read { .. } => ("resources/read", Some("resources")),
        Do::Skill { .. } => ("skills/get", Some(SKILLS.capability)),
        Do::Directory { .. } => {
            ("resources/directory/read", Some("extensions/io.modelcontextprotocol~1skills/directoryRead"))
        }
        Do::Complete { .. } => match session.revision().map(Revision::features) {
            Some(features) if features.completions_capability => ("completion/complete", Some("completions")),
            // Older revisions have no capability for it.
            _ => ("completion/complete", Some("prompts")),
        },
        Do::Subscribe { .. } if !modern => ("resources/subscribe", Some("resources/subscribe")),
        Do::Unsubscribe { .. } if !modern => ("resources/unsubscribe", Some("resources/subscribe")),
        Do::SetLevel { .. } if !modern => ("logging/setLevel", Some("logging")),
        Do::Ping if !modern => ("ping", None),
        Do::List { of, .. } => (of.method, Some(of.capability)),
        Do::Roots { .. } if !modern => return notify(&session, "notifications/roots/list_changed", how).await,
        Do::Notify { method } if !modern => return notify(&session, method, how).await,
        _ => return,
    };
    if capability.is_some_and(|capability| !declared(capability)) {
        return;
    }
    let mut params = how.more.unwrap_or_default();
    if params.contains_key("task") && !declared("tasks") {
        return;
    }
    // The arguments of an action have the names of the params of its request.
    if let Value::Object(own) = json!(what) {
        params.extend(own.into_iter().filter(|(name, _)| !["do", "of", "bytes"].contains(&name.as_str())));
    }
    for (list, place) in [("tools", "/name"), ("prompts", "/name"), ("prompts", "/ref/name")] {
        let fits =
            matches!((&what, list), (Do::Call { .. }, "tools") | (Do::Get { .. } | Do::Complete { .. }, "prompts"));
        let mut given = Value::Object(params);
        if let Some(name) = given.pointer_mut(place).filter(|_| fits) {
            *name = json!(listed.name(list, name.as_str().unwrap_or_default()));
        }
        params = given.as_object().cloned().unwrap_or_default();
    }
    if let Do::Call { bytes: Some(bytes), .. } = what {
        let text: String = "0123456789abcdé\n".chars().cycle().take(bytes).collect();
        params.insert("arguments".into(), json!({ "text": text }));
    }
    let mut meta = how.meta.unwrap_or_default();
    if how.progress == Some(true) {
        meta.insert("progressToken".into(), progress_token(token));
    }
    if !meta.is_empty() {
        params.insert("_meta".into(), meta.into());
    }
    // A list is requested page by page.
    let (pages, id) = if matches!(what, Do::List { .. } | Do::Directory { .. }) { (PAGES, None) } else { (1, id) };
    let timeout = if timed_out.load(Relaxed) {
        Some(how.timeout.map_or(SHORT, |own| time(own).min(SHORT)))
    } else {
        how.timeout.map(time)
    };
    let patience = how.cancel_after.map(time);
    let options = CallOptions { id, timeout, patience, ..CallOptions::default() };
    for _ in 0..pages {
        let given = (!params.is_empty()).then(|| Value::Object(params.clone()));
        let reply = session.converse("drive", method, given, options.clone(), how.respond).await;
        if reply.end == End::Timeout && patience.is_none() {
            timed_out.store(true, Relaxed);
        }
        if let (Do::List { of, .. }, Some(result)) = (&what, &reply.result) {
            listed.learn(of, result);
        }
        if let Some(task) = reply.result.as_ref().and_then(|result| result.pointer("/task/taskId")) {
            follow(&session, task, patience.is_some()).await;
        }
        let cursor = reply.result.as_ref().and_then(|result| result.get("nextCursor"));
        let Some(cursor) = cursor else { return };
        params.insert("cursor".to_owned(), cursor.clone());
    }
}

async fn notify(session: &Session, method: &str, how: How) {
    let mut params = how.more.unwrap_or_default();
    params.extend(how.meta.map(|meta| ("_meta".to_owned(), meta.into())));
    session.notify("drive", method, (!params.is_empty()).then(|| params.into())).await;
}

/// Requests everything about a task. It is cancelled at once, or when it has ended, which fails.
async fn follow(session: &Session, task: &Value, at_once: bool) {
    let methods: &[&str] = if at_once {
        &["tasks/get", "tasks/cancel", "tasks/list", "tasks/get", "tasks/result"]
    } else {
        &["tasks/get", "tasks/list", "tasks/result", "tasks/get", "tasks/cancel"]
    };
    for &method in methods {
        let mut params = json!({ "_meta": { "com.example/trace": method } });
        if method != "tasks/list" {
            params["taskId"] = task.clone();
        }
        session.call("drive", method, Some(params), CallOptions::default()).await;
    }
}

/// Tokens that programs often confuse: texts of digits, numbers, the largest exact integer.
fn progress_token(number: u64) -> Value {
    match number % 4 {
        0 => json!(number),
        1 => json!(format!("front.{number}/é")),
        2 => json!(9_007_199_254_740_991 - number),
        _ => json!(number.to_string()),
    }
}
