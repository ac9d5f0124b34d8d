//! Walks listable nodes breadth first, visiting each key once, within limits.
//!
//! The server decides how much there is to see, so little of it is kept: a hash per node, the fields that a queued
//! node's request needs, the keys on a page, and the listed keys of a visit. The first visits are saved. The others are
//! recorded as frames, and streamed to the rules.

use std::time::Duration;

use futures_util::{StreamExt, stream};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::{
    frontier::{Frontier, Stop},
    graph::Graph,
    list::{PageLimits, follow},
    step::Stage,
};
use conform_model::evidence::{End, ListEnd, Reply, Sent};
use conform_suite::{Clause, Scope, Walk, WalkLimits};

/// Maximum share of the page limit for one node, so that an endless list does not use all pages; ...
const PART_OF_PAGES: usize = 6;
/// ... but at least this many pages.
const PAGES_A_NODE: usize = 50;
/// Maximum number of saved visits, and of keys in them.
const VISITS_SAVED: usize = 2000;
const KEYS_SAVED: usize = 20_000;
/// The size of a visit in bytes besides its keys, and of a key besides its text.
const VISIT: usize = 300;
const KEY: usize = 3;

/// The requests of a walk, and the parts of the responses that it uses.
#[derive(Clone, Copy)]
struct Question<'a> {
    stage: &'a Stage<'a>,
    walk: &'a Walk,
    filter: &'a [Clause],
    scope: &'a Scope<'a>,
}

/// A node in a list, with the fields for its own request if it can be listed.
struct Child {
    key: String,
    node: Option<Value>,
}

/// The result of listing a node.
struct Listed {
    end: ListEnd,
    pages: usize,
    items: usize,
    children: Vec<Child>,
    /// The last page, without its result.
    last: Option<Reply>,
}

struct Walker<'a> {
    question: Question<'a>,
    /// The name that visits are recorded with, if it belongs to this walk only.
    save: Option<&'a str>,
    limits: WalkLimits,
    until: Instant,
    graph: Graph,
    ahead: Frontier,
    visits: Vec<Value>,
    keys_saved: usize,
    visited: usize,
    repeats: usize,
    pages: usize,
    deepest: usize,
    /// The first limit that was reached.
    end: Option<ListEnd>,
}

pub async fn walk<'a>(
    stage: &'a Stage<'a>,
    walk: &'a Walk,
    save: Option<&'a str>,
    filter: &'a [Clause],
    scope: &'a Scope<'a>,
) -> Option<Value> {
    let limits = limits(stage, walk);
    let question = Question { stage, walk, filter, scope };
    let mut walker = Walker {
        question,
        save,
        limits,
        until: Instant::now() + Duration::from_secs(limits.seconds),
        graph: Graph::default(),
        ahead: Frontier::default(),
        visits: Vec::new(),
        keys_saved: 0,
        visited: 0,
        repeats: 0,
        pages: 0,
        deepest: 0,
        end: None,
    };
    for node in from(&walk.from.resolve(scope).ok()?) {
        let nodes = node.as_array().map_or(std::slice::from_ref(node), Vec::as_slice);
        for child in nodes.iter().filter_map(|node| question.child(node)) {
            walker.meet(&child.key, child.node, None, 0);
        }
    }
    while walker.go_on().await {}
    Some(walker.describe())
}

/// The first nodes, which are one value or a list.
fn from(nodes: &Value) -> &[Value] {
    nodes.as_array().map_or(std::slice::from_ref(nodes), Vec::as_slice)
}

/// The limits of the suite, unless the user has set others and that is allowed.
fn limits(stage: &Stage, walk: &Walk) -> WalkLimits {
    let (own, set) = (walk.limits, stage.limits.walk);
    if !own.settable {
        return own;
    }
    WalkLimits {
        nodes: set.nodes.unwrap_or(own.nodes),
        depth: set.depth.unwrap_or(own.depth),
        pages: set.pages.unwrap_or(own.pages),
        seconds: set.seconds.unwrap_or(own.seconds),
        ..own
    }
}

impl Question<'_> {
    fn child(&self, item: &Value) -> Option<Child> {
        let key = item[&self.walk.key].as_str()?.to_owned();
        let mut inner = Scope::over(self.scope);
        inner.bind(self.walk.node.as_str(), item);
        let is_listed = self.filter.iter().all(|clause| clause.holds(&inner, self.stage.context.revision));
        Some(Child { key, node: is_listed.then(|| self.needed(item)) })
    }

    /// The fields of a node that its request uses.
    fn needed(&self, node: &Value) -> Value {
        let own = self.walk.with.references().into_iter().filter(|path| path.root == self.walk.node);
        let members: Option<Vec<&str>> = own.map(|path| path.first_member()).collect();
        let Some(members) = members else { return node.clone() };
        let members = members.into_iter().chain([self.walk.key.as_str()]);
        members.filter_map(|name| Some((name.to_owned(), node.get(name)?.clone()))).collect::<Map<_, _>>().into()
    }

    /// Lists a node. Each page is dropped before the next one is requested.
    async fn list(&self, stop: &Stop, limits: PageLimits) -> Option<Listed> {
        let mut inner = Scope::over(self.scope);
        inner.bind(self.walk.node.as_str(), &stop.node);
        let params = self.walk.with.resolve(&inner).ok()?;
        let mut listed = Listed { end: ListEnd::Complete, pages: 0, items: 0, children: Vec::new(), last: None };
        let page = |mut reply: Reply| {
            let result = reply.result.take().unwrap_or_default();
            let items = result[&self.walk.take].as_array().map(Vec::as_slice).unwrap_or_default();
            listed.pages += 1;
            listed.items += items.len();
            listed.children.extend(items.iter().filter_map(|item| self.child(item)));
            listed.last = Some(reply);
        };
        let conversation = self.stage.conversation?;
        let end = follow(self.stage, conversation, &self.walk.method, Some(params), limits, page).await;
        listed.end = end;
        Some(listed)
    }
}

