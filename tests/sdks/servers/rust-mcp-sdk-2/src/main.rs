//! A server on rust-mcp-sdk 2.0. argv: a port for Streamable HTTP, none for stdio.

use std::{result::Result, sync::Arc};

use async_trait::async_trait;
use rust_mcp_axum::{create_axum_server, AxumServerOptions};
use rust_mcp_sdk::{
    error::SdkResult,
    macros,
    mcp_server::{server_runtime, McpServerOptions, ServerHandler},
    schema::*,
    tool_box, McpServer, RequestContext, ServerDetails, StdioTransport, ToMcpServerHandler, TransportOptions,
};

const NAMES: [&str; 4] = ["Ada", "Alan", "Barbara", "Grace"];

#[macros::mcp_tool(name = "add", description = "Add two numbers", read_only_hint = true)]
#[derive(Debug, serde::Deserialize, serde::Serialize, macros::JsonSchema)]
struct Add {
    a: i32,
    b: i32,
}

#[macros::mcp_tool(name = "measure", description = "Count the characters and words of a text", read_only_hint = true)]
#[derive(Debug, serde::Deserialize, serde::Serialize, macros::JsonSchema)]
struct Measure {
    text: String,
}

tool_box!(Tools, [Add, Measure]);

#[macros::mcp_resource(name = "about", description = "What this server is", mime_type = "text/plain", uri = "info://about")]
struct About {}

#[macros::mcp_resource_template(
    name = "greeting",
    description = "A greeting for somebody",
    mime_type = "text/plain",
    uri_template = "greeting://{name}"
)]
struct Greeting {}

#[macros::mcp_prompt(
    name = "introduce",
    description = "Introduce somebody",
    messages = [(role = "user", content = "Introduce {name} in one sentence.")]
)]
struct Introduce {
    #[prompt_argument(description = "Who")]
    name: String,
}

struct Quickstart;

#[async_trait]
impl ServerHandler for Quickstart {
    async fn handle_list_tools_request(
        &self,
        _: Option<PaginatedRequestParams>,
        _: &RequestContext,
        _: Arc<dyn McpServer>,
    ) -> Result<ListToolsResult, RpcError> {
        Ok(ListToolsResult {
            tools: Tools::tools(),
            meta: None,
            next_cursor: None,
            cache_scope: ListToolsResultCacheScope::Public,
            result_type: "complete".into(),
            ttl_ms: 0,
        })
    }

    async fn handle_call_tool_request(
        &self,
        params: CallToolRequestParams,
        _: &RequestContext,
        _: Arc<dyn McpServer>,
    ) -> Result<ServerResult, CallToolError> {
        let text = match Tools::try_from(params).map_err(CallToolError::new)? {
            Tools::Add(Add { a, b }) => a.saturating_add(b).to_string(),
            Tools::Measure(Measure { text }) => {
                format!("{} characters, {} words", text.chars().count(), text.split_whitespace().count())
            }
        };
        Ok(CallToolResult::text_content(vec![text.into()]).into())
    }

    async fn handle_list_resources_request(
        &self,
        _: Option<PaginatedRequestParams>,
        _: &RequestContext,
        _: Arc<dyn McpServer>,
    ) -> Result<ListResourcesResult, RpcError> {
        Ok(ListResourcesResult {
            resources: vec![About::resource()],
            meta: None,
            next_cursor: None,
            cache_scope: ListResourcesResultCacheScope::Public,
            result_type: "complete".into(),
            ttl_ms: 0,
        })
    }

    async fn handle_list_resource_templates_request(
        &self,
        _: Option<PaginatedRequestParams>,
        _: &RequestContext,
        _: Arc<dyn McpServer>,
    ) -> Result<ListResourceTemplatesResult, RpcError> {
        Ok(ListResourceTemplatesResult {
            resource_templates: vec![Greeting::resource_template()],
            meta: None,
            next_cursor: None,
            cache_scope: ListResourceTemplatesResultCacheScope::Public,
            result_type: "complete".into(),
            ttl_ms: 0,
        })
    }

