//! A graph as text, for Graphviz, for Mermaid, and as JSON. Text of the server is escaped in each of them.

use std::{collections::HashSet, fmt::Write as _};

use serde_json::{Value, json};

use super::graph::{Graph, Node};
use crate::report::plain;

/// Parameters of the escape sequences that set a style.
const BOLD: u8 = 1;
const DIM: u8 = 2;
const YELLOW: u8 = 33;

/// Deeper nodes are not drawn: the text would be wider than any terminal.
const DEEPEST: usize = 100;

/// Lines with branches. A node that was already drawn is not expanded again.
pub fn text(graph: &Graph, color: bool) -> String {
    let mut page = Page { graph, color, lines: Vec::new(), shown: HashSet::new(), above: Vec::new() };
    for &root in &graph.roots {
        page.node(root, "", "");
    }
    page.lines.extend(graph.notes.iter().map(|note| format!("note  {}", plain(note))));
    page.lines.join("\n")
}

struct Page<'a> {
    graph: &'a Graph,
    color: bool,
    lines: Vec<String>,
    shown: HashSet<usize>,
    above: Vec<usize>,
}

impl Page<'_> {
    /// `branch` is drawn before the node, `indent` before its children.
    fn node(&mut self, index: usize, branch: &str, indent: &str) {
        let graph = self.graph;
        let node = &graph.nodes[index];
        let cyclic = self.above.contains(&index);
        let repeated = !cyclic && self.shown.contains(&index);
        let deep = self.above.len() >= DEEPEST && !node.children.is_empty();
        let mut line = format!("{branch}{}", self.name(node));
        let marks = [
            (cyclic, "↺ contains itself"),
            (repeated, "↑ see above"),
            (deep && !cyclic && !repeated, "… deeper levels are not shown"),
        ];
        for (_, mark) in marks.iter().filter(|(holds, _)| *holds) {
            let _ = write!(line, "  {}", self.styled(mark, DIM));
        }
        if let Some(why) = &node.why {
            let _ = write!(line, "  {}", self.styled(&format!("! {}", plain(why)), YELLOW));
        }
        self.lines.push(line);
        self.shown.insert(index);
        if cyclic || repeated || deep {
            return;
        }
        self.above.push(index);
        for (at, &child) in node.children.iter().enumerate() {
            let (branch, below) =
                if at + 1 == node.children.len() { ("└── ", "    ") } else { ("├── ", "│   ") };
            self.node(child, &format!("{indent}{branch}"), &format!("{indent}{below}"));
        }
        self.above.pop();
    }

    /// The label, and the URI if it adds information.
    fn name(&self, node: &Node) -> String {
        let label = plain(&node.label);
        match &node.uri {
            Some(uri) if node.label.is_empty() => plain(uri).into_owned(),
            Some(uri) if !uri.ends_with(&node.label) => {
                format!("{label}  {}", self.styled(&plain(uri), DIM))
            }
            Some(_) => label.into_owned(),
            None => self.styled(&label, BOLD),
        }
    }

    fn styled(&self, text: &str, style: u8) -> String {
        if self.color { format!("\x1b[{style}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// For `dot -Tsvg`.
pub fn dot(graph: &Graph) -> String {
    let quoted = |text: &str| format!("\"{}\"", plain(text).replace('\\', "\\\\").replace('"', "\\\""));
    let mut lines = vec!["digraph resources {".to_owned(), "  rankdir=LR; node [shape=box];".to_owned()];
    for (index, node) in drawn(graph) {
        let about = node.uri.as_deref().map(|uri| format!(", tooltip={}", quoted(uri))).unwrap_or_default();
        lines.push(format!("  n{index} [label={}{about}];", quoted(caption(node))));
    }
    lines.extend(edges(graph).map(|(from, to)| format!("  n{from} -> n{to};")));
    lines.extend(graph.notes.iter().map(|note| format!("  // {}", plain(note))));
    lines.push("}".to_owned());
    lines.join("\n")
}

/// For a Markdown page.
pub fn mermaid(graph: &Graph) -> String {
    let quoted = |text: &str| {
        let text = plain(text).replace('&', "#amp;").replace('"', "#quot;").replace('<', "#lt;").replace('>', "#gt;");
        format!("\"{text}\"")
    };
    let mut lines = vec!["graph LR".to_owned()];
    lines.extend(drawn(graph).map(|(index, node)| format!("  n{index}[{}]", quoted(caption(node)))));
    lines.extend(edges(graph).map(|(from, to)| format!("  n{from} --> n{to}")));
    lines.extend(graph.notes.iter().map(|note| format!("  %% {}", plain(note))));
    lines.join("\n")
}

/// `{ roots, nodes: [{ id, uri, label, children, why }], notes }`; nodes name each other by `id`.
pub fn json(graph: &Graph) -> String {
    let nodes: Vec<Value> = drawn(graph)
        .map(|(id, node)| {
            json!({ "id": id, "uri": node.uri, "label": node.label, "listable": node.listed_by.is_some(),
                "children": node.children, "why": node.why })
        })
        .collect();
    format!("{:#}", json!({ "roots": graph.roots, "nodes": nodes, "notes": graph.notes }))
}

/// All nodes except those that were merged into others.
fn drawn(graph: &Graph) -> impl Iterator<Item = (usize, &Node)> {
    graph.nodes.iter().enumerate().filter(|(_, node)| node.uri.is_some() || !node.label.is_empty())
}

fn edges(graph: &Graph) -> impl Iterator<Item = (usize, usize)> {
    drawn(graph).flat_map(|(from, node)| node.children.iter().map(move |to| (from, *to)))
}

fn caption(node: &Node) -> &str {
    if node.label.is_empty() { node.uri.as_deref().unwrap_or_default() } else { &node.label }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph() -> Graph {
        let mut graph = Graph::default();
        let node = |uri: &str, label: &str| Node { uri: Some(uri.into()), label: label.into(), ..Node::default() };
        let [a, b, c] = [("f:///a", "A \"dir\"\u{1b}[2J"), ("f:///b", "b"), ("f:///c", "c")]
            .map(|(uri, label)| graph.add(node(uri, label)));
        graph.nodes[a].children = vec![b, c];
        graph.nodes[b].children = vec![c, a];
        graph.nodes[c].children = vec![c];
        graph.nodes[c].why = Some("error -32603".into());
        graph.find_roots(&[a, b, c]);
        graph
    }

    #[test]
    fn cycles_and_repeats_are_marked_and_nothing_reaches_the_terminal() {
        let expected = "A \"dir\"\\u001b[2J  f:///a
├── b
│   ├── c  ! error -32603
│   │   └── c  ↺ contains itself  ! error -32603
│   └── A \"dir\"\\u001b[2J  f:///a  ↺ contains itself
└── c  ↑ see above  ! error -32603";
        let mut graph = graph();
        graph.roots = vec![0];
        assert_eq!(text(&graph, false), expected);
    }

    #[test]
    fn the_other_forms_quote_what_they_must() {
        let graph = graph();
        assert!(dot(&graph).contains(r#"n0 [label="A \"dir\"\\u001b[2J", tooltip="f:///a"];"#), "{}", dot(&graph));
        assert!(mermaid(&graph).contains(r#"n0["A #quot;dir#quot;\u001b[2J"]"#), "{}", mermaid(&graph));
        let read: Value = serde_json::from_str(&json(&graph)).expect("it is JSON");
        assert_eq!(read["nodes"][1]["children"], json!([2, 0]));
    }
}
