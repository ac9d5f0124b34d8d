//! A request of the client without a response.

use serde_json::{Map, Value, json};

use conform_model::evidence::{Link, correlate::Request};

pub struct Open {
    /// Its index among the messages sent.
    pub number: u64,
    pub frame: u64,
    pub at: u64,
    pub id: Value,
    pub method: String,
    pub params: Value,
    pub by: String,
    pub post: Option<u64>,
    pub expects_reply: bool,
    /// It deliberately lacks what its revision requires of a request, its HTTP request is unusual, or a recorded
    /// client used its id for another open request. The response is not typical of the server, or may be that of another
    /// request, and only the suite that sent the request judges it.
    pub deviant: bool,
    /// How the server exited on its own while this was open.
    pub killed: Option<String>,
    /// Why a message was not read that may have been its response.
    pub unread: Option<String>,
    /// An unreadable line that was probably its response.
    pub garbled: Option<u64>,
    /// The frame after which no response can arrive.
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
