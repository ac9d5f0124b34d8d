//! One request from its first message to its outcome.

use std::{rc::Rc, time::Duration};

use serde_json::{Map, Value, json};
use tokio::{
    sync::oneshot,
    time::{Instant, sleep, timeout},
};

use crate::{
    behaviour::decisions::{Abort, Retry},
    handlers, lists, message, meta,
    report::{Failure, Outcome, SESSION_OVER},
    skills,
    state::{Client, Open},
    tasks::EXTENSION,
};

/// The requirements of an action for its requests.
#[derive(Clone, Debug, Default)]
pub struct Ask {
    pub timeout: Option<Duration>,
    pub progress: bool,
    /// The number of the action.
    pub action: String,
    /// Capabilities are not checked.
    pub force: bool,
    pub log_level: Option<String>,
    /// There is no time limit, for subscriptions.
    pub endless: bool,
    /// The call may become a task.
    pub task: bool,
}

/// Maximum number of input rounds of one request. A guess: more than any world needs.
const MOST_ROUNDS: usize = 20;

/// Why a request with rounds of input failed.
pub const WITHOUT_END: &str = "the server requires input without end";
pub const NOTHING_REQUIRED: &str = "the server requires input and does not say which";

impl Client {
    /// Sends a request, and continues until there is an outcome for the caller.
    pub async fn request(self: &Rc<Self>, method: &str, params: Value, ask: &Ask) -> Outcome {
        self.permitted(method, &params, ask)?;
        let mut params = params;
        if let Some(hook) = self.ways.params {
            self.with(|memory, scene| hook(memory, scene, method, &mut params));
        }
        let habits = &self.ways.habits;
        let caches = habits.caches && !(habits.caches_first_pages && params.get("cursor").is_some());
        let key = caches.then(|| json!([method, params]).to_string());
        if let Some(kept) = key.as_ref().and_then(|key| self.cache.borrow().get(key)) {
            return Ok(kept);
        }
        let first = params.clone();
        let (mut rounds, mut attempts, mut id) = (0, 0, None);
        loop {
            self.revive().await?;
            let used = id.take();
            let outcome = self.once(method, &params, ask, used).await;
            let mut outcome = self.check_type(outcome, ask);
            if let Ok(result) = &outcome
                && result["resultType"] == "input_required"
                && self.is_modern()
            {
                rounds += 1;
                if result.get("inputRequests").is_none() && result.get("requestState").is_none() {
                    outcome = Err(Failure::invalid(NOTHING_REQUIRED));
                } else if rounds > MOST_ROUNDS {
                    outcome = Err(Failure::invalid(WITHOUT_END));
                } else {
                    params = self.with_input(&first, result)?;
                    continue;
                }
            }
            if method == "tools/call" {
                outcome = self.check_output(&params, outcome);
            }
            let mut retry = self.retry(method, &outcome, attempts);
            if let Some(hook) = self.ways.retry {
                self.with(|memory, scene| hook(memory, scene, method, &outcome, &mut retry));
            }
            if retry.refresh {
                // The headers follow the schema that was received last.
                let ask = Ask { action: ask.action.clone(), ..Ask::default() };
                let listed = Box::pin(lists::all(self, "tools/list", &Map::new(), None, &ask)).await;
                retry.again &= listed.is_ok();
            }
            if !retry.again {
                if let (Some(key), Ok(result)) = (key, &outcome)
                    && rounds == 0
                {
                    self.cache.borrow_mut().put(key, method, &params, result);
                }
                return outcome;
            }
            attempts += 1;
            if retry.same_id {
                id = Some(self.memory.borrow().kept("last id"));
            }
            sleep(retry.wait).await;
        }
    }

