//! One HTTP request of a login.

use std::rc::Rc;

use serde_json::Value;

use crate::{
    behaviour::decisions::{Head, Posting},
    state::Client,
    transport::raw,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    ResourceMetadata,
    ServerMetadata,
    Registration,
    /// It is opened in a browser.
    Authorization,
    Token,
    Refresh,
}

pub type Pairs = Vec<(String, String)>;

/// A request before it is written.
#[derive(Clone, Debug)]
pub struct Errand {
    pub step: Step,
    pub method: &'static str,
    pub url: String,
    /// Added to the query of the URL.
    pub query: Pairs,
    pub headers: Pairs,
    /// Parameters in the body.
    pub form: Pairs,
    /// The body, if it is JSON.
    pub json: Value,
    /// The access token that the client has, for faults that send it where it does not belong.
    pub access: Option<String>,
    pub refresh: Option<String>,
}

pub fn set(pairs: &mut Pairs, name: &str, value: &str) {
    match pairs.iter_mut().find(|(known, _)| known == name) {
        Some((_, known)) => value.clone_into(known),
        None => pairs.push((name.to_owned(), value.to_owned())),
    }
}

pub fn remove(pairs: &mut Pairs, name: &str) {
    pairs.retain(|(known, _)| known != name);
}

pub fn pairs(all: &[(&str, &str)]) -> Pairs {
    all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

impl Errand {
    pub fn new(step: Step, method: &'static str, url: &str) -> Self {
        let (query, headers, form) = Default::default();
        let (access, refresh) = (None, None);
        Self { step, method, url: url.to_owned(), query, headers, form, json: Value::Null, access, refresh }
    }

    /// As it is sent.
    #[must_use]
    pub fn finish(mut self, client: &Client) -> Self {
        {
            let held = client.held.borrow();
            (self.access, self.refresh) = (held.last.clone(), held.refresh.clone());
        }
        if let Some(hook) = client.ways.errand {
            client.with(|memory, scene| hook(memory, scene, &mut self));
        }
        self
    }

    pub fn full_url(&self) -> String {
        if self.query.is_empty() {
            return self.url.clone();
        }
        let join = if self.url.contains('?') { '&' } else { '?' };
        format!("{}{join}{}", self.url, encoded(&self.query))
    }

    /// Sends it; the body is JSON or null.
    pub async fn send(self, client: &Rc<Client>) -> Result<(Head, Value), String> {
        let errand = self.finish(client);
        let mut posting = Posting {
            method: errand.method.to_owned(),
            url: errand.full_url(),
            headers: Vec::new(),
            body: Vec::new(),
            message: Value::Null,
        };
        posting.set("accept", "application/json");
        if !errand.json.is_null() {
            posting.set("content-type", "application/json");
            posting.body = errand.json.to_string().into_bytes();
        } else if errand.method == "POST" {
            posting.set("content-type", "application/x-www-form-urlencoded");
            posting.body = encoded(&errand.form).into_bytes();
        }
        for (name, value) in &errand.headers {
            posting.set(name, value.as_str());
        }
        let (head, answer) = raw::send(&*client.outside, &posting).await?;
        let body = raw::whole(answer).await?;
        Ok((head, serde_json::from_slice(&body).unwrap_or_default()))
    }
}

pub fn encoded(pairs: &Pairs) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}
