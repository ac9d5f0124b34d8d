//! A server on rmcp over stdio with a few resources, for `benches/run.py --compare`.

use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt,
    model::{
        ListResourcesResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
        ReadResourceResult, Resource, ResourceContents, ServerCapabilities, ServerConfig,
    },
    service::RequestContext,
};

const PLACES: [(&str, &str); 2] = [("place://harbour", "Ships leave at noon."), ("place://market", "Open on Fridays.")];

#[derive(Clone)]
struct Places;

impl ServerHandler for Places {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_resources().build())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resources = PLACES.map(|(uri, _)| Resource::new(uri, uri.trim_start_matches("place://")));
        Ok(ListResourcesResult::with_all_items(resources.to_vec()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        match PLACES.iter().find(|(uri, _)| *uri == request.uri) {
            Some((uri, text)) => Ok(ReadResourceResult::new(vec![ResourceContents::text(*text, *uri)]).into()),
            None => Err(ErrorData::resource_not_found("no such place", None)),
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let service = Places.serve((tokio::io::stdin(), tokio::io::stdout())).await;
    if let Ok(service) = service {
        let _ = service.waiting().await;
    }
}
