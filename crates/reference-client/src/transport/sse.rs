//! HTTP+SSE, the transport of 2024-11-05: one GET stream for all messages of the server, and an endpoint for those of
//! the client.

use std::{cell::RefCell, rc::Rc, time::Duration};

use hyper::Uri;
use serde_json::Value;
use tokio::{
    sync::watch,
    task::{AbortHandle, spawn_local},
    time::timeout,
};

use crate::{
    message,
    report::Failure,
    state::Client,
    transport::{
        event_stream::EventStream,
        http::Http,
        posting,
        raw::{self, Answer},
        streams,
    },
};

/// How long to wait for the endpoint event. A guess.
const ENDPOINT: Duration = Duration::from_secs(10);

pub struct Sse {
    endpoint: String,
    tasks: RefCell<Vec<AbortHandle>>,
}

impl Sse {
    /// Opens the stream and waits for its endpoint event.
    pub async fn open(client: &Rc<Client>, url: &str) -> Result<Rc<Self>, Failure> {
        let posting = posting::without_message(client, "GET", url, None);
        let (head, answer) = raw::send(&*client.outside, &posting).await.map_err(Failure::closed)?;
        if head.status != 200 || head.media.as_deref() != Some("text/event-stream") {
            let failure = Failure::closed(format!("GET: HTTP status {}, expected an event stream", head.status));
            return Err(Failure { status: Some(head.status), ..failure });
        }
        let (sender, mut receiver) = watch::channel(None);
        let task = spawn_local(listen(Rc::clone(client), answer, sender)).abort_handle();
        if client.ways.guesses_endpoint {
            let endpoint = resolve(url, "/messages").unwrap_or_default();
            return Ok(Rc::new(Self { endpoint, tasks: RefCell::new(vec![task]) }));
        }
        let named = timeout(ENDPOINT, receiver.wait_for(Option::is_some)).await;
        let named = named.ok().and_then(Result::ok).and_then(|endpoint| endpoint.clone());
        let Some(named) = named else {
            task.abort();
            return Err(Failure::closed("the event stream named no endpoint"));
        };
        let endpoint =
            resolve(url, &named).ok_or_else(|| Failure::closed(format!("endpoint `{named}` is not a URI")))?;
        let endpoint = client.ways.endpoint.map_or(endpoint, |hook| hook(url, &named));
        Ok(Rc::new(Self { endpoint, tasks: RefCell::new(vec![task]) }))
    }

    pub async fn send(self: &Rc<Self>, client: &Rc<Client>, message: Value) {
        let ids = message::request_ids(&message);
        let posting = posting::with_message(client, &self.endpoint, &message);
        let client = Rc::clone(client);
        let waits = ids.is_empty() && client.ways.habits.awaits_acceptance;
        let work = async move {
            match Http::exchange(&client, &posting).await {
                Ok((head, answer)) => {
                    // The response is on the stream; this one only says whether the message was accepted.
                    raw::whole(answer).await.ok();
                    if head.disconnect {
                        return client.disconnect("the response to a POST was not expected");
                    }
                    if head.status >= 300 && !head.unnoticed {
                        let why = format!("HTTP status {}", head.status);
                        client.fail(&ids, &Failure { status: Some(head.status), ..Failure::closed(why) });
                    }
                }
                Err(failure) => client.fail(&ids, &failure),
            }
        };
        if waits {
            timeout(ENDPOINT, work).await.ok();
        } else {
            self.tasks.borrow_mut().push(spawn_local(work).abort_handle());
        }
    }

    pub fn close(&self) {
        for task in self.tasks.borrow_mut().drain(..) {
            task.abort();
        }
    }
}

async fn listen(client: Rc<Client>, answer: Answer, sender: watch::Sender<Option<String>>) {
    let Answer { body, guard } = answer;
    let mut stream = EventStream::new(client.ways.streams, None);
    streams::read(&client, body, &mut stream, |client, event| {
        if event.name == "endpoint" {
            sender.send_if_modified(|endpoint| endpoint.replace(event.data.clone()).is_none());
        } else {
            streams::hear(client, event);
        }
    })
    .await;
    drop(guard);
    client.lose("the event stream ended");
}

/// Resolves a reference against the URL of the stream, as in RFC 3986.
fn resolve(base: &str, reference: &str) -> Option<String> {
    let reference = reference.trim();
    let base: Uri = base.parse().ok()?;
    let (scheme, authority) = (base.scheme_str()?, base.authority()?);
    let has_scheme = reference.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    });
    if has_scheme {
        return Some(reference.to_owned());
    }
    if let Some(rest) = reference.strip_prefix("//") {
        return Some(format!("{scheme}://{rest}"));
    }
    let reference = reference.split('#').next().unwrap_or_default();
    let (path, query) = reference.split_once('?').map_or((reference, None), |(path, query)| (path, Some(query)));
    let path = if path.is_empty() {
        base.path().to_owned()
    } else if path.starts_with('/') {
        without_dots(path)
    } else {
        let folder = base.path().rsplit_once('/').map_or("", |(folder, _)| folder);
        without_dots(&format!("{folder}/{path}"))
    };
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    Some(format!("{scheme}://{authority}{path}{query}"))
}

fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    for (at, segment) in segments.iter().enumerate() {
        let last = at + 1 == segments.len();
        match *segment {
            "." | ".." => {
                if *segment == ".." {
                    kept.pop();
                }
                if last {
                    kept.push("");
                }
            }
            segment => kept.push(segment),
        }
    }
    format!("/{}", kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::resolve;

    #[test]
    fn endpoints_are_resolved_against_the_stream() {
        let of = |reference: &str| resolve("http://h:1/proxy/sse?x=1", reference).unwrap();
        assert_eq!(of("/messages?session=a%20b"), "http://h:1/messages?session=a%20b");
        assert_eq!(of("messages/?s=1"), "http://h:1/proxy/messages/?s=1");
        assert_eq!(of("../m"), "http://h:1/m");
        assert_eq!(of("?s=1"), "http://h:1/proxy/sse?s=1");
        assert_eq!(of("http://other:2/m"), "http://other:2/m");
        assert_eq!(of("//other:2/m"), "http://other:2/m");
    }
}
