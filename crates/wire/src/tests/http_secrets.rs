//! Secrets over HTTP: to which server they are sent, and that no record shows them.

use serde_json::json;

use super::{
    http::*,
    server::{Server, response},
    *,
};

#[tokio::test]
async fn hides_what_the_user_entrusted_even_if_it_is_repeated() {
    let body = r#"{"error":"secret-token is bad"}"#;
    let (_server, mut open) = asked(response("400 No", "application/json\r\nx-echo: secret-token", body)).await;
    assert_eq!(open.head().await, 400);
    assert_eq!(open.message().await, json!({"error": "(given by the user) is bad"}));
    let record = serde_json::to_string(&open.frames()).expect("JSON");
    assert!(!record.contains("secret-token"), "{record}");
}

#[tokio::test]
async fn sends_a_whole_request_as_it_stands() {
    let (server, mut open) = connect(vec![response("200 OK", JSON, "{}"), response("405 No", JSON, "")]).await;
    let request = |method: &str, url: Option<String>, body: Option<&str>| HttpRequest {
        by: "test".to_owned(),
        method: method.to_owned(),
        url,
        headers: vec![("Authorization".into(), "Bearer wrong".into()), ("X-Twice".into(), "1".into())],
        body: body.map(|body| body.as_bytes().to_vec()),
        ..HttpRequest::default()
    };
    open.wire.http(&request("POST", None, Some("{broken"))).expect("sent");
    assert_eq!(open.head().await, 200);
    assert_eq!(open.message().await, json!({}));
    assert_eq!(open.post_done().await, None);
    open.wire.http(&request("DELETE", Some("/other?x=1".to_owned()), None)).expect("sent");
    assert_eq!(open.head().await, 405);
    let requests = server.requests();
    assert!(requests[0].contains("\r\nAuthorization: Bearer wrong\r\n") && !requests[0].contains("secret-token"));
    assert!(requests[0].ends_with("\r\n\r\n{broken") && !requests[0].to_lowercase().contains("content-type"));
    assert!(requests[1].starts_with("DELETE /other?x=1 HTTP/1.1\r\n"));
    assert_eq!(open.frames()[1].kind, FrameKind::Junk);
    assert!(open.wire.http(&request("GE T", None, None)).is_err());
    assert!(open.wire.http(&request("GET", Some("file:///etc".into()), None)).is_err());
}

#[tokio::test]
async fn entrusts_nothing_to_another_server() {
    let other = Server::start(vec![response("200 OK", JSON, "{}")]).await;
    let (_server, mut open) = connect(vec![]).await;
    let request = HttpRequest {
        by: "test".to_owned(),
        method: "GET".to_owned(),
        url: Some(other.origin.clone()),
        ..HttpRequest::default()
    };
    open.wire.http(&request).expect("sent");
    assert_eq!(open.head().await, 200);
    assert!(!other.requests()[0].contains("secret-token"));
}

#[tokio::test]
async fn refuses_what_is_no_url() {
    for (url, came) in
        [("localhost:3000", "localhost is neither http nor https"), ("/mcp", "relative URL without a base")]
    {
        let error = try_open(start(url.to_owned(), &[]), &limits()).await.err().expect("an error");
        assert_eq!(error.came, came);
    }
    let error = try_open(start("http://h/".to_owned(), &[("bad name", "x")]), &limits()).await.err().expect("an error");
    assert_eq!(error.came, "the header \"bad name\" cannot be sent");
}

#[tokio::test]
async fn sends_the_password_of_a_url_and_shows_it_nowhere() {
    let server = Server::start(vec![response("200 OK", JSON, "{}")]).await;
    let url = server.origin.replace("http://", "http://user:pass-word@");
    let mut open = open(start(url, &[]), &limits()).await;
    open.wire.send(&envelope(), &json!({})).expect("sent");
    assert_eq!(open.head().await, 200);
    assert!(server.requests()[0].contains("\r\nauthorization: Basic dXNlcjpwYXNzLXdvcmQ=\r\n"));
    let record = serde_json::to_string(&open.frames()).expect("JSON");
    assert!(!record.contains("pass-word") && !record.contains("dXNlcjpwYXNz"), "{record}");
}

#[tokio::test]
async fn a_header_can_be_left_out_though_the_user_gave_it() {
    let (server, mut open) = connect(vec![response("401 No", JSON, r#"{"error":"invalid_token"}"#)]).await;
    let request =
        HttpRequest { method: "POST".into(), without: vec!["AUTHORIZATION".into()], ..HttpRequest::default() };
    open.wire.http(&request).expect("sent");
    assert_eq!(open.head().await, 401);
    // A response that denies access contains no message.
    assert_eq!(open.document().await, Some(json!({ "error": "invalid_token" })));
    assert!(!server.requests()[0].contains("authorization"));
}

#[tokio::test]
async fn tokens_are_sent_in_the_place_of_their_stand_ins_and_shown_nowhere() {
    let granted = r#"{"access_token":"brand-new-token","say":"geheim-2 & geheim-1"}"#;
    let server = Server::start(vec![response("200 OK", JSON, "{}"), response("200 OK", JSON, granted)]).await;
    let token = |name: &str, value: &str| Token { name: name.to_owned(), value: value.to_owned() };
    let mut target = Target::new("test", start(format!("{}/mcp?key=1", server.origin), &[]));
    target.tokens = vec![token("own", "geheim-1"), token("narrow", "geheim-2")];
    let mut open = open_target(&target, &limits()).await.expect("a connection");
    let request = HttpRequest {
        method: "POST".into(),
        headers: vec![("Authorization".into(), format!("Bearer {}", target.tokens[1].stand_in()))],
        query: vec![("access_token".into(), target.tokens[0].stand_in())],
        ..HttpRequest::default()
    };
    open.wire.http(&request).expect("sent");
    assert_eq!((open.head().await, open.message().await), (200, json!({})));
    assert_eq!(open.post_done().await, None);
    open.wire.http(&HttpRequest { url: Some("/token".into()), ..request }).expect("sent");
    assert_eq!(open.head().await, 200);
    let document = open.document().await.expect("a document");
    assert_eq!(
        document,
        json!({ "access_token": "mcp-conform-token-access_token-1", "say": "(given by the user) & (given by the user)" })
    );
    let sent = &server.requests()[0];
    assert!(sent.starts_with("POST /mcp?key=1&access_token=geheim-1 HTTP/1.1\r\n"), "{sent}");
    assert!(sent.contains("\r\nAuthorization: Bearer geheim-2\r\n"), "{sent}");
    let record = serde_json::to_string(&open.frames()).expect("JSON");
    assert!(!record.contains("geheim") && !record.contains("brand-new"), "{record}");
    assert!(record.contains("access_token=mcp-conform-token-own"), "{record}");
}
