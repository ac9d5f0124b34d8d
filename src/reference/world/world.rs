//! The state of the world: what is there, and the few things that tools can change in it.

use std::collections::HashSet;

use indexmap::IndexMap;

use crate::reference::world::{Body, Branch, Data, Grown, Node, files, generated, task_extension::Tasks};

/// Tools can add this many resources; then the oldest added one goes.
const MOST_ADDED: usize = 5;

pub struct World {
    nodes: IndexMap<String, Node>,
    /// What stands below one more root, instead of the branch without end.
    grown: Option<Grown>,
    added: Vec<String>,
    ever_added: usize,
    /// One more tool and one more prompt than at the start.
    pub extra_tool: bool,
    pub extra_prompt: bool,
    pub tasks: Tasks,
    /// Pages that clients were sent to so far, and states that were used up.
    pub visits: u64,
    pub spent: HashSet<String>,
    pub slips: Slips,
    /// How many items a page has, if not as many as usual.
    pub page: Option<usize>,
    /// Each call of a tool that may change something adds a resource.
    pub grows_by_calls: bool,
}

/// What is done wrong with the world as it is, if so.
#[derive(Debug, Default)]
pub struct Slips {
    /// Whatever the client declared, it is asked.
    pub asks_anyway: bool,
    pub asks_twice: bool,
    /// A model that wishes for tools is asked without end.
    pub endless: bool,
    pub roots_ignored: bool,
    /// A path with steps upwards is taken for one below its beginning.
    pub roots_climbed: bool,
    /// The first list of roots is used as long as the session lasts.
    pub roots_kept: bool,
    pub redeems_twice: bool,
    /// States of requests are not verified, or not tied to their requests.
    pub state_unverified: bool,
    pub state_for_any: bool,
    /// Whether a URI, or a template, belongs under a prefix.
    pub resource_prefix: Option<fn(&str, &str) -> bool>,
    pub template_prefix: Option<fn(&str, &str) -> bool>,
    /// What is less grave than the level is logged, and the rest is not.
    pub levels_inverted: bool,
}

impl World {
    pub fn new(grown: Option<Grown>) -> Self {
        let mut nodes: Vec<_> = files::nodes();
        nodes.extend(grown.map_or_else(|| generated::find(generated::ENDLESS), |grown| Some(grown.root())));
        Self {
            nodes: nodes.into_iter().map(|node| (node.uri.clone(), node)).collect(),
            grown,
            added: Vec::new(),
            ever_added: 0,
            extra_tool: false,
            extra_prompt: false,
            tasks: Tasks::default(),
            visits: 0,
            spent: HashSet::new(),
            slips: Slips::default(),
            page: None,
            grows_by_calls: false,
        }
    }

    /// URIs are compared as they are: one character changed is another resource.
    pub fn find(&self, uri: &str) -> Option<Node> {
        let made = || generated::find(uri).or_else(|| self.grown?.find(uri));
        self.nodes.get(uri).cloned().or_else(made)
    }

    /// A directory of the grown world, and how many of its children stand on one page.
    pub fn branch(&self, uri: &str) -> Option<(Branch, usize)> {
        let grown = self.grown?;
        Some((grown.branch(uri)?, grown.page))
    }

    pub fn listed(&self) -> Vec<Node> {
        self.nodes.values().filter(|node| node.listed).cloned().collect()
    }

    pub fn children(&self, node: &Node) -> Option<Vec<Node>> {
        if let Some((branch, _)) = self.branch(&node.uri) {
            return Some((0..branch.length).map(|place| branch.child(place)).collect());
        }
        match &node.body {
            Body::Leaf(_) => None,
            Body::Directory(uris) => Some(uris.iter().filter_map(|uri| self.find(uri)).collect()),
        }
    }

    /// Edits a resource that can be edited.
    pub fn touch(&mut self, uri: &str) -> Option<&Node> {
        let node = self.nodes.get_mut(uri).filter(|node| node.changes)?;
        node.edits += 1;
        if let Body::Leaf(formats) = &mut node.body
            && let Some(Data::Text(text)) = formats.first_mut().map(|format| &mut format.data)
        {
            let kept = text.find("edited ").unwrap_or(text.len());
            *text = format!("{}edited {} times\n", &text[..kept], node.edits);
        }
        Some(node)
    }

    /// A resource that is there from the start.
    pub fn insert(&mut self, uri: &str, name: &'static str) {
        self.nodes.insert(uri.to_owned(), Node::text(uri, name, "text/plain", "a row\n"));
    }

    /// Adds a note to the list and returns its URI.
    pub fn add(&mut self) -> String {
        self.ever_added += 1;
        self.add_named(&format!("note-{}", self.ever_added))
    }

    pub fn add_named(&mut self, name: &str) -> String {
        let uri = format!("memo://added/{name}");
        self.nodes.insert(uri.clone(), Node::text(&uri, name, "text/plain", "added while you watched\n"));
        self.added.push(uri.clone());
        if self.added.len() > MOST_ADDED {
            self.nodes.shift_remove(&self.added.remove(0));
        }
        uri
    }
}
