//! Exchanges that succeed, and all the ways in which they fail.

use serde_json::json;

use super::{
    server::{Answer, Server, response, stream},
    *,
};

pub const ID: u64 = 1;
pub const JSON: &str = "application/json";

pub fn start(url: String, headers: &[(&str, &str)]) -> Start {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Start::over(Transport::Http, url, headers)
}

pub async fn connect(answers: Vec<Answer>) -> (Server, Open) {
    connect_within(answers, &limits()).await
}

pub async fn connect_within(answers: Vec<Answer>, limits: &Limits) -> (Server, Open) {
    let server = Server::start(answers).await;
    let open = open(start(format!("{}/mcp", server.origin), &[("Authorization", "Bearer secret-token")]), limits).await;
    (server, open)
}

pub async fn asked(answer: Answer) -> (Server, Open) {
    let (server, open) = connect(vec![answer]).await;
    open.wire.send(&envelope(), &json!({"id": ID})).expect("sent");
    (server, open)
}

#[tokio::test]
async fn posts_a_message_and_takes_the_answer() {
    let (server, mut open) = connect(vec![response("200 OK", "Application/JSON; charset=utf-8", "{\"id\":1}")]).await;
    let envelope = Envelope { by: "test".to_owned(), headers: vec![("Mcp-Method".into(), "ping".into())] };
    let posted = open.wire.send(&envelope, &json!({"id": 1})).expect("sent");
    assert_eq!((posted.frame, posted.post), (2, Some(1)));
    assert_eq!(open.head().await, 200);
    assert_eq!(open.message().await, json!({"id": 1}));
    assert_eq!(open.post_done().await, None);

    let request = &server.requests()[0];
    assert!(request.starts_with("POST /mcp HTTP/1.1\r\n") && request.ends_with("\r\n\r\n{\"id\":1}"), "{request}");
    for line in [
        "content-type: application/json",
        "accept: application/json, text/event-stream",
        "mcp-method: ping",
        "authorization: Bearer secret-token",
    ] {
        assert!(request.contains(&format!("\r\n{line}\r\n")), "{line} in {request}");
    }
    let frames = open.frames();
    let kinds: Vec<FrameKind> = frames.iter().map(|frame| frame.kind).collect();
    assert_eq!(kinds, [FrameKind::HttpRequest, FrameKind::Message, FrameKind::HttpResponse, FrameKind::Message]);
    assert!(frames.iter().all(|frame| frame.post == Some(1)));
    let head = frames[0].http.as_ref().expect("a head");
    assert_eq!(head.headers.last(), Some(&("authorization".into(), "(given by the user)".into())));
}

#[tokio::test]
async fn takes_each_event_and_where_to_go_on() {
    let events = ": hello\n\nid: a1\nretry: 50\ndata:\n\nid: a2\nevent: message\ndata: {\"n\":1}\n\ndata: oops\n\ndata: {\"id\":1}\n\ndata: {";
    let (_server, mut open) = asked(Answer::Whole(stream(events))).await;
    assert_eq!(open.head().await, 200);
    assert_eq!(open.message().await, json!({"n": 1}));
    assert_eq!(open.junk().await, "not JSON: expected value at column 1");
    assert_eq!(open.message().await, json!({"id": 1}));
    assert_eq!(open.junk().await, "the stream ended within this event");
    assert_eq!(open.post_done().await, None);
    let last = open.wire.last_event(1).expect("an event with an id");
    assert_eq!((last.id.as_deref(), last.retry), (Some("a2"), Some(50)));
    let frames = open.frames();
    assert_eq!(frames[3].text.as_deref(), Some("an event with empty data"));
    let event = frames[4].event.as_ref().expect("an event");
    assert_eq!((event.id.as_deref(), event.name.as_deref(), event.retry), (Some("a2"), Some("message"), None));
}

#[tokio::test]
async fn takes_events_of_other_names_for_messages_only_where_they_hold_one() {
    let events = "event: heartbeat\ndata: {\"at\":1}\n\nevent: ping\ndata: now\n\nevent: response\ndata: {\"jsonrpc\":\"2.0\",\"id\":1}\n\n";
    let (_server, mut open) = asked(Answer::Whole(stream(events))).await;
    assert_eq!(open.head().await, 200);
    assert_eq!(open.message().await, json!({"jsonrpc": "2.0", "id": 1}));
    assert_eq!(open.post_done().await, None);
    let notes = open.notes();
    assert_eq!(notes.iter().filter(|note| *note == "an event with another name, without a message").count(), 2);
}

