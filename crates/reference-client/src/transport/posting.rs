//! Correct HTTP requests, before a fault changes them.

use std::rc::Rc;

use serde_json::{Map, Value, json};

use crate::{
    behaviour::decisions::Posting,
    message,
    meta::VERSION_KEY,
    state::Client,
    transport::headers::{argument, encode, text_of},
};
use conform_faults::Edit;

const BOTH: &str = "application/json, text/event-stream";

pub fn with_message(client: &Rc<Client>, url: &str, message: &Value) -> Posting {
    let mut body = message.to_string().into_bytes();
    if let Some(hook) = client.ways.spell {
        hook(&mut client.memory.borrow_mut(), message, &mut body);
    }
    let mut posting =
        Posting { method: "POST".to_owned(), url: url.to_owned(), headers: Vec::new(), body, message: message.clone() };
    posting.set("content-type", "application/json");
    posting.set("accept", BOTH);
    if client.is_modern() {
        add_modern(client, message, &mut posting);
    } else if message::method(message) != Some("initialize") {
        add_legacy(client, &mut posting);
    }
    finish(client, posting)
}

pub fn without_message(client: &Rc<Client>, method: &str, url: &str, last_event_id: Option<String>) -> Posting {
    let mut posting = Posting {
        method: method.to_owned(),
        url: url.to_owned(),
        headers: Vec::new(),
        body: Vec::new(),
        message: Value::Null,
    };
    if method == "GET" {
        posting.set("accept", "text/event-stream");
    }
    add_legacy(client, &mut posting);
    if let Some(id) = last_event_id {
        posting.set("last-event-id", id);
    }
    finish(client, posting)
}

fn finish(client: &Rc<Client>, mut posting: Posting) -> Posting {
    if let Some(token) = &client.held.borrow().access {
        posting.set("authorization", format!("Bearer {token}"));
    }
    if let Some(token) = client.held.borrow().refresh.as_ref().filter(|_| client.ways.oauth.shows_refresh) {
        posting.set("x-refresh-token", token.as_str());
    }
    posting.set("user-agent", concat!("mcp-conform-act/", env!("CARGO_PKG_VERSION")));
    if client.ways.habits.own_extras {
        posting.set("x-request-origin", "reference-client");
        posting.set("accept-language", "en");
        posting.set("cache-control", "no-store");
    }
    if let Some(edit) = client.ways.edit.filter(|edit| edit.is_about_http()) {
        edit_http(client, edit, &mut posting);
    }
    if let Some(hook) = client.ways.post {
        client.with(|memory, scene| hook(memory, scene, &mut posting));
    }
    posting
}

fn edit_http(client: &Client, edit: &Edit, posting: &mut Posting) {
    let text = |bytes: &[u8]| Value::from(String::from_utf8_lossy(bytes));
    let headers: Map<_, _> = posting.headers.iter().map(|(name, value)| (name.clone(), text(value))).collect();
    let mut request = json!({
        "method": posting.method, "url": posting.url, "headers": headers, "message": posting.message,
    });
    edit.pass_http(&mut client.memory.borrow_mut().edited, &mut request);
    let changed = |part: &Value| part.as_str().unwrap_or_default().to_owned();
    (posting.method, posting.url) = (changed(&request["method"]), changed(&request["url"]));
    let headers = request["headers"].as_object().into_iter().flatten();
    posting.headers = headers.map(|(name, value)| (name.clone(), changed(value).into_bytes())).collect();
}

fn add_legacy(client: &Rc<Client>, posting: &mut Posting) {
    let state = client.state.borrow();
    if let Some(session) = &state.session {
        posting.set("mcp-session-id", session.as_str());
    }
    if let Some(revision) = state.revision.filter(|revision| revision.features().version_header) {
        posting.set("mcp-protocol-version", revision.as_str());
    }
}

fn add_modern(client: &Rc<Client>, message: &Value, posting: &mut Posting) {
    let stated = message["params"]["_meta"][VERSION_KEY].as_str();
    posting.set("mcp-protocol-version", stated.unwrap_or(client.stated().as_str()));
    let Some(method) = message::method(message) else { return };
    posting.set("mcp-method", method);
    let params = &message["params"];
    let name = match method {
        "tools/call" | "prompts/get" => params["name"].as_str(),
        "resources/read" => params["uri"].as_str(),
        "tasks/get" | "tasks/update" | "tasks/cancel" => params["taskId"].as_str(),
        _ => None,
    };
    if let Some(name) = name {
        posting.set("mcp-name", encode(name));
    }
    if method == "tools/call" {
        let state = client.state.borrow();
        for param in state.tools.get(name.unwrap_or_default()).into_iter().flatten() {
            if let Some(text) = argument(&params["arguments"], param).and_then(text_of) {
                posting.set(&format!("mcp-param-{}", param.name).to_ascii_lowercase(), encode(&text));
            }
        }
    }
}