impl Walker<'_> {
    /// Adds a node, and the edge to it. If it can be listed, it is queued.
    fn meet(&mut self, key: &str, node: Option<Value>, from: Option<u32>, depth: usize) {
        let hash = self.graph.hash(key);
        if self.graph.knows(hash) {
            self.repeats += 1;
        } else if self.graph.nodes() >= self.limits.nodes {
            self.cut(ListEnd::NodeLimit);
            return;
        } else {
            self.deepest = self.deepest.max(depth);
            let node = node.filter(|_| depth < self.limits.depth || self.cut(ListEnd::DepthLimit));
            if let (Some(number), Some(node)) = (self.graph.enter(hash, node.is_some()), node)
                && self.ahead.push(Stop { node, number, key: key.to_owned(), depth }).is_err()
            {
                self.cut(ListEnd::DiskLimit);
            }
        }
        if let Some(from) = from {
            self.graph.link(from, hash);
        }
    }

    /// Lists the next few nodes concurrently. Returns false at the end.
    async fn go_on(&mut self) -> bool {
        let left = self.limits.pages.saturating_sub(self.pages);
        if self.ahead.len() == 0 || left == 0 || Instant::now() >= self.until {
            if self.ahead.len() > 0 {
                self.cut(if left == 0 { ListEnd::PageLimit } else { ListEnd::TimeLimit });
            }
            return false;
        }
        let question = self.question;
        let few = question.stage.limits.in_flight.clamp(1, left).min(self.ahead.len());
        let mut stops = Vec::new();
        while stops.len() < few {
            match self.ahead.pop() {
                Ok(Some(stop)) => stops.push(stop),
                Ok(None) => break,
                Err(_) => {
                    self.cut(ListEnd::DiskLimit);
                    return false;
                }
            }
        }
        let pages = PAGES_A_NODE.max(self.limits.pages / PART_OF_PAGES).min(left / few);
        let limits = PageLimits { pages, until: Some(self.until), wanted: None };
        let mut lists: Vec<Option<Listed>> =
            stream::iter(&stops).map(|stop| question.list(stop, limits.clone())).buffered(few).collect().await;
        if few > 1 {
            // Only one of the concurrent requests can have made the server exit, so all of them are repeated.
            for (stop, list) in stops.iter().zip(&mut lists) {
                if list.as_ref().is_some_and(|list| list.end == ListEnd::Request(End::Closed)) {
                    *list = question.list(stop, limits.clone()).await;
                }
            }
        }
        let Some(session) = question.stage.session().await else { return false };
        for (stop, list) in stops.iter().zip(lists) {
            if let Some(list) = list {
                self.arrive(stop, list, session.link());
            }
        }
        true
    }

    fn arrive(&mut self, stop: &Stop, list: Listed, link: u32) {
        self.pages += list.pages;
        if list.end.limit().is_some() {
            self.cut(list.end);
        }
        let mut children = Vec::with_capacity(list.children.len());
        let mut bytes = stop.key.len() + VISIT;
        for Child { key, node } in list.children {
            self.meet(&key, node, Some(stop.number), stop.depth + 1);
            bytes += key.len() + KEY;
            children.push(Value::String(key));
        }
        let mut reply = json!({ "end": list.end, "pages": list.pages, "items": list.items });
        if let Some(last) = list.last {
            reply["frames"] = json!(last.frames);
            reply["asked"] = json!(last.asked);
            reply["error"] = json!(last.error);
            reply["why"] = json!(last.why);
        }
        self.visited += 1;
        let keys = children.len();
        let mut visit = json!({ "node": stop.node, "key": stop.key, "depth": stop.depth, "children": children });
        visit["reply"] = reply;
        match self.save {
            Some(save) if self.visits.len() >= VISITS_SAVED || self.keys_saved >= KEYS_SAVED => {
                let by = self.question.stage.suite.id.clone();
                self.question.stage.recorder.visit(&Sent { link, by, post: None }, save, &visit, bytes as u64);
            }
            _ => {
                self.visits.push(visit);
                self.keys_saved += keys;
            }
        }
    }

    /// Records the limit that was reached. Always returns false.
    fn cut(&mut self, limit: ListEnd) -> bool {
        self.end.get_or_insert(limit);
        false
    }

    fn describe(self) -> Value {
        let WalkLimits { nodes, depth, pages, seconds, .. } = self.limits;
        json!({
            "end": self.end.unwrap_or(ListEnd::Complete),
            "limits": { "nodes": nodes, "depth": depth, "pages": pages, "seconds": seconds },
            "nodes": self.graph.nodes(),
            "edges": self.graph.edges(),
            "repeats": self.repeats,
            "cycles": self.graph.cycles(),
            "depth": self.deepest,
            "pages": self.pages,
            "visited": self.visited,
            "visits": self.visits,
        })
    }
}
