//! Received messages: responses end requests, requests get responses, notifications are recorded.

use std::rc::Rc;

use serde_json::{Value, json};
use tokio::{task::spawn_local, time::sleep};

use crate::{
    behaviour::decisions::Heard,
    handlers, message,
    report::{Failure, Outcome},
    state::Client,
    tasks::RELATED_TASK,
};
use conform_faults::{Sent, Side};

impl Client {
    /// A line, an event or a body.
    pub fn hear_bytes(self: &Rc<Self>, bytes: &[u8]) {
        match message::parse(bytes) {
            Ok(message) => self.hear(message),
            // Invalid JSON is a fault of the server; the next message may be valid.
            Err(_) => {
                if let Some(hook) = self.ways.noise {
                    let heard = self.with(|memory, scene| hook(memory, scene, bytes));
                    self.obey(heard, "a message is not JSON");
                }
            }
        }
    }

    pub fn hear(self: &Rc<Self>, message: Value) {
        if self.state.borrow().deaf {
            return;
        }
        match message {
            Value::Array(mut batch) => {
                if let Some(hook) = self.ways.hear_batch {
                    let heard = self.with(|memory, scene| hook(memory, scene, &mut batch));
                    if !self.obey(heard, "a message is an array") {
                        return;
                    }
                }
                for message in batch {
                    self.hear_one(message);
                }
            }
            single => self.hear_one(single),
        }
    }

    fn hear_one(self: &Rc<Self>, message: Value) {
        let request = self.own_request(&message);
        let fate = self.pass(Side::Server, request.as_ref(), message);
        let reaction = self.ways.reaction.filter(|_| fate.selected);
        if reaction.is_some_and(|reaction| !self.obey(reaction.into(), "a message was not understood")) {
            return;
        }
        if let Some(reply) = fate.reply {
            self.obey(Heard::And(vec![reply]), "");
        }
        fate.sent.into_iter().filter_map(Sent::into_message).for_each(|message| self.handle(message));
    }

    /// Id and method of the open request that a response belongs to.
    fn own_request(&self, response: &Value) -> Option<Value> {
        let state = self.state.borrow();
        let open = state.open.iter().find(|open| message::same_id(&open.id, &response["id"]))?;
        Some(json!({ "id": open.id, "method": open.method }))
    }

    fn handle(self: &Rc<Self>, mut message: Value) {
        if let Some(hook) = self.ways.hear {
            let heard = self.with(|memory, scene| hook(memory, scene, &mut message));
            if !self.obey(heard, "a message was not understood") {
                return;
            }
        }
        if message::method(&message).is_none() {
            return self.hear_response(&message);
        }
        if message.get("id").is_some() {
            // A server of 2026-07-28 must not send requests of its own, and the client must not respond to them.
            if !self.is_modern() && message::is_request(&message) {
                self.serve(message);
            }
        } else {
            self.hear_notification(&message);
        }
    }

    /// Whether a message still has to be handled.
    pub fn obey(self: &Rc<Self>, heard: Heard, why: &str) -> bool {
        let (messages, goes_on) = match heard {
            Heard::Message => return true,
            Heard::Nothing => return false,
            Heard::And(messages) => (messages, true),
            Heard::Instead(messages) => (messages, false),
            Heard::Crash => {
                self.crash(why);
                return false;
            }
            Heard::Fail => {
                let ids: Vec<Value> = self.state.borrow().open.iter().map(|open| open.id.clone()).collect();
                self.fail(&ids, &Failure::invalid(why));
                return false;
            }
            Heard::Disconnect => {
                self.disconnect(why);
                return false;
            }
            Heard::Deaf | Heard::Break => {
                self.state.borrow_mut().deaf = true;
                return false;
            }
            Heard::Hang => {
                let mut state = self.state.borrow_mut();
                (state.deaf, state.hangs) = (true, true);
                return false;
            }
        };
        let client = Rc::clone(self);
        spawn_local(async move { client.deliver_plain(messages).await });
        goes_on
    }

