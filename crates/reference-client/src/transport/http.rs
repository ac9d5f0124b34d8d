//! Streamable HTTP: each message is a POST, and its response is JSON or an event stream.

use std::{cell::RefCell, rc::Rc, time::Duration};

use serde_json::Value;
use tokio::{
    task::{AbortHandle, spawn_local},
    time::timeout,
};

use crate::{
    behaviour::decisions::{Head, Posting},
    message, oauth,
    report::{Failure, SESSION_OVER},
    state::Client,
    transport::{
        posting,
        raw::{self, Answer},
        streams,
    },
};

/// How long to wait for the acceptance of a notification. A guess.
const ACCEPTANCE: Duration = Duration::from_secs(10);

/// How often a request is sent again with another token, whatever a fault decides.
const MOST_ATTEMPTS: usize = 16;

pub struct Http {
    pub url: String,
    /// Running exchanges, with the ids of their requests.
    tasks: RefCell<Vec<(Vec<Value>, AbortHandle)>>,
}

impl Http {
    pub fn new(url: &str) -> Rc<Self> {
        Rc::new(Self { url: url.to_owned(), tasks: RefCell::default() })
    }

    /// Sends one message; the responses to requests are handled concurrently.
    pub async fn send(self: &Rc<Self>, client: &Rc<Client>, message: Value) {
        let ids = message::request_ids(&message);
        let posting = posting::with_message(client, &self.url, &message);
        let work = Rc::clone(self).post(Rc::clone(client), posting, ids.clone());
        let waits = ids.is_empty() && client.ways.habits.awaits_acceptance;
        if waits {
            timeout(ACCEPTANCE, work).await.ok();
        } else {
            self.keep(ids, spawn_local(work).abort_handle());
        }
    }

    fn keep(&self, ids: Vec<Value>, task: AbortHandle) {
        let mut tasks = self.tasks.borrow_mut();
        tasks.retain(|(_, task)| !task.is_finished());
        tasks.push((ids, task));
    }

    /// Opens the stream of a legacy server.
    pub fn stand_by(self: &Rc<Self>, client: &Rc<Client>) {
        let work = streams::stand_by(Rc::clone(client), Rc::clone(self));
        self.keep(Vec::new(), spawn_local(work).abort_handle());
    }

    /// Closes the stream of a request.
    pub fn close_stream(&self, id: &Value) {
        for (ids, task) in self.tasks.borrow().iter() {
            if ids.len() == 1 && message::same_id(&ids[0], id) {
                task.abort();
            }
        }
    }

    pub fn close(&self) {
        for (_, task) in self.tasks.borrow_mut().drain(..) {
            task.abort();
        }
    }

    pub async fn exchange(client: &Rc<Client>, posting: &Posting) -> Result<(Head, Answer), Failure> {
        let (mut head, answer) = raw::send(&*client.outside, posting).await.map_err(Failure::closed)?;
        if let Some(hook) = client.ways.head {
            client.with(|memory, scene| hook(memory, scene, posting, &mut head));
        }
        Ok((head, answer))
    }

    async fn post(self: Rc<Self>, client: Rc<Client>, mut posting: Posting, ids: Vec<Value>) {
        let mut attempts = 0..MOST_ATTEMPTS;
        let (head, answer) = loop {
            match Self::exchange(&client, &posting).await {
                Ok((head, _)) if attempts.next().is_some() && oauth::renewed(&client, &posting, &head).await => {
                    posting = posting::with_message(&client, &self.url, &posting.message);
                }
                Ok(pair) => break pair,
                Err(failure) => return client.fail(&ids, &failure),
            }
        };
        if head.disconnect {
            return client.disconnect("the status of a response was not expected");
        }
        if head.unnoticed {
            return;
        }
        if posting.rpc() == "initialize" && head.status < 300 {
            client.state.borrow_mut().session.clone_from(&head.session);
        }
        if head.status >= 300 {
            return Self::rejected(&client, &posting, &head, answer, &ids).await;
        }
        match head.media.as_deref() {
            Some("text/event-stream") => streams::follow(client, self, answer, ids, posting.message).await,
            Some("application/json") => {
                match raw::whole(answer).await {
                    Ok(bytes) if bytes.is_empty() => {}
                    Ok(bytes) => client.hear_bytes(&bytes),
                    Err(why) => return client.fail(&ids, &Failure::closed(why)),
                }
                client.fail(&ids, &Failure::invalid("the response of the server holds no response to the request"));
            }
            other => {
                // The acceptance of a notification has no body and no type.
                raw::whole(answer).await.ok();
                let other = other.unwrap_or("no media type");
                let why = format!("status {}, {other}: expected application/json or text/event-stream", head.status);
                client.fail(&ids, &Failure::invalid(why));
            }
        }
    }

    /// An error status: the body is used if it is a JSON-RPC error.
    async fn rejected(client: &Rc<Client>, posting: &Posting, head: &Head, answer: Answer, ids: &[Value]) {
        let body = if head.reads_body { raw::whole(answer).await.unwrap_or_default() } else { Vec::new() };
        if Self::lost_session(client, posting, head) {
            let failure = Failure { status: Some(404), ..Failure::new(SESSION_OVER, "the session is over") };
            return client.fail(ids, &failure);
        }
        let error = serde_json::from_slice::<Value>(&body).ok().filter(|body| body["error"].is_object());
        if let (Some(mut error), [id]) = (error, ids) {
            // A server that could not read the request does not know its id.
            if error.get("id").is_none_or(Value::is_null) {
                error["id"] = id.clone();
            }
            client.hear(error);
        }
        let why = format!("HTTP status {}", head.status);
        client.fail(ids, &Failure { status: Some(head.status), ..Failure::closed(why) });
    }

    /// 404 for a session means that it has ended; the client starts again.
    fn lost_session(client: &Rc<Client>, posting: &Posting, head: &Head) -> bool {
        let used = posting.get("mcp-session-id").map(|id| String::from_utf8_lossy(id).into_owned());
        let lost = head.status == 404 && !client.is_modern() && posting.method != "DELETE";
        if let Some(used) = used.filter(|_| lost && posting.rpc() != "initialize") {
            let mut state = client.state.borrow_mut();
            if state.session.as_ref() == Some(&used) {
                state.over = Some("the session is over".to_owned());
            }
            return true;
        }
        false
    }

    /// Sends the same message again, for faults.
    pub async fn repost(self: &Rc<Self>, client: &Rc<Client>, message: &Value, last_event_id: Option<&str>) {
        let mut posting = posting::with_message(client, &self.url, message);
        if let Some(id) = last_event_id {
            posting.set("last-event-id", id);
        }
        let ids = message::request_ids(message);
        Box::pin(Rc::clone(self).post(Rc::clone(client), posting, ids)).await;
    }

    /// Opens a stream by GET.
    pub async fn get(&self, client: &Rc<Client>, last_event_id: Option<String>) -> Result<Answer, Failure> {
        let posting = posting::without_message(client, "GET", &self.url, last_event_id);
        let (head, answer) = Self::exchange(client, &posting).await?;
        if head.status == 200 && head.media.as_deref() == Some("text/event-stream") {
            return Ok(answer);
        }
        Self::lost_session(client, &posting, &head);
        let failure = Failure::closed(format!("GET: HTTP status {}", head.status));
        Err(Failure { status: Some(head.status), ..failure })
    }

    /// Ends the session; the response does not matter.
    pub async fn delete(&self, client: &Rc<Client>) {
        let posting = posting::without_message(client, "DELETE", &self.url, None);
        timeout(Duration::from_secs(2), Self::exchange(client, &posting)).await.ok();
    }
}