#[tokio::test]
async fn listens_without_a_request() {
    let (server, mut open) = connect(vec![Answer::Whole(stream("data: {}\n\n"))]).await;
    open.wire.listen(&envelope()).expect("sent");
    assert_eq!(open.head().await, 200);
    assert_eq!(open.message().await, json!({}));
    assert!(server.requests()[0].starts_with("GET /mcp HTTP/1.1\r\naccept: text/event-stream\r\n"));
}

#[tokio::test]
async fn takes_an_empty_answer_for_nothing() {
    let (_server, mut open) = asked(response("202 Accepted", JSON, "")).await;
    assert_eq!(open.head().await, 202);
    assert_eq!(open.post_done().await, None);
}

#[tokio::test]
async fn sends_again_what_was_put_off() {
    let later = |after: &str| {
        Answer::Whole(format!("HTTP/1.1 429 Slow down\r\nretry-after: {after}\r\ncontent-length: 0\r\n\r\n"))
    };
    let (server, mut open) = connect(vec![later("0"), response("200 OK", JSON, "{\"id\":1}"), later("3600")]).await;
    let posted = open.wire.send(&envelope(), &json!({"id": ID})).expect("sent");
    assert_eq!((open.head().await, open.message().await, open.post_done().await), (200, json!({"id": ID}), None));
    assert_eq!(open.wire.put_off(posted.post).times, 1);
    assert_eq!(server.requests()[0], server.requests()[1]);
    let note = open.frames().into_iter().find(|frame| frame.kind == FrameKind::Note).expect("a note");
    assert_eq!(note.text.as_deref(), Some("rejected with status 429: sent again in 0.5 s"));

    // An hour is longer than any request may be delayed.
    let posted = open.wire.send(&envelope(), &json!({"id": ID})).expect("sent");
    assert_eq!((open.head().await, open.wire.put_off(posted.post).times), (429, 0));
}

#[tokio::test]
async fn sends_again_what_came_while_the_server_was_busy() {
    let (server, mut open) =
        connect(vec![response("503 Busy", JSON, ""), response("200 OK", JSON, "{\"id\":1}")]).await;
    let posted = open.wire.send(&envelope(), &json!({"id": ID})).expect("sent");
    assert_eq!((open.head().await, open.message().await, open.post_done().await), (200, json!({"id": ID}), None));
    assert_eq!((open.wire.put_off(posted.post).times, server.requests().len()), (1, 2));
}

#[tokio::test]
async fn sends_again_what_was_cut_off_but_calls_of_tools_only_once() {
    for (method, deliveries) in [("ping", 3), ("tools/call", 2)] {
        let closed = (0..10).map(|_| Answer::Whole(String::new())).collect();
        let (server, mut open) = connect(closed).await;
        open.wire.send(&envelope(), &json!({ "id": ID, "method": method })).expect("sent");
        assert!(open.post_done().await.is_some());
        // Other connections only check whether the server still listens.
        let delivered = server.requests().iter().filter(|request| request.contains(method)).count();
        assert_eq!(delivered, deliveries, "{method}");
        let notes = open.frames().into_iter().filter(|frame| frame.kind == FrameKind::Note && frame.ended.is_none());
        assert_eq!(notes.count(), deliveries - 1, "{method}");
    }
}

#[tokio::test]
async fn keeps_what_is_no_message() {
    for (media, body, why) in [
        ("text/html", "<h1>", "text/html is neither application/json nor text/event-stream"),
        (JSON, "<h1>", "not JSON: expected value at column 1"),
        ("application/json\r\ncontent-encoding: gzip", "??", "encoded as gzip, which the client did not accept"),
    ] {
        let (_server, mut open) = asked(response("500 Oops", media, body)).await;
        assert_eq!(open.head().await, 500);
        assert_eq!(open.junk().await, why);
        assert_eq!(open.post_done().await, None);
        assert_eq!(open.frames()[3].text.as_deref(), Some(body));
    }
}

