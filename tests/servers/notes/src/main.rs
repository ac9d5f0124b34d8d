//! Notes on rmcp: pages, a tool that writes and tells of it, a tool with structured output. Usage: notes [http PORT]
use std::sync::{Arc, Mutex};

use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt,
    model::*,
    service::RequestContext,
    transport::streamable_http_server::{StreamableHttpService, session::local::LocalSessionManager},
};
use serde_json::{Value, json};

const PAGE: usize = 2;

#[derive(Clone)]
struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    fn all(&self) -> Vec<String> {
        self.0.lock().expect("nobody panics with it").clone()
    }
}

fn uri(index: usize) -> String {
    format!("note:///{index}")
}

fn schema(value: Value) -> Arc<JsonObject> {
    Arc::new(value.as_object().cloned().unwrap_or_default())
}

impl ServerHandler for Notes {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_resources().enable_resources_list_changed().enable_tools().build();
        ServerConfig::new(capabilities)
    }

    async fn list_resources(
        &self,
        params: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let notes = self.all();
        let start = match params.and_then(|params| params.cursor) {
            None => 0,
            Some(cursor) => cursor.parse().map_err(|_| ErrorData::invalid_params("unknown cursor", None))?,
        };
        let page = (start..notes.len()).take(PAGE).map(|index| {
            Resource::new(uri(index), format!("note {index}")).with_mime_type("text/plain")
        });
        let mut result = ListResourcesResult::with_all_items(page.collect());
        result.next_cursor = (start + PAGE < notes.len()).then(|| (start + PAGE).to_string());
        Ok(result)
    }

    async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let index = params.uri.strip_prefix("note:///").and_then(|index| index.parse::<usize>().ok());
        let Some(text) = index.and_then(|index| self.all().get(index).cloned()) else {
            return Err(ErrorData::resource_not_found("no such note", Some(json!({ "uri": params.uri }))));
        };
        Ok(ReadResourceResult::new(vec![ResourceContents::text(text, params.uri)]).into())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let text = json!({ "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] });
        let count = json!({ "type": "object", "properties": { "notes": { "type": "integer" } }, "required": ["notes"] });
        let mut counting = Tool::new("count", "Counts the notes.", schema(json!({ "type": "object" })));
        counting.output_schema = Some(schema(count));
        counting.annotations = Some(ToolAnnotations::new().read_only(true));
        Ok(ListToolsResult::with_all_items(vec![counting, Tool::new("write", "Writes a note.", schema(text))]))
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = params.arguments.unwrap_or_default();
        match (params.name.as_ref(), arguments.get("text").and_then(Value::as_str)) {
            ("count", _) => Ok(CallToolResult::structured(json!({ "notes": self.all().len() })).into()),
            ("write", Some(text)) => {
                self.0.lock().expect("nobody panics with it").push(text.to_owned());
                let _ = context.peer.notify_resource_list_changed().await;
                Ok(CallToolResult::success(vec![ContentBlock::text("written")]).into())
            }
            ("write", None) => Ok(CallToolResult::error(vec![ContentBlock::text("`text` is missing")]).into()),
            _ => Err(ErrorData::invalid_params("unknown tool", None)),
        }
    }
}

#[tokio::main]
async fn main() {
    let notes = Notes(Arc::new(Mutex::new((1..6).map(|n| format!("Note number {n}\n")).collect())));
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.get(1).map(String::as_str) == Some("http") {
        let service = StreamableHttpService::new(move || Ok(notes.clone()), LocalSessionManager::default().into(), Default::default());
        let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{}", arguments[2])).await.expect("bind");
        axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await.expect("serve");
    } else {
        notes.serve((tokio::io::stdin(), tokio::io::stdout())).await.expect("serve").waiting().await.expect("wait");
    }
}
