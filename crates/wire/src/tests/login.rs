//! Logins at servers that end them in other ways than at the client.

use std::sync::Arc;

use super::{
    server::{Answer, Server, response},
    *,
};
use crate::target::Login;

const CLIENT: &str = "http://127.0.0.1:1/callback";
const FORM: &str = "<form method=post action=/login><input name=user><input type=password name=pass></form>";

fn redirect(to: &str) -> Answer {
    let head = format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\nset-cookie: sid=cookie-value\r\n");
    Answer::Whole(format!("{head}content-length: 0\r\nconnection: close\r\n\r\n"))
}

/// The login, the requests for it, and the record.
async fn logged_in(answers: Vec<Answer>, denies: bool, times: usize) -> (LoggedIn, Vec<String>, String) {
    let server = Server::start(answers).await;
    let fields = [("user", "ada"), ("pass", "pw")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    let login = Login { fields: fields.to_vec(), deny: denies.then(|| "no".to_owned()), ..Login::default() };
    let mut target = Target::new("test", Start::over(Transport::Http, server.origin.clone(), Vec::new()));
    target.login = Some(Arc::new(login));
    let open = open_target(&target, &limits()).await.expect("open");
    let query = [("redirect_uri", CLIENT)].map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let request = HttpRequest { by: "test".into(), url: Some("/authorize".into()), query, ..HttpRequest::default() };
    let mut done = LoggedIn::default();
    for _ in 0..times {
        done = open.wire.login(&request, denies).await;
    }
    (done, server.requests(), serde_json::to_string(&open.frames()).expect("JSON"))
}

#[tokio::test]
async fn a_login_ends_at_the_client_and_leaves_no_secret_in_the_record() {
    let end = redirect(&format!("{CLIENT}?code=abc-code&state=1"));
    let answers = vec![response("200 OK", "text/html", FORM), redirect("/next?user=ada"), end];
    let (done, requests, record) = logged_in(answers, false, 1).await;
    assert_eq!((done.why, done.posted, done.pages.len()), (None, false, 1));
    let query = &done.http.expect("a response").redirect.expect("a redirect")["query"];
    assert_eq!((&query["code"], &query["state"]), (&"mcp-conform-token-code-1".into(), &"1".into()));
    assert!(requests[1].starts_with("POST /login ") && requests[1].ends_with("user=ada&pass=pw"), "{requests:?}");
    assert!(requests[2].contains("cookie: sid=cookie-value"), "{requests:?}");
    for secret in ["ada", "pass=", "abc-code", "cookie-value"] {
        assert!(!record.contains(secret), "{secret}: {record}");
    }
}

#[tokio::test]
async fn a_login_leaves_no_host_and_gives_up() {
    let (done, requests, _) = logged_in(vec![redirect("http://other.invalid/login")], false, 1).await;
    assert!(done.why.is_some_and(|why| why.contains("other.invalid/login, which is not a host")));
    assert_eq!(requests.len(), 1);
    let endless = (0..20).map(|_| redirect("/again")).collect();
    let (done, requests, _) = logged_in(endless, false, 1).await;
    assert!(done.why.is_some_and(|why| why.contains("after 8 pages")));
    assert_eq!(requests.len(), 8);
    let page = response("200 OK", "text/html", "<p>Hello ada, enable JavaScript");
    let (done, ..) = logged_in(vec![page], false, 1).await;
    assert_eq!(done.why.as_deref(), Some("a page with status 200 has 0 forms: Hello ..., enable JavaScript"));
}

#[tokio::test]
async fn a_wrong_password_is_sent_twice_at_most() {
    let pages = (0..9).map(|_| response("200 OK", "text/html", FORM)).collect();
    let (done, requests, _) = logged_in(pages, false, 3).await;
    assert_eq!(done.why.as_deref(), Some("2 logins failed, so no other is tried"));
    assert_eq!(requests.iter().filter(|request| request.starts_with("POST")).count(), 2);
}

#[tokio::test]
async fn without_the_button_nothing_was_denied() {
    let (done, ..) = logged_in(vec![redirect(&format!("{CLIENT}?code=abc"))], true, 1).await;
    assert_eq!((done.http, done.why.as_deref()), (None, Some("no page had the button to deny")));
}
