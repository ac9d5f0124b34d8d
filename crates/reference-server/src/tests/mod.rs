//! The server without a transport: messages in, messages out.

mod faults;
mod http;
mod legacy;
mod modern;
mod task_extension;
mod tasks;

use serde_json::{Value, json};

use crate::{
    dispatch::Server,
    options::{Options, Transport},
    session::Session,
};
use conform_model::revision::Revision;

/// A server with one session on it.
struct Talk {
    server: Server,
    session: Session,
    id: i64,
    revision: Revision,
}

impl Talk {
    fn with(options: Options, revision: Revision) -> Self {
        let server = Server::new(options).expect("options that make a server");
        let session = Session::new(Transport::Stdio);
        let mut talk = Self { server, session, id: 0, revision };
        if !revision.is_modern() {
            talk.initialize(revision.as_str());
        }
        talk
    }

    fn new(revision: Revision) -> Self {
        Self::with(Options::default(), revision)
    }

    fn faulty(fault: &str, revision: Revision) -> Self {
        Self::with(Options { fault: Some(fault.to_owned()), ..Options::default() }, revision)
    }

    fn initialize(&mut self, version: &str) -> Value {
        let client = json!({ "name": "test", "version": "1" });
        let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client });
        let request = json!({ "jsonrpc": "2.0", "id": "init", "method": "initialize", "params": params });
        self.send(&request).pop().expect("an answer to initialize")
    }

    /// Sends a message, and returns all messages that follow, immediately and in order.
    fn send(&mut self, message: &Value) -> Vec<Value> {
        self.send_bytes(message.to_string().as_bytes())
    }

    fn send_bytes(&mut self, bytes: &[u8]) -> Vec<Value> {
        let turn = self.server.receive(&mut self.session, bytes);
        let told = self.server.announce(&self.session, &turn.changes);
        let out = told.iter().chain(&turn.out);
        out.filter_map(|out| serde_json::from_slice(&out.bytes).ok()).collect()
    }

    /// Sends a request, and returns all messages that follow; the response is the last one.
    fn ask(&mut self, method: &str, params: &Value) -> Vec<Value> {
        self.id += 1;
        let mut params = params.clone();
        let meta = params.get("_meta").is_none_or(Value::is_object);
        if self.revision.is_modern() && meta {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(self.revision);
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        }
        self.send(&json!({ "jsonrpc": "2.0", "id": self.id, "method": method, "params": params }))
    }

    fn answer(&mut self, method: &str, params: &Value) -> Value {
        let answer = self.ask(method, params).pop().unwrap_or_else(|| panic!("{method} is not answered"));
        assert_eq!(answer["id"], self.id, "{answer}");
        answer
    }

    fn result(&mut self, method: &str, params: &Value) -> Value {
        let answer = self.answer(method, params);
        answer.get("result").cloned().unwrap_or_else(|| panic!("{method} {params}: {answer}"))
    }

    fn error(&mut self, method: &str, params: &Value) -> (i64, Value) {
        let answer = self.answer(method, params);
        let error = answer.get("error").unwrap_or_else(|| panic!("{method} {params}: {answer}"));
        (error["code"].as_i64().expect("a code"), error.get("data").cloned().unwrap_or_default())
    }

    /// The items of a list, over all pages.
    fn list(&mut self, method: &str, member: &str, params: &Value) -> Vec<Value> {
        let mut items = Vec::new();
        let mut params = params.clone();
        for _ in 0..20 {
            let mut page = self.result(method, &params);
            items.append(page[member].as_array_mut().expect("an array"));
            match page.get("nextCursor") {
                Some(cursor) => params["cursor"] = cursor.clone(),
                None => return items,
            }
        }
        panic!("{method} does not end");
    }

    fn resources(&mut self) -> Vec<Value> {
        self.list("resources/list", "resources", &json!({}))
    }
}
