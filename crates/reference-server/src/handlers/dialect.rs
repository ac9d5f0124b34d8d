//! The versioned dialect: `resources/get`, which can report that nothing has changed.

use serde_json::{Value, json};

use crate::{
    context::Context,
    fail::Fail,
    handlers::{Params, resources::find},
};

pub fn get(context: &mut Context, params: Params) -> Result<Value, Fail> {
    let node = find(context, params.string("uri")?)?;
    let known = params.optional_string("version")?;
    let view = context.view();
    let resource = view.resource(&node);
    if known.is_some_and(|known| resource["version"] == known) {
        return Err(Fail::not_modified());
    }
    let payload = view.contents(&node, context.content).into_iter().next().unwrap_or_default();
    let mut contents = json!({ "contentType": payload["mimeType"] });
    for (name, dialect) in [("text", "content"), ("blob", "blob")] {
        if let Some(value) = payload.get(name) {
            contents[dialect] = value.clone();
        }
    }
    Ok(json!({ "resource": resource, "contents": contents }))
}
