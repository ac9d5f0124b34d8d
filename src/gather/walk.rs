//! Breadth first over listable nodes, each key visited once, within limits.
//!
//! What is seen grows with what the server likes to list, so little of it is kept: a hash for each node, of the nodes
//! ahead only what their request needs, and of a visit the keys that were listed.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use futures_util::{StreamExt, stream};
use serde_json::{Map, Value, json};

use super::{
    graph::Graph,
    list::{Listed, PageLimits, pages},
    step::Stage,
};
use crate::suite::{Clause, Scope, Walk};

/// Pages of one node at most, so that a list without end does not use up the pages of all others.
const PAGES_A_NODE: usize = 50;

/// A node that is to be listed.
struct Stop {
    node: Value,
    number: usize,
    key: String,
    depth: usize,
}

struct Walker<'a> {
    stage: &'a Stage<'a>,
    walk: &'a Walk,
    filter: &'a [Clause],
    scope: &'a Scope<'a>,
    until: Instant,
    graph: Graph,
    ahead: VecDeque<Stop>,
    visits: Vec<Value>,
    repeats: usize,
    pages: usize,
    deepest: usize,
    /// The first limit that kept something from being seen.
    end: Option<&'static str>,
}

pub async fn walk(stage: &Stage<'_>, walk: &Walk, filter: &[Clause], scope: &Scope<'_>) -> Option<Value> {
    let mut walker = Walker {
        stage,
        walk,
        filter,
        scope,
        until: Instant::now() + Duration::from_secs(walk.limits.seconds),
        graph: Graph::default(),
        ahead: VecDeque::new(),
        visits: Vec::new(),
        repeats: 0,
        pages: 0,
        deepest: 0,
        end: None,
    };
    for node in walk.from.select(scope)? {
        match node.value {
            Value::Array(items) => items.iter().for_each(|item| walker.meet(item, None, 0)),
            other => walker.meet(other, None, 0),
        }
    }
    while walker.go_on().await {}
    Some(walker.describe())
}

impl Walker<'_> {
    /// Takes note of a node, and of the way to it; one that is to be listed is put ahead.
    fn meet(&mut self, node: &Value, from: Option<usize>, depth: usize) {
        let Some(key) = node[&self.walk.key].as_str() else { return };
        if self.graph.nodes() >= self.walk.limits.nodes && !self.graph.knows(key) {
            self.cut("node-limit");
            return;
        }
        let (number, new) = self.graph.enter(key);
        if let Some(from) = from {
            self.graph.link(from, number);
        }
        if !new {
            self.repeats += 1;
            return;
        }
        self.deepest = self.deepest.max(depth);
        let mut inner = Scope::over(self.scope);
        inner.bind(self.walk.node.as_str(), node);
        if !self.filter.iter().all(|clause| clause.holds(&inner, self.stage.scene.revision)) {
            return;
        }
        if depth >= self.walk.limits.depth {
            self.cut("depth-limit");
            return;
        }
        self.ahead.push_back(Stop { node: self.needed(node), number, key: key.to_owned(), depth });
    }

    /// The members of a node that its request is made of.
    fn needed(&self, node: &Value) -> Value {
        let own = self.walk.with.references().into_iter().filter(|path| path.root == self.walk.node);
        let members: Option<Vec<&str>> = own.map(|path| path.first_member()).collect();
        let Some(members) = members else { return node.clone() };
        let members = members.into_iter().chain([self.walk.key.as_str()]);
        members.filter_map(|name| Some((name.to_owned(), node.get(name)?.clone()))).collect::<Map<_, _>>().into()
    }

    /// Lists the next few nodes, side by side; false when there is nothing more to do.
    async fn go_on(&mut self) -> bool {
        let left = self.walk.limits.pages.saturating_sub(self.pages);
        if self.ahead.is_empty() || left == 0 || Instant::now() >= self.until {
            if !self.ahead.is_empty() {
                self.cut(if left == 0 { "page-limit" } else { "time-limit" });
            }
            return false;
        }
        let few = self.stage.limits.in_flight.clamp(1, left).min(self.ahead.len());
        let stops: Vec<Stop> = self.ahead.drain(..few).collect();
        let limits = PageLimits { pages: PAGES_A_NODE.min(left / few), until: Some(self.until) };
        let this = &*self;
        let mut lists: Vec<Option<Listed>> =
            stream::iter(&stops).map(|stop| this.list(stop, limits)).buffered(few).collect().await;
        if few > 1 {
            // Of the requests that were under way when the server died, only one can have killed it.
            for (stop, list) in stops.iter().zip(&mut lists) {
                if list.as_ref().is_some_and(|list| list.end == "closed") {
                    *list = self.list(stop, limits).await;
                }
            }
        }
        for (stop, list) in stops.into_iter().zip(lists) {
            if let Some(list) = list {
                self.arrive(&stop, &list);
            }
        }
        true
    }

    async fn list(&self, stop: &Stop, limits: PageLimits) -> Option<Listed> {
        let mut inner = Scope::over(self.scope);
        inner.bind(self.walk.node.as_str(), &stop.node);
        let params = self.walk.with.resolve(&inner).ok()?;
        Some(pages(self.stage, &self.walk.method, Some(params), &self.walk.take, limits).await)
    }

    fn arrive(&mut self, stop: &Stop, list: &Listed) {
        self.pages += list.pages.len();
        match list.end.as_str() {
            Some("page-limit") => self.cut("page-limit"),
            Some("time-limit") => self.cut("time-limit"),
            _ => {}
        }
        for child in &list.items {
            self.meet(child, Some(stop.number), stop.depth + 1);
        }
        let children: Vec<&str> = list.items.iter().filter_map(|item| item[&self.walk.key].as_str()).collect();
        let mut reply = json!({ "end": list.end, "pages": list.pages.len(), "items": list.items.len() });
        if let Some(last) = list.pages.last() {
            reply["frames"] = json!(last.frames);
            reply["asked"] = json!(last.asked);
            reply["error"] = json!(last.error);
            reply["why"] = json!(last.why);
        }
        self.visits.push(json!({
            "node": stop.node, "key": stop.key, "depth": stop.depth, "children": children, "reply": reply,
        }));
    }

    fn cut(&mut self, limit: &'static str) {
        self.end.get_or_insert(limit);
    }

    fn describe(self) -> Value {
        json!({
            "end": self.end.unwrap_or("complete"),
            "nodes": self.graph.nodes(),
            "edges": self.graph.edges(),
            "repeats": self.repeats,
            "cycles": self.graph.cycles(),
            "depth": self.deepest,
            "pages": self.pages,
            "visits": self.visits,
        })
    }
}
