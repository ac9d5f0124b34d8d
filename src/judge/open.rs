//! A request of the client that is not answered yet.

use serde_json::{Map, Value, json};

use crate::evidence::{Link, correlate::Request};

pub struct Open {
    /// Its place among the messages that were sent.
    pub number: u64,
    pub frame: u64,
    pub at: u64,
    pub id: Value,
    pub method: String,
    pub params: Value,
    pub by: String,
    pub post: Option<u64>,
    pub expects_reply: bool,
    /// It lacks what its revision demands of a request, on purpose, or the HTTP request around it is odd. What comes back
    /// is no example of the server's answers, and only the suite that asked looks at it.
    pub deviant: bool,
    /// How the server ended of its own accord while it was to be answered.
    pub killed: Option<String>,
    /// Why something was not read that may have been its response.
    pub unread: Option<String>,
    /// The frame that tells that no response can come any more.
    pub lost: Option<u64>,
}

impl Open {
    pub fn request(&self) -> Request<'_> {
        Request {
            number: self.number,
            id: Some(&self.id),
            exchange: self.post,
            subscription: self.method == "subscriptions/listen",
            unreadable: None,
            whole_exchange: false,
        }
    }

    pub fn describe(&self, link: &Link) -> Map<String, Value> {
        let mut described = json!({
            "method": self.method,
            "id": self.id,
            "params": null,
            "by": self.by,
            "link": link.link,
            "transport": link.transport,
            "revision": link.revision,
            "expects_reply": self.expects_reply,
            "deviant": self.deviant,
            "frames": [self.frame],
        });
        described["params"] = self.params.clone();
        if let Some(ending) = &self.killed {
            described["killed"] = json!(ending);
        }
        match described {
            Value::Object(members) => members,
            _ => Map::new(),
        }
    }
}
