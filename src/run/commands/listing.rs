//! Requests a whole list of a server.

use serde_json::{Value, json};

use crate::{
    evidence::{End, Reply},
    session::{CallOptions, Session},
};

/// Maximum number of pages of one list.
const PAGES: usize = 1000;

/// The items in `field` of all pages, as far as `most` permits, and why the list is incomplete.
pub async fn list(
    session: &Session,
    (command, method, field): (&str, &str, &str),
    uri: Option<&str>,
    most: usize,
) -> (Vec<Value>, Option<String>) {
    let mut items = Vec::new();
    let mut cursor = Value::Null;
    for _ in 0..PAGES {
        let mut params = json!({});
        if let Some(uri) = uri {
            params["uri"] = json!(uri);
        }
        if cursor.is_string() {
            params["cursor"] = cursor.clone();
        }
        let reply = session.call(command, method, Some(params), CallOptions::default()).await;
        let (End::Result, Some(result)) = (reply.end, &reply.result) else { return (items, Some(failure(reply))) };
        items.extend(result[field].as_array().into_iter().flatten().cloned());
        let following = result.get("nextCursor").cloned().unwrap_or_default();
        if following == cursor && cursor.is_string() {
            return (items, Some("its `nextCursor` repeats".to_owned()));
        }
        if !following.is_string() || items.len() > most {
            return (items, None);
        }
        cursor = following;
    }
    (items, Some(format!("it has more than {PAGES} pages")))
}

/// Why a request got no result.
pub fn failure(reply: Reply) -> String {
    let error = reply.error.as_ref().map(|error| format!("error {} {}", error["code"], error["message"]));
    error.or(reply.why).unwrap_or_else(|| "no response".to_owned())
}
