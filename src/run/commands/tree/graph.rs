//! The graph to draw: nodes, their children and the roots.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

#[derive(Debug, Default)]
pub struct Graph {
    pub nodes: Vec<Node>,
    pub roots: Vec<usize>,
    /// What was omitted, one line each.
    pub notes: Vec<String>,
    known: HashMap<String, usize>,
}

#[derive(Debug, Default)]
pub struct Node {
    /// `None` for a segment of URIs that is not a resource itself.
    pub uri: Option<String>,
    pub label: String,
    /// The method that lists its children, if it can have some.
    pub listed_by: Option<&'static str>,
    pub children: Vec<usize>,
    /// Why children are missing.
    pub why: Option<String>,
}

/// Lists the resources of a server, or, with SEP-2093, those in one of them.
pub const RESOURCES: &str = "resources/list";
/// Lists a directory of a skill.
const DIRECTORY: &str = "resources/directory/read";

impl Node {
    /// A resource in the result of this method; `None` without a URI.
    pub fn of(resource: &Value, method: &str) -> Option<Self> {
        let uri = resource["uri"].as_str()?;
        let name = resource["title"].as_str().or(resource["name"].as_str()).unwrap_or_default();
        let listed_by = match method {
            DIRECTORY => (resource["mimeType"] == "inode/directory").then_some(DIRECTORY),
            _ => (resource["capabilities"]["list"] == true).then_some(RESOURCES),
        };
        Some(Self { uri: Some(uri.to_owned()), label: name.to_owned(), listed_by, ..Self::default() })
    }

    /// The directory of a skill.
    pub fn of_skill(skill: &Value, can_read_directories: bool) -> Option<Self> {
        let root = skill["uri"].as_str()?.strip_suffix("/SKILL.md")?;
        Some(Self {
            uri: Some(root.to_owned()),
            label: skill["frontmatter"]["name"].as_str().unwrap_or_default().to_owned(),
            listed_by: can_read_directories.then_some(DIRECTORY),
            ..Self::default()
        })
    }

    /// Whether the URI of the other node is below that of this one.
    pub fn contains(&self, other: &Self) -> bool {
        let below = |root: &String, uri: &String| uri.strip_prefix(root.as_str())?.strip_prefix('/').map(drop);
        self.uri.as_ref().zip(other.uri.as_ref()).and_then(|(root, uri)| below(root, uri)).is_some()
    }
}

impl Graph {
    /// Adds the node and returns its index; a node with a known URI keeps its index.
    pub fn add(&mut self, node: Node) -> usize {
        let index = self.nodes.len();
        if let Some(uri) = &node.uri {
            let known = *self.known.entry(uri.clone()).or_insert(index);
            if known < index {
                return known;
            }
        }
        self.nodes.push(node);
        index
    }

    pub fn note(&mut self, note: &str) {
        if !self.notes.iter().any(|known| known == note) {
            self.notes.push(note.to_owned());
        }
    }

    /// The listed nodes that no other node contains; of a cycle without an entry, its first node.
    pub fn find_roots(&mut self, listed: &[usize]) {
        let inside: HashSet<usize> = self
            .nodes
            .iter()
            .enumerate()
            .flat_map(|(index, node)| node.children.iter().copied().filter(move |child| *child != index))
            .collect();
        let mut reached = HashSet::new();
        for pass in [false, true] {
            for &index in listed {
                if (pass || !inside.contains(&index)) && !reached.contains(&index) {
                    self.roots.push(index);
                    self.reach(index, &mut reached);
                }
            }
        }
    }

    fn reach(&self, from: usize, reached: &mut HashSet<usize>) {
        let mut open = vec![from];
        while let Some(index) = open.pop() {
            if reached.insert(index) {
                open.extend(&self.nodes[index].children);
            }
        }
    }
}

/// Builds a tree from the segments of the URIs: scheme, authority, path.
pub fn by_segments(listed: Vec<Node>, graph: &mut Graph) {
    let mut places: HashMap<(Option<usize>, String), usize> = HashMap::new();
    for resource in listed {
        let uri = resource.uri.clone().unwrap_or_default();
        let mut inside: Option<usize> = None;
        for segment in segments(&uri) {
            // `a` and the contents of `a/` belong together.
            if let Some(parent) = inside.filter(|parent| !graph.nodes[*parent].label.ends_with('/')) {
                graph.nodes[parent].label.push('/');
            }
            let key = (inside, segment.trim_end_matches('/').to_owned());
            let index = *places.entry(key).or_insert_with(|| {
                graph.nodes.push(Node { label: segment.to_owned(), ..Node::default() });
                let index = graph.nodes.len() - 1;
                match inside {
                    Some(parent) => graph.nodes[parent].children.push(index),
                    None => graph.roots.push(index),
                }
                index
            });
            inside = Some(index);
        }
        match inside {
            Some(index) if graph.nodes[index].uri.as_ref().is_none_or(|known| *known == uri) => {
                graph.nodes[index].uri = Some(uri);
            }
            _ => {
                let index = graph.add(Node { label: uri.clone(), uri: Some(uri), ..Node::default() });
                graph.roots.push(index);
            }
        }
    }
    for index in 0..graph.nodes.len() {
        join(graph, index);
    }
}

