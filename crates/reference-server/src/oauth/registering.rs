//! The registration endpoint.

use hyper::{body::Bytes, http::request::Parts};
use serde_json::{Value, json};

use super::{
    Origin, REGISTRATION, Registration,
    book::Book,
    documents::{json_reply, marked},
};
use crate::http::Reply;

/// It has to be encoded before it is joined with an id by a colon.
const ODD: &str = ":%+ ä/";

pub fn register(book: &mut Book, at: Origin, _: &Parts, body: &Bytes) -> Reply {
    let settings = book.settings;
    let error = |status, error: &str| marked(json_reply(status, &json!({ "error": error })), REGISTRATION);
    if let Registration::Rejected(status, why) = settings.registration {
        return error(status, why);
    }
    let Ok(Value::Object(mut client)) = serde_json::from_slice::<Value>(body) else {
        return error(400, "invalid_client_metadata");
    };
    let wanted = client.get("token_endpoint_auth_method").and_then(Value::as_str);
    let wanted = wanted.filter(|method| settings.auth_methods.contains(method));
    let method = settings.assigned_method.or(wanted).unwrap_or(settings.auth_methods[0]).to_owned();
    let id = book.unique("client");
    let secret = (method != "none").then(|| {
        let odd = if settings.odd_secret { ODD } else { "" };
        let secret = book.unique("secret") + odd;
        book.keep("client secret", secret.clone(), at);
        secret
    });
    client.insert("client_id".to_owned(), json!(id));
    client.insert("client_id_issued_at".to_owned(), json!(crate::clock::now().as_second()));
    client.insert("token_endpoint_auth_method".to_owned(), json!(method));
    if let Some(secret) = &secret {
        client.insert("client_secret".to_owned(), json!(secret));
        client.insert("client_secret_expires_at".to_owned(), json!(0));
    }
    marked(json_reply(201, &Value::Object(client)), REGISTRATION)
}
