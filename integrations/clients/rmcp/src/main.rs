//! A client on rmcp, the SDK for Rust, that follows the actions of mcp-conform.
//!
//! cargo build --manifest-path integrations/clients/rmcp/Cargo.toml
//! mcp-conform client -- integrations/clients/rmcp/target/debug/rmcp-driver
//! mcp-conform client --transport stdio -- integrations/clients/rmcp/target/debug/rmcp-driver

#![allow(
    deprecated,
    reason = "sampling, roots, logging and subscriptions by resources/subscribe belong to earlier revisions"
)]

use std::{
    cell::RefCell,
    collections::HashMap,
    fs::OpenOptions,
    future::Future,
    io::Write,
    pin::Pin,
    rc::Rc,
    sync::{Arc, Mutex},
    time::Duration,
};

use rmcp::{
    ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData, RoleClient,
    model::*,
    service::{RequestContext, RunningService, ServiceError, Subscription},
    transport::{StreamableHttpClientTransport, TokioChildProcess},
};
use serde_json::{Value, json};
use tokio::{process::Command, task::JoinHandle, time::sleep};

const TIMEOUT: u64 = 10_000;

fn env(name: &str) -> Option<String> {
    std::env::var(format!("MCP_CONFORMANCE_{name}")).ok()
}

