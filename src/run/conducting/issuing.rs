//! Listens as the authorization server that a server trusts, for the length of a run.

use std::{convert::Infallible, sync::Arc};

use http_body_util::{BodyExt, Full, Limited};
use hyper::{
    Method, Request, Response, StatusCode,
    body::Bytes,
    header::{CONTENT_TYPE, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinSet};

use crate::{error::Error, target::Issuing};

/// A request for introspection is small.
const LONGEST: usize = 64 << 10;

/// Serves until it is dropped.
pub struct Listening(#[expect(dead_code, reason = "its end ends the tasks")] JoinSet<()>);

pub async fn listen(issuing: Arc<Issuing>) -> Result<Listening, Error> {
    let address = &issuing.address;
    let listener = TcpListener::bind(address).await.map_err(|why| Error::Usage {
        message: format!("`issuer = \"{address}\"` cannot be listened at: {why}"),
        help: Some("use a free port of this machine, and start the server with the same issuer".into()),
    })?;
    let mut tasks = JoinSet::new();
    tasks.spawn(accept(listener, issuing));
    Ok(Listening(tasks))
}

async fn accept(listener: TcpListener, issuing: Arc<Issuing>) {
    let mut connections = JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let issuing = Arc::clone(&issuing);
        connections.spawn(async move {
            let respond = service_fn(|request| respond(&issuing, request));
            let served: Result<(), hyper::Error> =
                http1::Builder::new().serve_connection(TokioIo::new(stream), respond).await;
            // A connection that the server ends early needs no response.
            drop(served);
        });
        while connections.try_join_next().is_some() {}
    }
}

async fn respond(
    issuing: &Issuing,
    request: Request<hyper::body::Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let path = head.uri.path();
    let document = match head.method {
        Method::GET => issuing.documents.iter().find(|(known, _)| known == path).map(|(_, document)| document.clone()),
        Method::POST if path == "/introspect" => introspected(issuing, Limited::new(body, LONGEST)).await,
        _ => None,
    };
    let mut response = Response::new(Full::new(document.as_ref().map(Value::to_string).unwrap_or_default().into()));
    if document.is_some() {
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    } else {
        *response.status_mut() = StatusCode::NOT_FOUND;
    }
    Ok(response)
}

async fn introspected(issuing: &Issuing, body: Limited<hyper::body::Incoming>) -> Option<Value> {
    let form = body.collect().await.ok()?.to_bytes();
    let token = form_urlencoded::parse(&form).find(|(name, _)| name == "token").map(|(_, token)| token.into_owned());
    let known = issuing.claims.iter().find(|(known, _)| Some(known) == token.as_ref());
    Some(known.map_or_else(|| json!({ "active": false }), |(_, claims)| claims.clone()))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use conform_wire::fetch;

    use super::*;

    async fn fetched(url: &str, body: Option<&str>) -> (u16, Value) {
        let method = if body.is_some() { "POST" } else { "GET" };
        let reply =
            fetch(None, method, url, &[], body.map(str::to_owned), Duration::from_secs(10)).await.expect("a response");
        (reply.status, serde_json::from_slice(&reply.body).unwrap_or_default())
    }

    #[tokio::test]
    async fn keys_and_introspection_are_served_until_the_end() {
        let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
        let issuing = Arc::new(Issuing {
            address: free.to_string(),
            documents: vec![("/jwks".to_owned(), json!({ "keys": [] }))],
            claims: vec![("a+b".to_owned(), json!({ "active": true, "sub": "one" }))],
        });
        let listening = listen(Arc::clone(&issuing)).await.expect("a listener");
        assert!(listen(issuing).await.is_err());
        let url = |path: &str| format!("http://{free}{path}");
        assert_eq!(fetched(&url("/jwks"), None).await, (200, json!({ "keys": [] })));
        assert_eq!(fetched(&url("/other"), None).await.0, 404);
        assert_eq!(fetched(&url("/introspect"), Some("token=a%2Bb")).await.1["sub"], "one");
        assert_eq!(fetched(&url("/introspect"), Some("token=other")).await.1, json!({ "active": false }));
        drop(listening);
        tokio::task::yield_now().await;
        let again = fetch(None, "GET", &url("/jwks"), &[], None, Duration::from_secs(10)).await;
        assert!(again.is_err());
    }
}
