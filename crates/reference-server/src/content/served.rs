//! The content of the reference server: its resources, and what tools can change.

use std::collections::HashSet;

use indexmap::IndexMap;

use serde_json::Value;

use crate::content::{
    Body, Branch, Data, Grown, Node, apps, files, generated,
    skills::{self, Skill, short_name},
    task_extension::Tasks,
};

/// Maximum number of resources that tools can add; then the oldest added one is removed.
const MOST_ADDED: usize = 5;

pub struct Content {
    nodes: IndexMap<String, Node>,
    /// Without the extension there are none.
    pub skills: Vec<Skill>,
    pub has_apps: bool,
    /// Clients get UI fields of tools even if they do not declare the extension.
    pub shows_apps_to_all: bool,
    /// The content of an additional root, in place of the endless branch.
    grown: Option<Grown>,
    added: Vec<String>,
    ever_added: usize,
    /// One more tool and one more prompt than at the start.
    pub extra_tool: bool,
    pub extra_prompt: bool,
    pub tasks: Tasks,
    /// The number of pages that clients were sent to, and the states that were used.
    pub visits: u64,
    pub spent: HashSet<String>,
    pub slips: ContentFaults,
    /// The size of a page, if it is not the usual one.
    pub page: Option<usize>,
    /// Each call of a tool that may have side effects adds a resource.
    pub grows_by_calls: bool,
}

/// Mistakes of the usual content.
#[derive(Debug, Default)]
pub struct ContentFaults {
    /// Requests are sent to the client even if it did not declare the capability.
    pub asks_anyway: bool,
    pub asks_twice: bool,
    /// A model that requests tools gets further rounds without end.
    pub endless: bool,
    pub roots_ignored: bool,
    /// A path with `..` is taken for one below its beginning.
    pub roots_climbed: bool,
    /// The first list of roots is used for the whole session.
    pub roots_kept: bool,
    pub redeems_twice: bool,
    /// States of requests are not verified, or not bound to their requests.
    pub state_unverified: bool,
    pub state_for_any: bool,
    /// Whether a URI, or a template, matches a prefix.
    pub resource_prefix: Option<fn(&str, &str) -> bool>,
    pub template_prefix: Option<fn(&str, &str) -> bool>,
    /// Messages below the log level are sent, and the others are not.
    pub levels_inverted: bool,
}

impl Content {
    pub fn new(grown: Option<Grown>) -> Self {
        let mut nodes: Vec<_> = files::nodes();
        nodes.extend(grown.map_or_else(|| generated::find(generated::ENDLESS), |grown| Some(grown.root())));
        Self {
            nodes: nodes.into_iter().map(|node| (node.uri.clone(), node)).collect(),
            skills: Vec::new(),
            has_apps: false,
            shows_apps_to_all: false,
            grown,
            added: Vec::new(),
            ever_added: 0,
            extra_tool: false,
            extra_prompt: false,
            tasks: Tasks::default(),
            visits: 0,
            spent: HashSet::new(),
            slips: ContentFaults::default(),
            page: None,
            grows_by_calls: false,
        }
    }

    /// URIs are compared byte by byte: a different character is a different resource.
    pub fn find(&self, uri: &str) -> Option<Node> {
        let made = || generated::find(uri).or_else(|| self.grown?.find(uri));
        self.nodes.get(uri).cloned().or_else(made)
    }

    /// A directory of the generated content, and its page size.
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

    /// Adds the skills, and their files.
    pub fn add_skills(&mut self, (skills, files): (Vec<Skill>, Vec<Node>)) {
        self.skills.extend(skills);
        self.nodes.extend(files.into_iter().map(|file| (file.uri.clone(), file)));
    }

    /// Adds the documents of the apps. Their tools are listed from now on.
    pub fn add_apps(&mut self) {
        self.has_apps = true;
        self.nodes.extend(apps::documents().into_iter().map(|document| (document.uri.clone(), document)));
    }

    /// The files below a directory, as a manifest lists them.
    pub fn manifest(&self, root: &str) -> Vec<Value> {
        let root = format!("{root}/");
        self.nodes.values().filter(|file| file.uri.starts_with(&root)).filter_map(skills::manifest).collect()
    }

    /// The files and directories directly below a directory, which follow from the URIs of all files.
    pub fn below(&self, directory: &str) -> Vec<Node> {
        let mut children: IndexMap<String, Node> = IndexMap::new();
        for (uri, file) in &self.nodes {
            let Some(rest) = uri.strip_prefix(directory).and_then(|rest| rest.strip_prefix('/')) else { continue };
            let child = match rest.split_once('/') {
                None => file.clone(),
                Some((name, _)) => {
                    let uri = format!("{directory}/{name}");
                    Node::directory(&uri, short_name(&uri), &[])
                }
            };
            children.entry(child.uri.clone()).or_insert(child);
        }
        children.into_values().collect()
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

    /// Adds a resource at the start.
    pub fn insert(&mut self, uri: &str, name: &'static str) {
        self.insert_node(Node::text(uri, name, "text/plain", "a row\n"));
    }

    pub fn insert_node(&mut self, node: Node) {
        self.nodes.insert(node.uri.clone(), node);
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