    fn hear_response(&self, message: &Value) {
        if !message::is_response(message) {
            return;
        }
        let Some(id) = message.get("id") else { return };
        let mut at = self.state.borrow().open.iter().position(|open| message::same_id(&open.id, id));
        if let Some(hook) = self.ways.correlate {
            self.with(|memory, scene| hook(memory, scene, message, &mut at));
        }
        // A response without an open request is dropped.
        let Some(at) = at else { return };
        self.resolve_at(at, outcome_of(message));
    }

    fn hear_notification(self: &Rc<Self>, message: &Value) {
        let params = &message["params"];
        match message::method(message).unwrap_or_default() {
            "notifications/cancelled" if self.is_modern() => {
                // The server can end only subscriptions.
                let id = &params["requestId"];
                let is_listen = self
                    .state
                    .borrow()
                    .open
                    .iter()
                    .any(|open| open.method == "subscriptions/listen" && message::same_id(&open.id, id));
                if is_listen {
                    self.resolve(id, Err(Failure::closed("the server ended the subscription")));
                }
            }
            "notifications/cancelled" => {
                let mut state = self.state.borrow_mut();
                let at = state.served.iter().position(|(id, _)| message::same_id(id, &params["requestId"]));
                if let Some((at, task)) = at.and_then(|at| Some((at, state.served[at].1.take()?))) {
                    task.abort();
                    state.served.remove(at);
                }
            }
            method => self.cache.borrow_mut().note(method, params),
        }
    }

    /// Handles a request of the server concurrently.
    fn serve(self: &Rc<Self>, request: Value) {
        let client = Rc::clone(self);
        let id = request["id"].clone();
        let task = spawn_local(async move {
            let method = message::method(&request).unwrap_or_default();
            if client.ways.serves_in_turn {
                while !client.state.borrow().open.is_empty() {
                    sleep(std::time::Duration::from_millis(50)).await;
                }
            }
            let delay = client.ways.reply_delay.map(|hook| hook(&mut client.memory.borrow_mut(), method));
            let delay = delay.unwrap_or_else(|| handlers::delay(&client, method));
            if !delay.is_zero() {
                sleep(delay).await;
            }
            let response = match handlers::handle(&client, method, &request["params"]) {
                Ok(mut result) => {
                    if let Some(task) = request["params"]["_meta"].get(RELATED_TASK) {
                        result["_meta"][RELATED_TASK] = task.clone();
                    }
                    message::result(&request["id"], &result)
                }
                Err((code, why)) => message::error(&request["id"], code, &why),
            };
            let mut responses = client.edited(Some(&request), response);
            if let Some(hook) = client.ways.reply {
                client.with(|memory, scene| hook(memory, scene, &request, &mut responses));
            }
            // From here on it cannot be cancelled any more.
            for (_, task) in client.state.borrow_mut().served.iter_mut().filter(|(id, _)| *id == request["id"]) {
                task.take();
            }
            for response in responses {
                if client.deliver(response).await.is_err() {
                    break;
                }
            }
            client.state.borrow_mut().served.retain(|(id, _)| *id != request["id"]);
        });
        self.state.borrow_mut().served.push((id, Some(task.abort_handle())));
    }
}

fn outcome_of(message: &Value) -> Outcome {
    match (message.get("result"), message.get("error")) {
        (Some(_), Some(error)) if !error.is_null() => {
            Err(Failure::invalid("the response has both a result and an error"))
        }
        (Some(result @ Value::Object(_)), _) => Ok(result.clone()),
        (Some(_), _) => Err(Failure::invalid("`result` is not an object")),
        (None, Some(error @ Value::Object(_))) => Err(Failure::of_error(error.clone())),
        (None, _) => Err(Failure::invalid("`error` is not an object")),
    }
}
