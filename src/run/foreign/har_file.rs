//! The parts of an HTTP Archive that are read. Tools omit fields that the format requires, so few are required here.

use std::{fmt::Display, str::FromStr, time::Duration};

use base64::{Engine, prelude::BASE64_STANDARD};
use hyper::{
    HeaderMap, Method, Uri,
    header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue},
    http::{request, response},
};
use jiff::Timestamp;
use reqwest::Url;
use serde::{Deserialize, Deserializer, de::Error};
use serde_json::Value;

use super::streams;

#[derive(Deserialize)]
pub struct Har {
    pub log: Log,
}

#[derive(Deserialize)]
pub struct Log {
    #[serde(default)]
    pub creator: Creator,
    pub entries: Vec<Entry>,
}

#[derive(Default, Deserialize)]
pub struct Creator {
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub version: String,
}

/// One request and its response.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    #[serde(deserialize_with = "parsed")]
    pub started_date_time: Timestamp,
    #[serde(default)]
    timings: Timings,
    request: Request,
    response: Response,
    /// The TCP connection, where it is known.
    pub connection: Option<String>,
}

fn parsed<'de, D: Deserializer<'de>, T: FromStr<Err: Display>>(from: D) -> Result<T, D::Error> {
    String::deserialize(from)?.parse().map_err(D::Error::custom)
}

/// Milliseconds; what does not apply is -1, null or absent.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Timings {
    blocked: Option<f64>,
    dns: Option<f64>,
    connect: Option<f64>,
    send: Option<f64>,
    wait: Option<f64>,
    receive: Option<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request {
    method: String,
    #[serde(deserialize_with = "parsed")]
    url: Url,
    #[serde(default)]
    headers: Vec<Header>,
    post_data: Option<PostData>,
}

#[derive(Deserialize)]
struct PostData {
    text: Option<String>,
}

#[derive(Deserialize)]
struct Response {
    #[serde(default)]
    status: i32,
    #[serde(default)]
    headers: Vec<Header>,
    #[serde(default)]
    content: Content,
}

#[derive(Default, Deserialize)]
struct Content {
    text: Option<String>,
    encoding: Option<String>,
}

#[derive(Deserialize)]
struct Header {
    name: String,
    value: String,
}

impl Entry {
    pub fn url(&self) -> &Url {
        &self.request.url
    }

    pub fn is(&self, method: &Method) -> bool {
        self.request.method == method.as_str()
    }

    /// The body of the request; none also means that the file does not have it.
    pub fn sent(&self) -> Option<&str> {
        self.request.post_data.as_ref()?.text.as_deref().filter(|text| !text.is_empty())
    }

    pub fn origin(&self) -> String {
        self.url().origin().ascii_serialization()
    }

    /// The origin and path of the request.
    pub fn target(&self) -> (String, String) {
        (self.origin(), self.url().path().to_owned())
    }

    /// The JSON-RPC message, or batch of them, in the request.
    pub fn message(&self) -> Option<Value> {
        let message: Value = serde_json::from_str(self.sent()?).ok()?;
        let is_message = |message: &Value| message["jsonrpc"] == "2.0";
        let is_one = match &message {
            Value::Array(batch) => batch.iter().any(is_message),
            message => is_message(message),
        };
        is_one.then_some(message)
    }

    /// The endpoint for messages that the first event of the response names.
    pub fn endpoint(&self) -> Option<String> {
        let body = self.has_events().then(|| self.received())?;
        let text = String::from_utf8_lossy(&body);
        let first = text.lines().skip_while(|line| line.is_empty() || line.starts_with(':'));
        let lines: Vec<&str> = first.take_while(|line| !line.is_empty()).collect();
        let value = |name: &str| lines.iter().find_map(|line| Some(line.strip_prefix(name)?.trim().to_owned()));
        value("event:").filter(|name| name == "endpoint").and_then(|_| value("data:"))
    }

    /// The head of the request, as a server sees it.
    pub fn request(&self) -> Result<request::Parts, String> {
        let url = self.url();
        let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
        let target: Uri = format!("{}{query}", url.path()).parse().map_err(|why| format!("{url}: {why}"))?;
        let mut request = hyper::Request::new(());
        *request.method_mut() = self.request.method.parse().map_err(|why| format!("{url}: {why}"))?;
        *request.uri_mut() = target;
        *request.headers_mut() = headers(&self.request.headers);
        Ok(request.into_parts().0)
    }

    /// The head of the response, if there was one.
    pub fn response(&self) -> Option<response::Parts> {
        let mut response = hyper::Response::new(());
        *response.status_mut() = u16::try_from(self.response.status).ok()?.try_into().ok()?;
        *response.headers_mut() = headers(&self.response.headers);
        Some(response.into_parts().0)
    }

    /// The body of the response; empty also means that the file does not have it.
    pub fn received(&self) -> Vec<u8> {
        let Content { text, encoding } = &self.response.content;
        let text = text.as_deref().unwrap_or_default();
        match encoding.as_deref() {
            Some("base64") => BASE64_STANDARD.decode(text).unwrap_or_default(),
            _ => text.as_bytes().to_vec(),
        }
    }

    /// A response with a message has a body: if there is none, the file does not have it.
    pub fn lacks_body(&self) -> bool {
        let requests = self.message().is_some_and(|message| !streams::requests(&message).is_empty());
        let succeeded = self.response().is_some_and(|head| head.status == 200);
        requests && succeeded && self.received().is_empty()
    }

    pub fn has_events(&self) -> bool {
        let headers = headers(&self.response.headers);
        headers.get(CONTENT_TYPE).is_some_and(|value| value.as_bytes().starts_with(b"text/event-stream"))
    }

    pub fn accepts_events(&self) -> bool {
        let accepted = headers(&self.request.headers);
        let mut accepted = accepted.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
        accepted.any(|value| value.contains("text/event-stream"))
    }

    /// Whether it is known when the response ended. It is not where the client closed a stream.
    pub fn has_end(&self) -> bool {
        !self.has_events() || !self.is(&Method::GET) || ms(self.timings.receive) > 0.0
    }

    /// How long after the request its response began and ended.
    pub fn took(&self, creator: &Creator) -> (Duration, Duration) {
        let Timings { blocked, dns, connect, send, wait, receive } = &self.timings;
        // mitmproxy begins with the request, and counts the connection, which it opens later, once more within `wait`.
        let before = if creator.name == "mitmproxy" { 0.0 } else { ms(*blocked) + ms(*dns) + ms(*connect) };
        let head = before + ms(*send) + ms(*wait);
        (duration(head), duration(head + ms(*receive)))
    }
}

fn ms(value: Option<f64>) -> f64 {
    value.filter(|ms| ms.is_finite()).unwrap_or_default().max(0.0)
}

fn duration(ms: f64) -> Duration {
    Duration::try_from_secs_f64(ms / 1000.0).unwrap_or_default()
}

/// Those that HTTP/1.1 has as well: a browser also writes `:authority` and the like.
fn headers(all: &[Header]) -> HeaderMap {
    let mut map = HeaderMap::new();
    for Header { name, value } in all {
        if let (Ok(name), Ok(value)) =
            (HeaderName::try_from(name.as_str()), HeaderValue::from_bytes(value.trim().as_bytes()))
        {
            map.append(name, value);
        }
    }
    map
}
