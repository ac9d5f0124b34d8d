//! A server on tower-mcp 0.25. argv: a port for Streamable HTTP, none for stdio.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tower_mcp::protocol::{CompleteParams, CompletionReference, GetPromptResult, ReadResourceResult};
use tower_mcp::resource::ResourceTemplateBuilder;
use tower_mcp::{
    BoxError, CallToolResult, CompleteResult, HttpTransport, McpRouter, PromptBuilder, ResourceBuilder, StdioTransport, ToolBuilder,
};

const NAMES: [&str; 4] = ["Ada", "Alan", "Barbara", "Grace"];

#[derive(Debug, Deserialize, JsonSchema)]
struct Addition {
    a: i32,
    b: i32,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Text {
    text: String,
}

#[derive(Serialize, JsonSchema)]
struct Counts {
    characters: usize,
    words: usize,
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let add = ToolBuilder::new("add")
        .description("Add two numbers")
        .read_only()
        .handler(|Addition { a, b }: Addition| async move { Ok(CallToolResult::text(a.saturating_add(b).to_string())) })
        .build();
    let measure = ToolBuilder::new("measure")
        .description("Count the characters and words of a text")
        .read_only()
        .output_schema_for::<Counts>()
        .handler(|Text { text }: Text| async move {
            CallToolResult::from_serialize(&Counts { characters: text.chars().count(), words: text.split_whitespace().count() })
        })
        .build();
    let about = ResourceBuilder::new("info://about")
        .name("about")
        .description("What this server is")
        .mime_type("text/plain")
        .text("A quickstart server.");
    let greeting = ResourceTemplateBuilder::new("greeting://{name}")
        .name("greeting")
        .description("A greeting for somebody")
        .handler(|uri: String, variables: HashMap<String, String>| async move {
            let text = format!("Hello, {}!", variables["name"]);
            Ok(ReadResourceResult::text(uri, text))
        });
    let introduce = PromptBuilder::new("introduce")
        .description("Introduce somebody")
        .required_arg("name", "Who")
        .handler(|arguments: HashMap<String, String>| async move {
            let name = &arguments["name"];
            Ok(GetPromptResult::user_message(format!("Introduce {name} in one sentence.")))
        })
        .build();
    let router = McpRouter::new()
        .server_info("quickstart", "1.0.0")
        .tools([add, measure])
        .resource(about)
        .resource_template(greeting)
        .prompt(introduce)
        .completion_handler(|CompleteParams { reference, argument, .. }| async move {
            let has_names = match reference {
                CompletionReference::Prompt { name } => name == "introduce",
                CompletionReference::Resource { uri } => uri == "greeting://{name}",
                _ => false,
            };
            let fitting = NAMES.iter().filter(|name| has_names && name.starts_with(&argument.value));
            Ok(CompleteResult::new(fitting.map(|name| name.to_string()).collect()))
        });

    match std::env::args().nth(1) {
        Some(port) => {
            let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}")).await?;
            axum::serve(listener, HttpTransport::new(router).into_router_at("/mcp")).await?;
        }
        None => StdioTransport::new(router).run().await?,
    }
    Ok(())
}
