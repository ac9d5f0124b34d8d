//! Follows the pages of a list. It ends at a repeated cursor, at the page limit, or if its pages together exceed the
//! limit for one message.

use std::{collections::HashSet, mem};

use serde_json::{Value, json};
use tokio::time::Instant;

use super::{call::filled, step::Stage, wanted::of_list};
use conform_model::evidence::{End, ListEnd, Reply, weight};
use conform_session::{CallOptions, Conversation, Session, Wanted};
use conform_suite::{List, Scope};

pub async fn list(stage: &Stage<'_>, list: &List, scope: &Scope<'_>) -> Option<Value> {
    let params = filled(list.with.as_ref(), scope)?;
    let limits = PageLimits { pages: list.pages, until: None, wanted: of_list(stage, list, scope) };
    let conversation = if list.second { stage.beside.second().await } else { stage.conversation };
    Some(pages(stage, conversation?, list, params, limits).await.describe())
}

/// Limits for following a list: the number of pages, and a time after which no page is requested.
#[derive(Clone)]
pub struct PageLimits {
    pub pages: usize,
    pub until: Option<Instant>,
    /// The kind of the first request, which is skipped if similar ones get no response.
    pub wanted: Option<Wanted>,
}

/// The part of a list that was followed.
pub struct Listed {
    pub end: ListEnd,
    pub items: Vec<Value>,
    origins: Vec<Value>,
    pub pages: Vec<Reply>,
}

impl Listed {
    pub fn describe(self) -> Value {
        let last = self.pages.last();
        let mut listed = json!({ "end": self.end,
            "error": last.and_then(|page| page.error.clone()), "why": last.and_then(|page| page.why.clone()),
            "frames": last.map(|page| page.frames.clone()), "asked": last.map(|page| page.asked.clone()) });
        // Moved, since they may be large.
        listed["items"] = Value::Array(self.items);
        listed["origins"] = Value::Array(self.origins);
        listed["pages"] = self.pages.into_iter().map(Reply::saved).collect();
        listed
    }
}

/// Follows `nextCursor` within the limits, and keeps all pages.
async fn pages(
    stage: &Stage<'_>,
    conversation: &Conversation,
    list: &List,
    params: Option<Value>,
    limits: PageLimits,
) -> Listed {
    let (mut items, mut origins, mut pages) = (Vec::new(), Vec::new(), Vec::new());
    let keep = |mut reply: Reply| {
        let frame = reply.frames.last().copied();
        let of_page = reply.result.as_mut().and_then(|result| result.get_mut(&list.take)?.as_array_mut());
        let of_page = of_page.map(|of_page| if list.by_page { of_page.clone() } else { mem::take(of_page) });
        for (index, item) in of_page.into_iter().flatten().enumerate() {
            items.push(item);
            origins.push(json!({ "frame": frame, "pointer": format!("/result/{}/{index}", list.take) }));
        }
        pages.push(reply);
    };
    let end = follow(stage, conversation, &list.method, params, limits, keep).await;
    Listed { end, items, origins, pages }
}

/// Follows `nextCursor` within the limits, and passes on each page. Returns how the list ended.
pub async fn follow(
    stage: &Stage<'_>,
    conversation: &Conversation,
    method: &str,
    params: Option<Value>,
    limits: PageLimits,
    mut hand_over: impl FnMut(Reply),
) -> ListEnd {
    let (mut followed, mut weighed) = (HashSet::new(), 0);
    let mut cursor: Option<String> = None;
    for page in 0..limits.pages {
        if page > 0 && limits.until.is_some_and(|until| Instant::now() >= until) {
            return ListEnd::TimeLimit;
        }
        let mut params = stage.declaring(params.clone());
        if let Some(cursor) = &cursor {
            let members = params.get_or_insert_with(|| json!({}));
            members["cursor"] = json!(cursor);
        }
        let by = &stage.suite.id;
        let wanted = limits.wanted.clone().filter(|_| page == 0);
        let options = CallOptions { wanted, ..CallOptions::default() };
        let ask = async |session: &Session| session.call(by, method, params.clone(), options.clone()).await;
        let (_, mut reply) = conversation.ask(ask).await;
        // A legacy server that rejects a request without params does so for every list. Rules on that send their own
        // requests; all others judge the list itself.
        if page == 0 && params.is_none() && reply.end == End::Error {
            let ask = async |session: &Session| session.call(by, method, Some(json!({})), options.clone()).await;
            let (_, again) = conversation.ask(ask).await;
            if again.end == End::Result {
                reply = again;
            }
        }
        let end = reply.end;
        // Anything but a string is another violation. As a client does, this treats it as the end.
        weighed += reply.result.as_ref().map_or(0, weight);
        let next = reply.result.as_ref().and_then(|result| result.get("nextCursor")?.as_str().map(str::to_owned));
        hand_over(reply);
        if end != End::Result {
            return ListEnd::Request(end);
        }
        let Some(next) = next else { return ListEnd::Complete };
        if weighed > stage.limits.memory_bytes as u64 {
            break;
        }
        if !followed.insert(next.clone()) {
            return ListEnd::CursorRepeats;
        }
        cursor = Some(next);
    }
    ListEnd::PageLimit
}
