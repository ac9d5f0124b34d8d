//! One stream for all responses, one POST per request.

use serde_json::json;

use super::{
    server::{Answer, Server, response, stream},
    *,
};

fn start(server: &Server) -> Start {
    Start::over(Transport::Sse, format!("{}/sse", server.origin), vec![])
}

async fn refused(answer: Answer, limits: &Limits) -> OpenError {
    let server = Server::start(vec![answer]).await;
    match try_open(start(&server), limits).await {
        Ok(_) => panic!("it opened"),
        Err(error) => error,
    }
}

#[tokio::test]
async fn posts_to_the_endpoint_and_takes_replies_from_the_stream() {
    let events = "event: endpoint\ndata: /messages?id=7\n\nevent: message\ndata: {\"id\":1}\n\n";
    let answers = vec![
        Answer::Held(stream(events)),
        response("202 Accepted", "text/plain", "Accepted"),
        response("400 Bad", "text/plain", "what?"),
    ];
    let mut server = Server::start(answers).await;
    let mut open = open(start(&server), &limits()).await;
    match open.next().await {
        Incoming::Message { message, post, .. } => assert_eq!((message, post), (json!({"id": 1}), None)),
        other => panic!("{other:?}"),
    }
    let posted = open.wire.send(&envelope(), &json!({"id": 1})).expect("sent");
    assert_eq!(open.head().await, 202);
    assert_eq!(open.post_done().await, None);
    assert!(server.requests()[1].starts_with("POST /messages?id=7 HTTP/1.1\r\n"));
    assert_eq!(posted.post, Some(2));
    assert!(open.notes().contains(&"the server added: Accepted".to_owned()));

    open.wire.send(&envelope(), &json!({"id": 2})).expect("sent");
    assert_eq!(open.head().await, 400);
    assert_eq!(open.junk().await, "text/plain is neither application/json nor text/event-stream");
    assert_eq!(open.post_done().await, None);
    open.wire.close().await;
    server.client_left().await;
}

#[tokio::test]
async fn tells_that_the_stream_ended() {
    let server = Server::start(vec![Answer::Whole(stream("event: endpoint\ndata: /messages\n\n"))]).await;
    let mut open = open(start(&server), &limits()).await;
    assert_eq!(open.closed().await, "the event stream ended");
    assert_eq!(open.wire.send(&envelope(), &json!({})).expect_err("gone"), "the event stream has ended");
}

#[tokio::test]
async fn says_why_there_is_no_connection() {
    let hurried = Limits { request: Duration::from_millis(50), ..limits() };
    let elsewhere = "event: endpoint\ndata: http://192.0.2.1/messages\n\n";
    for (answer, limits, came) in [
        (
            response("404 No", "text/html", "<h1>"),
            &limits(),
            "the response is not an event stream: status 404, text/html",
        ),
        (
            response("200 OK", "application/json", ""),
            &limits(),
            "the response is not an event stream: status 200, application/json",
        ),
        (Answer::Whole(stream("data: {}\n\n")), &limits(), "the event stream ended"),
        (Answer::Held(stream("data: {}\n\n")), &hurried, "no endpoint event within 50ms"),
        (Answer::Held(stream(elsewhere)), &limits(), "the endpoint http://192.0.2.1/messages is on another server"),
    ] {
        assert_eq!(refused(answer, limits).await.came, came);
    }
}
