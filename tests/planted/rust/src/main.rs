//! A wine cellar on rmcp, with the fault in the variable FAULT. Usage: cellar [PORT], over stdio without one.
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt,
    model::*,
    service::{RequestContext, SubscriptionContext},
    transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager},
};
use serde_json::{Value, json};
use tokio::sync::broadcast::Sender;

mod http;

const PAGE: usize = 3;
const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const LONG_BLOB: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0+P0BBQkNERUZHSElKS0w=";

/// Whether this fault is active.
pub fn planted(fault: &str) -> bool {
    std::env::var("FAULT").is_ok_and(|named| named == fault)
}

#[derive(Default)]
struct World {
    bottles: BTreeMap<String, String>,
    subscribed: BTreeSet<String>,
}

/// The state, and the subscribers of changes: the URI of a bottle, or `None` if the list has changed.
#[derive(Clone)]
struct Cellar(Arc<Mutex<World>>, Sender<Option<String>>);

fn schema(value: Value) -> Arc<JsonObject> {
    Arc::new(value.as_object().cloned().unwrap_or_default())
}

fn invalid(message: &'static str) -> ErrorData {
    ErrorData::invalid_params(message, None)
}

fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version.as_str() >= "2026")
}

impl Cellar {
    fn new() -> Self {
        let bottles = (1..6).map(|number| (format!("cellar://bottles/{number}"), format!("Bottle number {number}\n"))).collect();
        Self(Arc::new(Mutex::new(World { bottles, ..World::default() })), Sender::new(64))
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn resources(&self) -> Vec<Resource> {
        let bottle = |(uri, text): (&String, &String)| {
            Resource::new(uri, uri.rsplit('/').next().unwrap_or_default()).with_mime_type("text/plain").with_size(text.len() as u64)
        };
        let mut all: Vec<_> = self.world().bottles.iter().map(bottle).collect();
        let label = if planted("type-without-slash") { "png" } else { "image/png" };
        all.push(Resource::new("cellar://label", "label").with_mime_type(label));
        all.push(Resource::new("cellar://map", "map").with_mime_type("application/octet-stream").with_size(77));
        if planted("address-with-space") {
            all.push(Resource::new("cellar://old bottles", "old"));
        }
        all
    }

    fn read(&self, uri: &str) -> Option<ResourceContents> {
        if let Some(text) = self.world().bottles.get(uri) {
            return Some(ResourceContents::text(text, uri).with_mime_type("text/plain"));
        }
        match uri {
            "cellar://label" if planted("base64-as-text") => Some(ResourceContents::text(PICTURE, uri).with_mime_type("image/png")),
            "cellar://label" => Some(ResourceContents::blob(PICTURE, uri).with_mime_type("image/png")),
            "cellar://map" => {
                let lines = LONG_BLOB.as_bytes().chunks(76).map(String::from_utf8_lossy).collect::<Vec<_>>();
                let blob = lines.join(if planted("blob-in-lines") { "\n" } else { "" });
                Some(ResourceContents::blob(blob, uri).with_mime_type("application/octet-stream"))
            }
            "cellar://old bottles" => Some(ResourceContents::text("old", uri)),
            _ => {
                let rack = uri.strip_prefix("cellar://racks/")?;
                (rack.len() == 1).then(|| ResourceContents::text(format!("Rack {rack}"), uri).with_mime_type("text/plain"))
            }
        }
    }

    async fn turn(&self, context: &RequestContext<RoleServer>) -> CallToolResult {
        for step in 1..=5u32 {
            tokio::time::sleep(Duration::from_millis(250)).await;
            if context.ct.is_cancelled() {
                break;
            }
            if let Some(token) = context.meta.get_progress_token() {
                let value = if planted("progress-counts-down") { 6 - step } else { step };
                let told = ProgressNotificationParam::new(token, f64::from(value)).with_total(5.0);
                let _ = context.peer.notify_progress(told).await;
            }
        }
        CallToolResult::success(vec![ContentBlock::text("turned")])
    }

    async fn change(&self, uri: &str, context: &RequestContext<RoleServer>) -> CallToolResult {
        let known = self.world().bottles.get_mut(uri).map(|text| text.push_str("Opened.\n")).is_some();
        if !known {
            return CallToolResult::error(vec![ContentBlock::text("no such bottle")]);
        }
        if planted("change-untold") {
            return CallToolResult::success(vec![ContentBlock::text("opened")]);
        }
        let named = if planted("update-of-another") { "cellar://bottles/2" } else { uri };
        let _ = self.1.send(Some(named.to_owned()));
        let subscribed = self.world().subscribed.contains(uri);
        if subscribed && !is_modern(context) {
            let _ = context.peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(named)).await;
        }
        CallToolResult::success(vec![ContentBlock::text("opened")])
    }
}