    async fn handle_read_resource_request(
        &self,
        ReadResourceRequestParams { uri, .. }: ReadResourceRequestParams,
        _: &RequestContext,
        _: Arc<dyn McpServer>,
    ) -> Result<ServerResult, RpcError> {
        let text = match uri.strip_prefix("greeting://") {
            _ if uri == "info://about" => "A quickstart server.".to_owned(),
            Some(name) if !name.is_empty() => format!("Hello, {name}!"),
            _ => return Err(RpcError::invalid_params().with_message(format!("Resource not found: {uri}"))),
        };
        let contents = TextResourceContents { uri, text, mime_type: Some("text/plain".into()), meta: None };
        Ok(ReadResourceResult {
            contents: vec![contents.into()],
            meta: None,
            cache_scope: ReadResourceResultCacheScope::Public,
            result_type: "complete".into(),
            ttl_ms: 0,
        }
        .into())
    }

    async fn handle_list_prompts_request(
        &self,
        _: Option<PaginatedRequestParams>,
        _: &RequestContext,
        _: Arc<dyn McpServer>,
    ) -> Result<ListPromptsResult, RpcError> {
        Ok(ListPromptsResult {
            prompts: vec![Introduce::prompt()],
            meta: None,
            next_cursor: None,
            cache_scope: ListPromptsResultCacheScope::Public,
            result_type: "complete".into(),
            ttl_ms: 0,
        })
    }

    async fn handle_get_prompt_request(
        &self,
        params: GetPromptRequestParams,
        _: &RequestContext,
        _: Arc<dyn McpServer>,
    ) -> Result<ServerResult, RpcError> {
        if params.name != Introduce::prompt().name {
            return Err(RpcError::invalid_params().with_message(format!("Unknown prompt: {}", params.name)));
        }
        Ok(Introduce::from_arguments(params.arguments.as_ref())?.render().into())
    }

    async fn handle_complete_request(
        &self,
        CompleteRequestParams { argument, ref_, .. }: CompleteRequestParams,
        _: &RequestContext,
        _: Arc<dyn McpServer>,
    ) -> Result<CompleteResult, RpcError> {
        let has_names = match ref_ {
            CompleteRequestRef::PromptReference(prompt) => prompt.name == "introduce",
            CompleteRequestRef::ResourceTemplateReference(template) => template.uri == "greeting://{name}",
        };
        let fitting = NAMES.iter().filter(|name| has_names && name.starts_with(&argument.value));
        Ok(CompleteResult {
            completion: CompleteResultCompletion {
                values: fitting.map(ToString::to_string).collect(),
                has_more: None,
                total: None,
            },
            meta: None,
            result_type: "complete".into(),
        })
    }
}

#[tokio::main]
async fn main() -> SdkResult<()> {
    let server_details = ServerDetails {
        server_info: Implementation {
            name: "quickstart".into(),
            version: "1.0.0".into(),
            title: None,
            description: None,
            icons: vec![],
            website_url: None,
        },
        capabilities: ServerCapabilities {
            tools: Some(ServerCapabilitiesTools { list_changed: None }),
            resources: Some(ServerCapabilitiesResources { list_changed: None, subscribe: None }),
            prompts: Some(ServerCapabilitiesPrompts { list_changed: None }),
            completions: Some(serde_json::from_str("{}").expect("an object")),
            ..Default::default()
        },
        instructions: None,
        meta: None,
    };
    let handler = Quickstart.to_mcp_server_handler();
    match std::env::args().nth(1) {
        Some(port) => {
            let port = port.parse().expect("a port");
            let options = AxumServerOptions { host: "127.0.0.1".into(), port, ..Default::default() };
            create_axum_server(server_details, handler, options).start().await
        }
        None => {
            let transport = StdioTransport::new(TransportOptions::default())?;
            server_runtime::create_server(McpServerOptions { server_details, transport, handler, message_observer: None })
                .start()
                .await
        }
    }
}
