//! A list and its further pages. A cursor that comes back a second time ends it, as does the limit on pages.

use std::{collections::HashSet, time::Instant};

use serde_json::{Value, json};

use super::{call::filled, step::Stage};
use crate::{
    evidence::{End, Reply},
    session::CallOptions,
    suite::{List, Scope},
};

pub async fn list(stage: &Stage<'_>, list: &List, scope: &Scope<'_>) -> Option<Value> {
    let params = filled(list.with.as_ref(), scope)?;
    let limits = PageLimits { pages: list.pages, until: None };
    Some(pages(stage, &list.method, params, &list.take, limits).await.describe())
}

/// How far a list is followed: so many pages, and no page is asked for after that time.
#[derive(Clone, Copy)]
pub struct PageLimits {
    pub pages: usize,
    pub until: Option<Instant>,
}

/// A list as far as it was followed.
pub struct Listed {
    /// `complete`, `page-limit`, `time-limit`, `cursor-repeats`, or how the request ended that broke it off.
    pub end: Value,
    pub items: Vec<Value>,
    origins: Vec<Value>,
    pub pages: Vec<Reply>,
}

impl Listed {
    pub fn describe(self) -> Value {
        json!({ "end": self.end, "items": self.items, "origins": self.origins, "pages": self.pages,
            "error": self.pages.last().and_then(|page| page.error.clone()),
            "why": self.pages.last().and_then(|page| page.why.clone()),
            "frames": self.pages.last().map(|page| page.frames.clone()), "asked": self.pages.last().map(|page| page.asked.clone()) })
    }
}

/// Follows `nextCursor` within the limits.
pub async fn pages(stage: &Stage<'_>, method: &str, params: Option<Value>, take: &str, limits: PageLimits) -> Listed {
    let mut listed = Listed { end: json!("page-limit"), items: Vec::new(), origins: Vec::new(), pages: Vec::new() };
    let mut followed = HashSet::new();
    let mut cursor: Option<String> = None;
    while listed.pages.len() < limits.pages {
        if !listed.pages.is_empty() && limits.until.is_some_and(|until| Instant::now() >= until) {
            listed.end = json!("time-limit");
            return listed;
        }
        let mut params = params.clone();
        if let Some(cursor) = &cursor {
            let members = params.get_or_insert_with(|| json!({}));
            members["cursor"] = json!(cursor);
        }
        let session = stage.conversation.session().await;
        let reply = session.call(&stage.suite.id, method, params, CallOptions::default()).await;
        let (end, result) = (reply.end, reply.result.clone().unwrap_or(Value::Null));
        let frame = reply.frames.last().copied();
        listed.pages.push(reply);
        if end != End::Result {
            listed.end = json!(end);
            return listed;
        }
        for (index, item) in result[take].as_array().into_iter().flatten().enumerate() {
            listed.items.push(item.clone());
            listed.origins.push(json!({ "frame": frame, "pointer": format!("/result/{take}/{index}") }));
        }
        // Anything but a string is a fault of another kind; as a client one takes it for the end.
        let Some(next) = result["nextCursor"].as_str() else {
            listed.end = json!("complete");
            return listed;
        };
        if !followed.insert(next.to_owned()) {
            listed.end = json!("cursor-repeats");
            return listed;
        }
        cursor = Some(next.to_owned());
    }
    listed
}
