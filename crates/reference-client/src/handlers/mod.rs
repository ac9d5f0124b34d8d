//! The client's results for requests of the server, both legacy requests and those inside of a result.

mod elicitation;
mod sampling;

use std::{rc::Rc, time::Duration};

use serde_json::{Value, json};

use crate::{
    message::{INVALID_PARAMS, METHOD_NOT_FOUND},
    state::Client,
};

/// The code and the message of an error.
pub type Refusal = (i64, String);

pub fn handle(client: &Rc<Client>, method: &str, params: &Value) -> Result<Value, Refusal> {
    let (own, modern, revision) = {
        let state = client.state.borrow();
        (state.own.clone(), state.modern, client.options.revision)
    };
    let revision = client.state.borrow().revision.unwrap_or(revision);
    let declared = |name: &str| own.get(name).is_some();
    match method {
        "ping" if !modern => Ok(json!({})),
        "roots/list" if declared("roots") => Ok(roots(client)),
        "sampling/createMessage" if declared("sampling") => {
            sampling::create(&client.options.answers, &own["sampling"], revision, params)
        }
        "elicitation/create" if declared("elicitation") => {
            elicitation::create(client.options.answers.elicitation, &own["elicitation"], revision, params)
        }
        _ => Err((METHOD_NOT_FOUND, "Method not found".to_owned())),
    }
}

fn roots(client: &Client) -> Value {
    let roots = client.state.borrow().roots.clone();
    let named = |uri: &String| {
        let name = uri.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        if name.is_empty() { json!({ "uri": uri }) } else { json!({ "uri": uri, "name": name }) }
    };
    json!({ "roots": roots.iter().map(named).collect::<Vec<_>>() })
}

/// The simulated time that a user needs for a request.
pub fn delay(client: &Client, method: &str) -> Duration {
    match method {
        "sampling/createMessage" | "elicitation/create" => client.options.answers.delay,
        _ => Duration::ZERO,
    }
}

fn unfit(what: &str) -> Refusal {
    (INVALID_PARAMS, format!("Invalid params: {what}"))
}