impl ServerHandler for Cellar {
    fn get_info(&self) -> ServerConfig {
        let built = ServerCapabilities::builder().enable_resources().enable_resources_subscribe().enable_resources_list_changed();
        ServerConfig::new(built.enable_tools().enable_prompts().enable_completions().build())
    }

    async fn list_resources(&self, params: Option<PaginatedRequestParams>, _: RequestContext<RoleServer>) -> Result<ListResourcesResult, ErrorData> {
        let all = self.resources();
        let start = match params.and_then(|params| params.cursor) {
            None => 0,
            Some(cursor) => cursor.parse().ok().filter(|start| *start < all.len()).ok_or_else(|| invalid("unknown cursor"))?,
        };
        let mut result = ListResourcesResult::with_all_items(all.iter().skip(start).take(PAGE).cloned().collect());
        let more = start + PAGE < all.len();
        result.next_cursor = (more || planted("cursor-behind-the-end")).then(|| (start + PAGE).min(all.len() - 1).to_string());
        Ok(result)
    }

    async fn list_resource_templates(&self, _: Option<PaginatedRequestParams>, _: RequestContext<RoleServer>) -> Result<ListResourceTemplatesResult, ErrorData> {
        let rack = ResourceTemplate::new("cellar://racks/{rack}", "rack").with_mime_type("text/plain");
        Ok(ListResourceTemplatesResult::with_all_items(vec![rack]))
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.supported_by(&self.get_info().capabilities))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.1.subscribe();
        loop {
            let change = tokio::select! {
                () = context.cancelled() => return Ok(()),
                change = changes.recv() => change,
            };
            // The sink forwards only what was subscribed to.
            let _ = match change {
                Ok(Some(uri)) => context.sink().notify_resource_updated(uri).await,
                Ok(None) => context.sink().notify_resource_list_changed().await,
                Err(_) => return Ok(()),
            };
        }
    }

    async fn read_resource(&self, params: ReadResourceRequestParams, _: RequestContext<RoleServer>) -> Result<ReadResourceResponse, ErrorData> {
        let Some(contents) = self.read(&params.uri) else {
            let data = (!planted("missing-unnamed")).then(|| json!({ "uri": params.uri }));
            if planted("missing-as-internal") {
                return Err(ErrorData::internal_error("no such bottle", data));
            }
            return Err(ErrorData::resource_not_found("no such bottle", data));
        };
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    #[allow(deprecated)]
    async fn subscribe(&self, params: SubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        if self.read(&params.uri).is_none() {
            return Err(ErrorData::resource_not_found("no such bottle", Some(json!({ "uri": params.uri }))));
        }
        self.world().subscribed.insert(params.uri);
        Ok(())
    }

    #[allow(deprecated)]
    async fn unsubscribe(&self, params: UnsubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.world().subscribed.remove(&params.uri);
        Ok(())
    }

    async fn list_tools(&self, _: Option<PaginatedRequestParams>, _: RequestContext<RoleServer>) -> Result<ListToolsResult, ErrorData> {
        let nothing = schema(json!({ "type": "object", "additionalProperties": false }));
        let uri = schema(json!({ "type": "object", "properties": { "uri": { "type": "string" } }, "required": ["uri"] }));
        let output = json!({ "type": "object", "properties": { "bottles": { "type": "integer" } }, "required": ["bottles"] });
        let reading = |name: &'static str| Tool::new(name, "Changes nothing.", nothing.clone()).with_annotations(ToolAnnotations::new().read_only(true));
        let turning = if planted("same-tool-twice") { vec![reading("turn"), reading("turn")] } else { vec![reading("turn")] };
        let pattern = if planted("pattern-cut-off") { "[a-z" } else { "^cellar:" };
        let opened = schema(json!({ "type": "object", "properties": { "uri": { "type": "string", "pattern": pattern } }, "required": ["uri"] }));
        let mut tools = vec![reading("count").with_raw_output_schema(schema(output)), Tool::new("open", "Opens a bottle.", opened)];
        tools.extend(turning);
        tools.extend([reading("label"), reading("broken"), Tool::new("taste", "Tastes it.", uri).with_annotations(ToolAnnotations::new().read_only(true))]);
        tools.push(Tool::new("add", "Adds a bottle.", nothing.clone()));
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(&self, params: CallToolRequestParams, context: RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
        let arguments = params.arguments.unwrap_or_default();
        let uri = arguments.get("uri").and_then(Value::as_str);
        let said = |text: &str| CallToolResult::success(vec![ContentBlock::text(text)]);
        let result = match (params.name.as_ref(), uri) {
            ("count", _) if planted("output-missing") => said("5"),
            ("count", _) => CallToolResult::structured(json!({ "bottles": self.world().bottles.len() })),
            ("turn", _) => self.turn(&context).await,
            ("label", _) => {
                let data = if planted("picture-cut-off") { &PICTURE[..PICTURE.len() - 3] } else { PICTURE };
                CallToolResult::success(vec![ContentBlock::image(data, "image/png")])
            }
            ("broken", _) => CallToolResult::error(vec![ContentBlock::text("The bottle is broken")]),
            ("taste", None) if planted("panics-without-argument") => panic!("no uri"),
            ("taste", None) if planted("wrong-argument-as-internal") => return Err(ErrorData::internal_error("uri is no string", None)),
            ("open" | "taste", None) => CallToolResult::error(vec![ContentBlock::text("`uri` has to be a string")]),
            ("open", Some(uri)) => self.change(uri, &context).await,
            ("taste", Some(_)) => {
                if planted("prints-what-it-does") {
                    println!("tasting");
                }
                said("Good.")
            }
            ("add", _) => {
                let number = self.world().bottles.len() + 1;
                self.world().bottles.insert(format!("cellar://bottles/{number}"), "A new bottle\n".to_owned());
                if !planted("new-bottle-untold") {
                    let _ = self.1.send(None);
                    if !is_modern(&context) {
                        let _ = context.peer.notify_resource_list_changed().await;
                    }
                }
                said("added")
            }
            _ => return Err(invalid("unknown tool")),
        };
        Ok(result.into())
    }

    async fn list_prompts(&self, _: Option<PaginatedRequestParams>, _: RequestContext<RoleServer>) -> Result<ListPromptsResult, ErrorData> {
        let bottle = PromptArgument::new("bottle").with_description("Which one").with_required(true);
        let prompts = vec![Prompt::new("praise", Some("Praises a bottle"), Some(vec![bottle])), Prompt::new("tour", Some("Shows the label"), None)];
        Ok(ListPromptsResult::with_all_items(prompts))
    }

    async fn get_prompt(&self, params: GetPromptRequestParams, _: RequestContext<RoleServer>) -> Result<GetPromptResponse, ErrorData> {
        let arguments = params.arguments.unwrap_or_default();
        let message = match (params.name.as_str(), arguments.get("bottle")) {
            ("praise", Some(bottle)) => PromptMessage::new_text(Role::User, format!("Praise {bottle}.")),
            ("praise", None) => return Err(invalid("`bottle` is missing")),
            ("tour", _) => {
                let data = if planted("picture-in-prompt-not-encoded") { "picture of a label!" } else { PICTURE };
                PromptMessage::new(Role::User, ContentBlock::image(data, "image/png"))
            }
            _ if planted("unknown-prompt-as-internal") => return Err(ErrorData::internal_error("unknown prompt", None)),
            _ => return Err(invalid("unknown prompt")),
        };
        Ok(GetPromptResult::new(vec![message]).into())
    }

    async fn complete(&self, params: CompleteRequestParams, _: RequestContext<RoleServer>) -> Result<CompleteResult, ErrorData> {
        let known = match &params.r#ref {
            Reference::Prompt(prompt) => ["praise", "tour"].contains(&prompt.name.as_str()),
            Reference::Resource(resource) => resource.uri == "cellar://racks/{rack}",
            _ => false,
        };
        if !known {
            return Err(invalid("nothing of that name"));
        }
        if planted("empty-value-refused") && params.argument.value.is_empty() {
            return Err(invalid("nothing to complete"));
        }
        let values = ["1", "2", "3"].iter().filter(|value| value.starts_with(&params.argument.value)).map(ToString::to_string);
        CompletionInfo::with_all_values(values.collect()).map(CompleteResult::new).map_err(|error| ErrorData::internal_error(error, None))
    }
}

#[tokio::main]
async fn main() {
    let cellar = Cellar::new();
    let Some(port) = std::env::args().nth(1) else {
        cellar.serve((tokio::io::stdin(), tokio::io::stdout())).await.expect("serve").waiting().await.expect("wait");
        return;
    };
    let origins = [format!("http://127.0.0.1:{port}"), format!("http://localhost:{port}")];
    let config = if planted("origin-open") { StreamableHttpServerConfig::default() } else { StreamableHttpServerConfig::default().with_allowed_origins(origins) };
    let service = StreamableHttpService::new(move || Ok(cellar.clone()), LocalSessionManager::default().into(), config);
    let router = axum::Router::new().nest_service("/mcp", service).layer(axum::middleware::from_fn(http::between));
    let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}")).await.expect("bind");
    axum::serve(listener, router).await.expect("serve");
}