    fn permitted(&self, method: &str, params: &Value, ask: &Ask) -> Result<(), Failure> {
        let server = self.state.borrow().server.clone();
        let needed: &[&str] = match method {
            "tools/list" | "tools/call" => &["tools"],
            "prompts/list" | "prompts/get" => &["prompts"],
            "resources/subscribe" | "resources/unsubscribe" => &["resources", "subscribe"],
            "completion/complete" if self.revision().features().completions_capability => &["completions"],
            "logging/setLevel" => &["logging"],
            "tasks/list" => &["tasks", "list"],
            "tasks/cancel" => &["tasks", "cancel"],
            _ if method.starts_with("resources/") => &["resources"],
            _ => &[],
        };
        // A modern client may try any method.
        let mut permitted = self.is_modern() || ask.force || {
            let declared = needed.iter().try_fold(&server, |value, name| value.get(*name));
            needed.is_empty() || declared.is_some_and(|value| value.is_object() || *value == Value::Bool(true))
        };
        if let Some(hook) = self.ways.permit {
            self.with(|memory, scene| hook(memory, scene, method, params, &mut permitted));
        }
        let name = params["name"].as_str().unwrap_or_default();
        if method == "tools/call" && !ask.force && self.state.borrow().excluded.contains(name) {
            return Err(Failure::invalid(format!("the tool `{name}` has an invalid x-mcp-header")));
        }
        if permitted {
            return Ok(());
        }
        Err(Failure::unsupported(format!("the server did not declare {}", needed.join("."))))
    }

    /// One message and its response. `id`: one that was used before, for faults.
    pub async fn once(self: &Rc<Self>, method: &str, params: &Value, ask: &Ask, id: Option<Value>) -> Outcome {
        while self.ways.one_request && self.state.borrow().open.iter().any(|open| open.method != "subscriptions/listen")
        {
            sleep(Duration::from_millis(20)).await;
        }
        let id = id.unwrap_or_else(|| self.next_id(method));
        self.memory.borrow_mut().keep("last id", id.clone());
        let message = message::request(&id, method, &self.complete(method, params, ask));
        let (waiter, receiver) = oneshot::channel();
        let open = Open {
            id: id.clone(),
            method: method.to_owned(),
            action: ask.action.clone(),
            waiter,
            since: Instant::now(),
        };
        self.state.borrow_mut().open.push(open);
        if let Err(failure) = self.deliver(message).await {
            self.resolve(&id, Err(failure));
        }
        let mut limit = (!ask.endless).then(|| ask.timeout.unwrap_or(self.options.timeout));
        if let Some(hook) = self.ways.timeout {
            self.with(|memory, scene| hook(memory, scene, method, &mut limit));
        }
        let limit = limit.map(|limit| if ask.timeout.is_some() { limit } else { self.within_deadline(limit) });
        let waited = match limit.filter(|_| !self.state.borrow().hangs) {
            Some(limit) => timeout(limit, receiver).await,
            None => Ok(receiver.await),
        };
        match waited {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => Err(Failure::closed("the request was dropped")),
            Err(_) if self.state.borrow().hangs => std::future::pending().await,
            Err(_) => {
                self.abort(&id, method, true).await;
                Err(Failure::new("timeout", format!("no response to {method} in time")))
            }
        }
    }

    fn next_id(&self, method: &str) -> Value {
        let mut state = self.state.borrow_mut();
        state.requests += 1;
        let number = state.requests;
        drop(state);
        self.ways.id.map_or_else(|| json!(number), |hook| hook(&mut self.memory.borrow_mut(), number, method))
    }

    /// The parameters with all additions of the client.
    fn complete(&self, method: &str, params: &Value, ask: &Ask) -> Value {
        let mut params = params.as_object().cloned().unwrap_or_default();
        let may_progress = method != "initialize" && method != "server/discover";
        if (ask.progress || self.ways.habits.wants_progress) && may_progress {
            let mut state = self.state.borrow_mut();
            state.tokens += 1;
            let number = state.tokens;
            drop(state);
            let token = self.ways.token.map(|hook| hook(&mut self.memory.borrow_mut(), number));
            let token = token.unwrap_or_else(|| json!(format!("progress-{number}")));
            meta::object(&mut params, "_meta").insert("progressToken".to_owned(), token);
        }
        if self.is_modern() {
            let mut own = self.state.borrow().own.clone();
            let of_tasks = params.get("notifications").is_some_and(|filter| filter.get("taskIds").is_some());
            if ask.task || of_tasks || method.starts_with("tasks/") {
                own["extensions"][EXTENSION] = json!({});
            }
            if skills::declares(method) {
                own["extensions"][skills::EXTENSION] = json!({});
            }
            meta::add(&mut params, self.stated(), &own);
            if let Some(level) = &ask.log_level {
                meta::object(&mut params, "_meta").insert(meta::LOG_LEVEL_KEY.to_owned(), json!(level));
            }
        }
        if self.ways.habits.own_extras && self.revision().features().titles {
            meta::object(&mut params, "_meta").insert("com.example/trace".to_owned(), json!("reference"));
        }
        if params.is_empty() { Value::Null } else { Value::Object(params) }
    }

