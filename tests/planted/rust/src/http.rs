//! A layer between the network and the server, with HTTP faults.
use axum::{
    extract::Request,
    http::{HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};

use crate::planted;

pub async fn between(mut request: Request, next: Next) -> Response {
    if planted("name-header-taken-away") {
        // Simulates a proxy that removes headers that it does not know.
        request.headers_mut().remove("mcp-name");
    }
    let is_call = request.headers().get("mcp-method").is_some_and(|method| method == "tools/call");
    let mut response = next.run(request).await;
    if planted("accepted-with-words") && response.status() == StatusCode::ACCEPTED {
        return (StatusCode::ACCEPTED, "accepted").into_response();
    }
    if planted("refused-as-own-mistake") && response.status() == StatusCode::BAD_REQUEST {
        *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    }
    if planted("stream-as-text") && is_call && response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream") {
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    }
    response
}