fn parsed(name: &str) -> Value {
    env(name).and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

/// A type of the SDK, from its JSON.
fn typed<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, Failure> {
    serde_json::from_value(value).map_err(|error| Failure::new("invalid", error))
}

struct Failure {
    kind: &'static str,
    message: String,
}

impl Failure {
    fn new(kind: &'static str, message: impl ToString) -> Self {
        Self { kind, message: message.to_string() }
    }
}

impl From<ServiceError> for Failure {
    fn from(error: ServiceError) -> Self {
        let kind = match error {
            ServiceError::McpError(_) => "error",
            ServiceError::TransportSend(_) | ServiceError::TransportClosed => "closed",
            ServiceError::Timeout { .. } => "timeout",
            ServiceError::Cancelled { .. } => "cancelled",
            _ => "invalid",
        };
        Self::new(kind, error)
    }
}

/// What the user of the client would say.
struct User {
    answers: Value,
    revision: String,
    roots: Mutex<Value>,
}

impl User {
    fn capabilities(&self) -> Value {
        let all = json!(["sampling", "elicitation", "roots.listChanged"]);
        let declared = self.answers.get("declare").unwrap_or(&all);
        let mut capabilities = json!({});
        for path in declared.as_array().into_iter().flatten().filter_map(Value::as_str) {
            let mut at = &mut capabilities;
            for name in path.split('.') {
                if name == "listChanged" {
                    at[name] = json!(true);
                    break;
                }
                at = at.as_object_mut().expect("a capability is an object").entry(name).or_insert_with(|| json!({}));
            }
        }
        capabilities
    }

    fn is_modern(&self) -> bool {
        self.revision.as_str() >= "2026-07-28"
    }

    async fn hesitate(&self) {
        sleep(Duration::from_millis(self.answers["delay"].as_u64().unwrap_or_default())).await;
    }
}

fn answered<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// A value that the schema of a field permits.
fn value_of(schema: &Value) -> Value {
    let first = |of: &Value| {
        of["enum"].get(0).or_else(|| of["oneOf"][0].get("const")).or_else(|| of["anyOf"][0].get("const")).cloned()
    };
    if let Some(value) = schema.get("default").cloned().or_else(|| first(schema)) {
        return value;
    }
    match schema["type"].as_str() {
        Some("array") => json!([first(&schema["items"])]),
        Some("boolean") => json!(true),
        Some("number" | "integer") => schema.get("minimum").cloned().unwrap_or(json!(1)),
        _ => match schema["format"].as_str() {
            Some("email") => json!("a@example.com"),
            Some("uri") => json!("https://example.com/"),
            Some("date") => json!("2026-01-31"),
            Some("date-time") => json!("2026-01-31T12:00:00Z"),
            _ => {
                let least = schema["minLength"].as_u64().unwrap_or(4);
                let most = schema["maxLength"].as_u64().unwrap_or(u64::MAX);
                json!("s".repeat(usize::try_from(least.max(4).min(most)).unwrap_or(4)))
            }
        },
    }
}

impl ClientHandler for User {
    fn get_info(&self) -> ClientConfig {
        let info = json!({
            "protocolVersion": self.revision,
            "capabilities": self.capabilities(),
            "clientInfo": { "name": "rmcp", "version": "1" },
        });
        serde_json::from_value(info).expect("the capabilities are known")
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        self.hesitate().await;
        let declared = &self.capabilities()["sampling"];
        if declared.is_null() {
            return Err(ErrorData::method_not_found::<CreateMessageRequestMethod>());
        }
        if (params.tools.is_some() || params.tool_choice.is_some()) && declared.get("tools").is_none() {
            return Err(ErrorData::invalid_params("sampling.tools was not declared", None));
        }
        if self.answers.get("sampling") == Some(&Value::Null) {
            return Err(ErrorData::new(ErrorCode(-1), "User rejected sampling request", None));
        }
        let text = self.answers["sampling"].as_str().unwrap_or("A response.");
        answered(json!({
            "role": "assistant", "content": { "type": "text", "text": text }, "model": "driver", "stopReason": "endTurn",
        }))
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        if self.capabilities().get("roots").is_none() {
            return Err(ErrorData::method_not_found::<ListRootsRequestMethod>());
        }
        let roots = self.roots.lock().expect("nobody panics").clone();
        let roots: Vec<_> = roots.as_array().into_iter().flatten().map(|uri| json!({ "uri": uri })).collect();
        answered(json!({ "roots": roots }))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.hesitate().await;
        let is_form = matches!(request, ElicitRequestParams::FormElicitationParams { .. });
        let declared = &self.capabilities()["elicitation"];
        if declared.is_null() {
            return Err(ErrorData::method_not_found::<ElicitationCreateRequestMethod>());
        }
        if !is_form && declared.get("url").is_none() {
            return Err(ErrorData::invalid_params("this mode was not declared", None));
        }
        let action = self.answers["elicitation"].as_str().unwrap_or("accept");
        if action != "accept" || !is_form {
            return answered(json!({ "action": action }));
        }
        let request = serde_json::to_value(request).unwrap_or_default();
        let fields = request["requestedSchema"]["properties"].as_object().into_iter().flatten();
        let content: serde_json::Map<_, _> = fields.map(|(name, schema)| (name.clone(), value_of(schema))).collect();
        answered(json!({ "action": "accept", "content": content }))
    }
}

struct Driver {
    client: RunningService<RoleClient, Arc<User>>,
    user: Arc<User>,
    /// What may be cancelled, by the number of its action.
    running: RefCell<HashMap<String, Rc<tokio::sync::Notify>>>,
    /// By the number of their action.
    subscriptions: RefCell<HashMap<String, Subscription>>,
}

/// What the server has to declare for an action, and the client for its own.
fn needed(action: &Value) -> (&'static str, &'static str) {
    let list = match action["of"].as_str() {
        Some("tools") => "/tools",
        Some("prompts") => "/prompts",
        _ => "/resources",
    };
    match action["do"].as_str().unwrap_or_default() {
        "list" => (list, ""),
        "call" => ("/tools", ""),
        "get" => ("/prompts", ""),
        "read" => ("/resources", ""),
        "complete" => ("/completions", ""),
        "subscribe" | "unsubscribe" => ("/resources/subscribe", ""),
        "setLevel" => ("/logging", ""),
        "roots" => ("", "/roots/listChanged"),
        _ => ("", ""),
    }
}

impl Driver {
    /// The SDK sends what its user asks for, so the user looks at the capabilities and at the revision.
    fn may(&self, action: &Value) -> bool {
        let declares = |capabilities: &Value, path: &str| {
            path.is_empty() || capabilities.pointer(path).is_some_and(|it| !it.is_null() && it != false)
        };
        let server = json!(self.client.peer_info().map(|info| info.capabilities.clone()));
        let (of_server, of_client) = needed(action);
        let is_modern = self.user.is_modern();
        let exists = match action["do"].as_str().unwrap_or_default() {
            "subscribe" | "unsubscribe" | "setLevel" | "ping" | "roots" => !is_modern,
            "listen" | "discover" => is_modern,
            _ => true,
        };
        exists && declares(&server, of_server) && declares(&self.user.capabilities(), of_client)
    }

    async fn list(&self, action: &Value) -> Result<Value, Failure> {
        if action.get("uri").or_else(|| action.get("prefix")).is_some() {
            return Err(Failure::new("unsupported", "rmcp has no parameters for a part of a list"));
        }
        let client = &self.client;
        let of = action["of"].as_str().unwrap_or_default();
        let Some(most) = action["pages"].as_u64() else {
            // The SDK requests all pages.
            return Ok(match of {
                "tools" => json!(client.list_all_tools().await?),
                "prompts" => json!(client.list_all_prompts().await?),
                "templates" => json!(client.list_all_resource_templates().await?),
                _ => json!(client.list_all_resources().await?),
            });
        };
        let (mut items, mut cursor) = (Vec::new(), Value::Null);
        for _ in 0..most {
            let params = typed(if cursor.is_null() { json!({}) } else { json!({ "cursor": cursor }) })?;
            let page = match of {
                "tools" => json!(client.list_tools(params).await?),
                "prompts" => json!(client.list_prompts(params).await?),
                "templates" => json!(client.list_resource_templates(params).await?),
                _ => json!(client.list_resources(params).await?),
            };
            let field = if of == "templates" { "resourceTemplates" } else { of };
            items.extend(page[field].as_array().cloned().unwrap_or_default());
            cursor = page["nextCursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        Ok(items.into())
    }

    async fn perform(self: &Rc<Self>, action: &Value, number: &str) -> Result<Value, Failure> {
        if !self.may(action) {
            return Err(Failure::new("unsupported", "the revision or a capability is missing"));
        }
        let client = &self.client;
        let mut params = action.clone();
        if let Some(level) = action.get("logLevel") {
            params["_meta"] = json!({ "io.modelcontextprotocol/logLevel": level });
        }
        Ok(match action["do"].as_str().unwrap_or_default() {
            "list" => self.list(action).await?,
            "call" => json!(client.call_tool(typed(params)?).await?),
            "get" => json!(client.get_prompt(typed(params)?).await?),
            "read" => json!(client.read_resource(typed(params)?).await?),
            "complete" => json!(client.complete(typed(params)?).await?),
            "subscribe" => json!(client.subscribe(typed(params)?).await?),
            "unsubscribe" => json!(client.unsubscribe(typed(params)?).await?),
            "setLevel" => json!(client.set_level(typed(params)?).await?),
            "ping" => {
                client.send_request(typed(json!({ "method": "ping" }))?).await?;
                json!({})
            }
            "discover" => json!(client.discover(typed(json!({}))?).await?),
            "listen" => {
                let subscription = client.listen(typed(action["notifications"].clone())?).await?;
                self.subscriptions.borrow_mut().insert(number.to_owned(), subscription);
                json!({})
            }
            "roots" => {
                *self.user.roots.lock().expect("nobody panics") = action["uris"].clone();
                client.notify_roots_list_changed().await?;
                json!({})
            }
            "cancel" => {
                let subscription = self.subscriptions.borrow_mut().remove(&action["action"].to_string());
                if let Some(mut subscription) = subscription {
                    subscription.cancel().await?;
                    return Ok(json!({}));
                }
                if let Some(stop) = self.running.borrow().get(&action["action"].to_string()) {
                    stop.notify_one();
                }
                json!({})
            }
            "wait" => {
                sleep(Duration::from_millis(action["ms"].as_u64().unwrap_or_default())).await;
                json!({})
            }
            "parallel" => {
                let actions = action["actions"].as_array().into_iter().flatten().enumerate();
                let all: Vec<_> = actions.map(|(at, one)| self.start(one.clone(), format!("{number}.{at}"))).collect();
                for one in all {
                    let _ = one.await;
                }
                json!({})
            }
            other => return Err(Failure::new("unsupported", format!("rmcp has nothing like {other}"))),
        })
    }

    fn start(self: &Rc<Self>, action: Value, number: String) -> JoinHandle<()> {
        let driver = Rc::clone(self);
        let run: Pin<Box<dyn Future<Output = ()>>> = Box::pin(async move { driver.carry_out(&action, &number).await });
        tokio::task::spawn_local(run)
    }

    async fn carry_out(self: &Rc<Self>, action: &Value, number: &str) {
        let stop = Rc::new(tokio::sync::Notify::new());
        self.running.borrow_mut().insert(number.to_owned(), Rc::clone(&stop));
        let most = action["timeout"].as_u64().unwrap_or(TIMEOUT);
        let waits = matches!(action["do"].as_str(), Some("wait" | "parallel"));
        // A request whose future is dropped is cancelled by the SDK.
        let outcome = tokio::select! {
            outcome = self.perform(action, number) => outcome,
            () = stop.notified() => Err(Failure::new("cancelled", "The result is not needed any more")),
            () = sleep(Duration::from_millis(most)), if !waits => Err(Failure::new("timeout", "no response in time")),
        };
        let at: Value = number.parse::<u64>().map_or_else(|_| number.into(), Into::into);
        report(&match outcome {
            Ok(result) => json!({ "action": at, "ok": true, "result": result }),
            Err(Failure { kind, message }) => json!({ "action": at, "ok": false, "kind": kind, "message": message }),
        });
    }
}

fn report(line: &Value) {
    let Some(path) = env("REPORT") else { return };
    if let Ok(mut file) = OpenOptions::new().append(true).create(true).open(path) {
        let _ = writeln!(file, "{line}");
    }
}

async fn connect(user: Arc<User>) -> Result<RunningService<RoleClient, Arc<User>>, Box<dyn std::error::Error>> {
    let target = std::env::args().next_back().unwrap_or_default();
    let lifecycle = if user.is_modern() {
        ClientLifecycleMode::Discover { preferred_versions: vec![serde_json::from_value(json!(user.revision))?] }
    } else {
        ClientLifecycleMode::Initialize
    };
    Ok(match env("TRANSPORT").as_deref() {
        Some("stdio") => user.serve_with_lifecycle(TokioChildProcess::new(Command::new(target))?, lifecycle).await?,
        Some("sse") => return Err("rmcp has no HTTP+SSE".into()),
        _ => user.serve_with_lifecycle(StreamableHttpClientTransport::from_uri(target), lifecycle).await?,
    })
}

async fn follow() -> Result<(), Box<dyn std::error::Error>> {
    let answers = parsed("ANSWERS");
    let roots = answers.get("roots").cloned().unwrap_or_else(|| json!(["file:///tmp"]));
    let revision = env("PROTOCOL_VERSION").unwrap_or_else(|| "2025-11-25".to_owned());
    let user = Arc::new(User { answers, revision, roots: Mutex::new(roots) });
    let client = tokio::time::timeout(Duration::from_millis(TIMEOUT), connect(Arc::clone(&user))).await??;
    let driver = Rc::new(Driver { client, user, running: RefCell::default(), subscriptions: RefCell::default() });
    let mut background = Vec::new();
    for (number, action) in parsed("ACTIONS").as_array().into_iter().flatten().enumerate() {
        if matches!(action["do"].as_str(), Some("connect" | "close")) {
            continue;
        }
        let done = driver.start(action.clone(), number.to_string());
        if action["background"] == true {
            background.push(done);
            sleep(Duration::from_millis(50)).await;
        } else {
            let _ = done.await;
        }
    }
    for done in background {
        let _ = done.await;
    }
    if let Some(driver) = Rc::into_inner(driver) {
        driver.client.cancel().await?;
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    tokio::task::LocalSet::new().run_until(follow()).await
}
