//! A server request to the client, in either form: an item of `$served`.

use serde::Serialize;
use serde_json::Value;

use super::{handled, inputs};

#[derive(Serialize)]
pub struct Item {
    /// Whether it was inside of a result.
    input: bool,
    method: Value,
    params: Value,
    id: Value,
    end: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Value>,
    offered: Value,
    frames: Vec<u64>,
    link: u32,
}

impl From<&handled::Item> for Item {
    fn from(handled: &handled::Item) -> Self {
        let handled::Item { params, id, end, result, error, offered, frames, link, .. } = handled;
        let (method, params, id, offered) =
            (handled.method.as_str().into(), params.clone(), id.clone(), offered.clone());
        let (result, error, frames) = (result.clone(), error.clone(), frames.clone());
        Self { input: false, method, params, id, end, result, error, offered, frames, link: *link }
    }
}

impl From<&inputs::Item> for Item {
    fn from(input: &inputs::Item) -> Self {
        let inputs::Item { method, params, response, offered, frames, link, .. } = input;
        let (method, params, offered, frames) = (method.clone(), params.clone(), offered.clone(), frames.clone());
        let (result, id) = (response.clone(), input.key.as_str().into());
        let end = if result.is_some() { "result" } else { "none" };
        Self { input: true, method, params, id, end, result, error: None, offered, frames, link: *link }
    }
}