    /// In 2026-07-28 a result has a type.
    fn check_type(&self, outcome: Outcome, ask: &Ask) -> Outcome {
        let result = outcome?;
        let is_known = |kind: &Value| kind == "complete" || kind == "input_required" || (kind == "task" && ask.task);
        match result.get("resultType") {
            Some(kind) if self.is_modern() && !is_known(kind) => {
                Err(Failure::invalid(format!("unknown resultType {kind}")))
            }
            _ => Ok(result),
        }
    }

    /// The parameters of the request that follows an `input_required` result.
    fn with_input(self: &Rc<Self>, first: &Value, result: &Value) -> Result<Value, Failure> {
        let responses = self.responses(result)?;
        let mut params = first.as_object().cloned().unwrap_or_default();
        if !responses.is_empty() {
            params.insert("inputResponses".to_owned(), responses.into());
        }
        if let Some(state) = result.get("requestState") {
            params.insert("requestState".to_owned(), state.clone());
        }
        if let Some(hook) = self.ways.input {
            self.with(|memory, scene| hook(memory, scene, result, &mut params));
        }
        Ok(params.into())
    }

    /// The responses to the `inputRequests` of a result or a task.
    pub fn responses(self: &Rc<Self>, result: &Value) -> Result<Map<String, Value>, Failure> {
        let mut responses = Map::new();
        for (key, request) in result["inputRequests"].as_object().into_iter().flatten() {
            let method = message::method(request).unwrap_or_default();
            let response = handlers::handle(self, method, &request["params"]);
            let response =
                response.map_err(|(code, why)| Failure::invalid(format!("cannot fulfil `{method}`: {code} {why}")))?;
            let mut edited = self.edited(Some(request), json!({ "result": response })).into_iter();
            if let Some(mut edited) = edited.next() {
                responses.insert(key.clone(), edited["result"].take());
            }
        }
        Ok(responses)
    }

    /// Whether a request is repeated.
    fn retry(&self, method: &str, outcome: &Outcome, attempts: u32) -> Retry {
        let mut retry = Retry { again: false, refresh: false, wait: Duration::ZERO, same_id: false, attempts };
        let Err(failure) = outcome else { return retry };
        if attempts > 0 {
            return retry;
        }
        if failure.kind == SESSION_OVER {
            // The server did not know the session, so it did not handle the request.
            retry.again = true;
        } else if self.is_modern() && method == "tools/call" && failure.code() == Some(message::HEADER_MISMATCH) {
            (retry.again, retry.refresh) = (true, true);
        } else if self.is_modern() && failure.kind == "closed" && failure.status.is_none() {
            // A call may have been executed; the other requests have no side effects.
            let harmless = method.ends_with("/list") || method.ends_with("/read") || method.ends_with("/get");
            retry.again = harmless && self.ways.habits.reissues && self.state.borrow().over.is_none();
            retry.wait = Duration::from_millis(100);
        }
        retry
    }

    /// Cancels a request in the way that the transport and the revision define.
    pub async fn abort(self: &Rc<Self>, id: &Value, method: &str, timed_out: bool) {
        self.state.borrow_mut().open.retain(|open| !message::same_id(&open.id, id));
        let by_stream = self.is_modern() && self.kind.get().capabilities().stream_per_request;
        let cancels = self.ways.habits.cancels;
        let mut abort = Abort {
            notify: cancels && !by_stream && method != "initialize",
            close_stream: by_stream,
            disconnect: false,
            timed_out,
        };
        if let Some(hook) = self.ways.abort {
            self.with(|memory, scene| hook(memory, scene, &(id.clone(), method.to_owned()), &mut abort));
        }
        if abort.notify {
            let reason = if timed_out { "no response in time" } else { "the user does not need it any more" };
            let params = json!({ "requestId": id, "reason": reason });
            self.deliver(message::notification("notifications/cancelled", &params)).await.ok();
        }
        if abort.close_stream
            && let Ok(transport) = self.current()
        {
            transport.close_stream(id);
        }
        if abort.disconnect {
            self.disconnect("a request was given up");
        }
    }
}