/// Draws a chain of segments with one child each as one node.
fn join(graph: &mut Graph, index: usize) {
    while let (None, &[only]) = (&graph.nodes[index].uri, graph.nodes[index].children.as_slice()) {
        let child = std::mem::take(&mut graph.nodes[only]);
        let node = &mut graph.nodes[index];
        node.label.push_str(&child.label);
        (node.uri, node.children) = (child.uri, child.children);
    }
}

/// Each segment with the slash after it, so that together they are the URI again.
fn segments(uri: &str) -> impl Iterator<Item = &str> {
    let query = uri.find(['?', '#']).unwrap_or(uri.len());
    let start = uri[..query].find(':').map_or(0, |colon| {
        let after = &uri[colon + 1..query];
        colon + 1 + after.len() - after.trim_start_matches('/').len()
    });
    let (scheme, rest) = uri.split_at(start);
    let path = query.max(start) - start;
    let cut = rest[..path].trim_end_matches('/').rfind('/').map_or(0, |slash| slash + 1);
    let (directories, last) = rest.split_at(cut);
    [scheme].into_iter().chain(directories.split_inclusive('/')).chain([last]).filter(|segment| !segment.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn uris_fall_into_segments() {
        let split = |uri| segments(uri).collect::<Vec<_>>();
        assert_eq!(split("file:///docs/a.md"), ["file:///", "docs/", "a.md"]);
        assert_eq!(split("http://h:80/a/?q=b/c#d"), ["http://", "h:80/", "a/?q=b/c#d"]);
        assert_eq!(split("memo://x"), ["memo://", "x"]);
        assert_eq!(split("urn:a:b"), ["urn:", "a:b"]);
        assert_eq!(split("no uri/at all"), ["no uri/", "at all"]);
        assert_eq!(split("?"), ["?"]);
    }

    #[test]
    fn a_directory_that_is_a_resource_too_stays_one_node() {
        let node = |uri: &str| Node::of(&json!({ "uri": uri, "name": uri }), RESOURCES).expect("it has a URI");
        let mut graph = Graph::default();
        by_segments(vec![node("f:///a/"), node("f:///a/b"), node("f:///a/c/d")], &mut graph);
        let root = &graph.nodes[graph.roots[0]];
        assert_eq!((root.label.as_str(), root.uri.as_deref()), ("f:///a/", Some("f:///a/")));
        let labels: Vec<_> = root.children.iter().map(|child| graph.nodes[*child].label.as_str()).collect();
        assert_eq!(labels, ["b", "c/d"]);
    }

    #[test]
    fn what_differs_by_a_slash_stands_together_but_loses_nothing() {
        let node = |uri: &str| Node::of(&json!({ "uri": uri, "name": uri }), RESOURCES).expect("it has a URI");
        let mut graph = Graph::default();
        by_segments(vec![node("f:///a"), node("f:///a/b"), node("f:///a/"), node("f:///c")], &mut graph);
        let shown = |index: &usize| (graph.nodes[*index].label.clone(), graph.nodes[*index].uri.clone());
        let root = &graph.nodes[graph.roots[0]];
        assert_eq!(
            root.children.iter().map(shown).collect::<Vec<_>>(),
            [("a/".to_owned(), Some("f:///a".to_owned())), ("c".to_owned(), Some("f:///c".to_owned()))]
        );
        assert_eq!(shown(&graph.roots[1]), ("f:///a/".to_owned(), Some("f:///a/".to_owned())));
    }

    #[test]
    fn roots_are_in_nothing_else_unless_all_are() {
        let node = |uri: &str| Node { uri: Some(uri.to_owned()), ..Node::default() };
        let mut graph = Graph::default();
        let [a, b, c] = ["a:", "b:", "c:"].map(|uri| graph.add(node(uri)));
        assert_eq!(graph.add(node("a:")), a);
        graph.nodes[b].children = vec![c];
        graph.nodes[c].children = vec![b];
        graph.find_roots(&[c, a, b]);
        assert_eq!(graph.roots, [a, c]);
    }
}
