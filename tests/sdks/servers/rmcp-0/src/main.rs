//! A server on rmcp 0.16, over stdio.

use rmcp::handler::server::router::{prompt::PromptRouter, tool::ToolRouter};
use rmcp::handler::server::wrapper::{Json, Parameters};
use rmcp::model::*;
use rmcp::schemars::{self, JsonSchema};
use rmcp::service::RequestContext;
use rmcp::{prompt, prompt_handler, prompt_router, tool, tool_handler, tool_router, ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde::{Deserialize, Serialize};
use serde_json::json;

const NAMES: [&str; 4] = ["Ada", "Alan", "Barbara", "Grace"];

#[derive(Deserialize, JsonSchema)]
struct Addition {
    a: i32,
    b: i32,
}

#[derive(Deserialize, JsonSchema)]
struct Text {
    text: String,
}

#[derive(Serialize, JsonSchema)]
struct Counts {
    characters: usize,
    words: usize,
}

#[derive(Deserialize, JsonSchema)]
struct Introduction {
    /// Who
    name: String,
}

#[derive(Clone)]
struct Quickstart {
    tool_router: ToolRouter<Self>,
    prompt_router: PromptRouter<Self>,
}

#[tool_router]
impl Quickstart {
    fn new() -> Self {
        Self { tool_router: Self::tool_router(), prompt_router: Self::prompt_router() }
    }

    #[tool(description = "Add two numbers", annotations(read_only_hint = true))]
    fn add(&self, Parameters(Addition { a, b }): Parameters<Addition>) -> String {
        a.saturating_add(b).to_string()
    }

    #[tool(description = "Count the characters and words of a text", annotations(read_only_hint = true))]
    fn measure(&self, Parameters(Text { text }): Parameters<Text>) -> Json<Counts> {
        Json(Counts { characters: text.chars().count(), words: text.split_whitespace().count() })
    }
}

#[prompt_router]
impl Quickstart {
    #[prompt(name = "introduce", description = "Introduce somebody")]
    async fn introduce(&self, Parameters(Introduction { name }): Parameters<Introduction>) -> Vec<PromptMessage> {
        vec![PromptMessage::new_text(PromptMessageRole::User, format!("Introduce {name} in one sentence."))]
    }
}

#[tool_handler(router = self.tool_router)]
#[prompt_handler(router = self.prompt_router)]
impl ServerHandler for Quickstart {
    fn get_info(&self) -> ServerInfo {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_prompts().enable_resources().enable_completions().build();
        ServerInfo { capabilities, ..Default::default() }
    }

    async fn list_resources(&self, _: Option<PaginatedRequestParams>, _: RequestContext<RoleServer>) -> Result<ListResourcesResult, ErrorData> {
        let mut about = RawResource::new("info://about", "about");
        about.mime_type = Some("text/plain".to_owned());
        Ok(ListResourcesResult::with_all_items(vec![about.no_annotation()]))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = RawResourceTemplate {
            uri_template: "greeting://{name}".to_owned(),
            name: "greeting".to_owned(),
            title: None,
            description: None,
            mime_type: None,
            icons: None,
        };
        Ok(ListResourceTemplatesResult::with_all_items(vec![template.no_annotation()]))
    }

    async fn read_resource(&self, request: ReadResourceRequestParams, _: RequestContext<RoleServer>) -> Result<ReadResourceResult, ErrorData> {
        let uri = request.uri;
        let text = match uri.strip_prefix("greeting://") {
            Some(name) if !name.is_empty() => format!("Hello, {name}!"),
            _ if uri == "info://about" => "A quickstart server.".to_owned(),
            _ => return Err(ErrorData::resource_not_found("Resource not found", Some(json!({ "uri": uri })))),
        };
        Ok(ReadResourceResult { contents: vec![ResourceContents::text(text, uri)] })
    }

    async fn complete(&self, request: CompleteRequestParams, _: RequestContext<RoleServer>) -> Result<CompleteResult, ErrorData> {
        let known = match &request.r#ref {
            Reference::Prompt(prompt) => prompt.name == "introduce",
            Reference::Resource(resource) => resource.uri == "greeting://{name}",
        };
        if !known {
            return Err(ErrorData::invalid_params("Nothing of this name has completions", None));
        }
        let values = NAMES.iter().filter(|name| name.starts_with(&request.argument.value)).map(|name| name.to_string()).collect();
        Ok(CompleteResult { completion: CompletionInfo::new(values).map_err(|error| ErrorData::internal_error(error, None))? })
    }
}

#[tokio::main]
async fn main() {
    let running = Quickstart::new().serve(rmcp::transport::stdio()).await.expect("the client initializes");
    running.waiting().await.expect("the server ends with its client");
}