#[tokio::test]
async fn follows_no_redirect() {
    let (server, mut open) = asked(response("307 Elsewhere", "text/plain\r\nlocation: /other", "")).await;
    assert_eq!(open.head().await, 307);
    assert_eq!(open.post_done().await, None);
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn tells_in_words_how_an_exchange_failed() {
    for (answer, words) in [
        ("", "the server closed the connection before the response was complete"),
        ("HTTP/1.1 200 OK\r\ncontent-le", "the server closed the connection before the response was complete"),
        ("SSH-2.0-OpenSSH_9.6\r\n\r\n", "the response is not HTTP: invalid HTTP version parsed"),
    ] {
        let (_server, mut open) = asked(Answer::Whole(answer.to_owned())).await;
        assert_eq!(open.post_done().await.as_deref(), Some(words));
        assert_eq!(open.notes(), [words]);
    }
}

#[tokio::test]
async fn keeps_what_came_of_a_body_that_broke_off() {
    let whole = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
    for (body, text, words) in [
        (
            "content-length: 99\r\n\r\n{\"id\"",
            "{\"id\"",
            "the server closed the connection before the response was complete",
        ),
        (
            "transfer-encoding: chunked\r\n\r\n2\r\n{}\r\nzz\r\n",
            "{}",
            "the chunked encoding is broken: Invalid chunk size line: missing size digit",
        ),
    ] {
        let (_server, mut open) = asked(Answer::Whole(format!("{whole}{body}"))).await;
        assert_eq!(open.head().await, 200);
        assert_eq!(open.junk().await, format!("the body was incomplete: {words}"));
        assert_eq!(open.post_done().await.as_deref(), Some(words));
        assert_eq!(open.frames()[3].text.as_deref(), Some(text));
    }
}

#[tokio::test]
async fn takes_the_events_before_a_stream_broke_off() {
    let broken = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\na\r\ndata: {}\n\n\r\n!";
    let (_server, mut open) = asked(Answer::Whole(broken.to_owned())).await;
    assert_eq!(open.head().await, 200);
    assert_eq!(open.message().await, json!({}));
    assert!(open.post_done().await.is_some());
}

#[tokio::test]
async fn reads_no_more_than_the_limit() {
    let small = Limits { message_bytes: 20, ..limits() };
    let long = format!("\"{}\"", "x".repeat(100));
    let answers =
        vec![response("200 OK", JSON, &long), Answer::Whole(stream(&format!("data: {long}\n\ndata: {{}}\n\n")))];
    let (_server, mut open) = connect_within(answers, &small).await;
    let why = "longer than 20 bytes, not read further";
    open.wire.send(&envelope(), &json!({})).expect("sent");
    assert_eq!(open.head().await, 200);
    assert_eq!(open.junk().await, why);
    assert_eq!(open.post_done().await.as_deref(), Some(why));
    open.wire.send(&envelope(), &json!({})).expect("sent");
    assert_eq!(open.head().await, 200);
    assert_eq!(open.junk().await, why);
    assert_eq!(open.message().await, json!({}));
    assert_eq!(open.post_done().await, None);
}

#[tokio::test]
async fn tells_that_nobody_listens() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let mut open = open(start(format!("http://{free}/mcp"), &[]), &limits()).await;
    open.wire.send(&envelope(), &json!({})).expect("sent");
    let failure = open.failure().await.expect("a failure");
    assert_eq!(failure, Reason::new(Cause::ConnectionRefused, "connection refused"));
    assert_eq!(help(failure.cause), Some("is the server running, and does it listen on that port?"));
}

#[tokio::test]
async fn waits_for_nobody_where_the_server_never_was() {
    let (_server, mut open) = asked(response("200 OK", JSON, "{\"id\":1}")).await;
    assert_eq!((open.head().await, open.message().await, open.post_done().await), (200, json!({"id": ID}), None));
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let elsewhere = HttpRequest {
        by: "test".to_owned(),
        method: "GET".to_owned(),
        url: Some(format!("http://{free}/")),
        ..HttpRequest::default()
    };
    let posted = open.wire.http(&elsewhere).expect("sent");
    assert_eq!(open.post_done().await.as_deref(), Some("connection refused"));
    assert_eq!(open.wire.put_off(posted.post), PutOff::default());
}

#[tokio::test]
async fn abandons_an_exchange() {
    let (mut server, mut open) = connect(vec![Answer::Held(stream("data: {}\n\n"))]).await;
    let posted = open.wire.send(&envelope(), &json!({})).expect("sent");
    assert_eq!(open.head().await, 200);
    assert_eq!(open.message().await, json!({}));
    open.wire.abandon(posted.post.expect("a number"));
    assert_eq!(open.post_done().await.as_deref(), Some("abandoned by the client"));
    server.client_left().await;
}

#[tokio::test]
async fn closing_leaves_the_server() {
    let (mut server, mut open) = connect(vec![Answer::Held(stream(""))]).await;
    open.wire.listen(&envelope()).expect("sent");
    assert_eq!(open.head().await, 200);
    assert_eq!(open.wire.close().await.how, "the client closed its connections");
    server.client_left().await;
}
