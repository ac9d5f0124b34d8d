//! One request, or one notification.

use std::time::Duration;

use serde_json::{Value, json};

use super::step::Stage;
use crate::{
    session::CallOptions,
    suite::{Call, Notify, Scope, Template},
};

pub async fn call(stage: &Stage<'_>, call: &Call, scope: &Scope<'_>) -> Option<Value> {
    let method = call.method.resolve(scope).ok()?;
    let params = filled(call.with.as_ref(), scope)?;
    let patience = call.seconds.map(|seconds| Duration::from_secs_f64(seconds).min(stage.limits.request));
    let id = filled(call.id.as_ref(), scope)?;
    let options = CallOptions { id, plain: call.plain, patience, ..CallOptions::default() };
    let session = stage.conversation.session().await;
    Some(json!(session.call(&stage.suite.id, method.as_str()?, params, options).await))
}

pub async fn notify(stage: &Stage<'_>, notify: &Notify, scope: &Scope<'_>) -> Option<Value> {
    let params = filled(notify.with.as_ref(), scope)?;
    let session = stage.conversation.session().await;
    Some(json!(session.notify(&stage.suite.id, &notify.method, params).await))
}

pub async fn cancel(stage: &Stage<'_>, id: &Template, scope: &Scope<'_>) -> Option<Value> {
    let id = id.resolve(scope).ok()?;
    let session = stage.conversation.session().await;
    Some(json!(session.cancel(&stage.suite.id, &id).await?))
}

/// The template with its references replaced; the outer `None` where one of them has no value in this run.
#[expect(clippy::option_option, reason = "no template, and a template without a value, are different things")]
pub fn filled(template: Option<&Template>, scope: &Scope) -> Option<Option<Value>> {
    template.map(|template| template.resolve(scope).ok()).map_or(Some(None), |value| value.map(Some))
}
