//! The drawing of the resources: a tree with one path to each resource. Further links cross it.
//!
//! Only the first children of a node are drawn, and those with a finding on or below them, so that a large graph stays
//! legible.

use std::{
    collections::{HashMap, HashSet},
    fmt::Write,
};

use super::text;
use crate::text::plain;
use conform_model::outcome::{
    Graph, RunReport,
    excerpt::{columns, middle},
};

/// Maximum number of drawn children of one node, and of drawn nodes in total. The rest is folded.
const CHILDREN: usize = 8;
const NODES: usize = 150;
/// Indentation of one level, small so that deep branches fit on the page.
const COLUMN: usize = 32;
const ROW: usize = 22;
/// Width of a letter.
const LETTER: usize = 7;
/// Maximum number of characters of a label.
const LABEL: usize = 22;

struct Picture<'a> {
    graph: &'a Graph,
    /// The number of findings about each URI.
    findings: HashMap<&'a str, usize>,
    /// Nodes that have a finding on or below them.
    marked: HashSet<usize>,
    /// The position of each drawn node.
    places: HashMap<usize, Spot>,
    rows: usize,
    columns: usize,
    shapes: String,
}

pub fn section(page: &mut String, graph: &Graph, report: &RunReport) -> std::fmt::Result {
    if graph.nodes.is_empty() {
        return Ok(());
    }
    let mut picture = Picture::new(graph, report);
    picture.draw()?;
    let (width, height) = (picture.columns * COLUMN + LABEL * LETTER + 110, (picture.rows + 1) * ROW);
    let nodes = graph.nodes.len();
    writeln!(page, "<h2>Resource graph</h2>")?;
    let limit = graph.limit.as_deref().map(|limit| format!("; {}", text(limit))).unwrap_or_default();
    writeln!(
        page,
        "<p class=\"faint\">{nodes} resources{limit}. Dashed: another path to a resource, in a \
         cycle if it leads back up. Red: has findings.</p>"
    )?;
    writeln!(
        page,
        "<div class=\"scroll\"><svg class=\"picture\" role=\"img\" aria-label=\"graph of the resources\" width=\"{width}\" \
         height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n{}</svg></div>",
        picture.shapes
    )
}

impl<'a> Picture<'a> {
    fn new(graph: &'a Graph, report: &'a RunReport) -> Self {
        let mut findings: HashMap<&str, usize> = HashMap::new();
        for finding in report.rules.iter().flat_map(|rule| &rule.findings) {
            *findings.entry(&finding.subject).or_default() += 1;
        }
        let mut marked: HashSet<usize> =
            (0..graph.nodes.len()).filter(|index| findings.contains_key(graph.nodes[*index].uri.as_str())).collect();
        // Repeat until nothing changes: a graph with cycles has no topological order.
        loop {
            let above = (0..graph.nodes.len()).filter(|index| !marked.contains(index));
            let above: Vec<usize> =
                above.filter(|index| graph.nodes[*index].children.iter().any(|child| marked.contains(child))).collect();
            if above.is_empty() {
                break;
            }
            marked.extend(above);
        }
        Self { graph, findings, marked, places: HashMap::new(), rows: 0, columns: 0, shapes: String::new() }
    }

    fn draw(&mut self) -> std::fmt::Result {
        let parents: HashSet<usize> = self.graph.nodes.iter().flat_map(|node| node.children.iter().copied()).collect();
        let roots = 0..self.graph.roots.min(self.graph.nodes.len());
        // A node that is listed at the top and in another resource is drawn in the other resource.
        let (inside, tops): (Vec<usize>, Vec<usize>) = roots.partition(|node| parents.contains(node));
        let mut again = Vec::new();
        self.descend(&tops, &mut again)?;
        for node in inside {
            // In a cycle every node is inside of another one.
            if !self.places.contains_key(&node) && !self.graph.nodes[node].children.is_empty() {
                self.descend(&[node], &mut again)?;
            }
        }
        again.into_iter().try_for_each(|(from, to)| self.across(from, to))
    }

    /// Draws some nodes and everything below them; `again` collects further links to drawn nodes.
    fn descend(&mut self, tops: &[usize], again: &mut Vec<(usize, usize)>) -> std::fmt::Result {
        // Depth first, with an explicit stack: the server determines the depth.
        let mut ahead: Vec<(Step, usize, Option<usize>)> = self.steps(tops, 0, None);
        ahead.reverse();
        while let Some((step, depth, parent)) = ahead.pop() {
            match step {
                Step::Folded(count) => self.fold(count, depth, parent)?,
                Step::Node(node) if self.places.contains_key(&node) => {
                    again.extend(parent.map(|parent| (parent, node)));
                }
                Step::Node(node) => {
                    self.node(node, depth, parent)?;
                    let mut below = self.steps(&self.graph.nodes[node].children, depth + 1, Some(node));
                    below.reverse();
                    ahead.extend(below);
                }
            }
        }
        Ok(())
    }

    /// What is drawn of some siblings.
    fn steps(&self, siblings: &[usize], depth: usize, parent: Option<usize>) -> Vec<(Step, usize, Option<usize>)> {
        let few = if self.places.len() < NODES { CHILDREN } else { 0 };
        // A node with children is more interesting than a leaf.
        let matters = |node: usize| few > 0 && !self.graph.nodes[node].children.is_empty();
        let drawn =
            |(at, node): (usize, &usize)| (at < few || self.marked.contains(node) || matters(*node)).then_some(*node);
        let drawn: Vec<usize> = siblings.iter().enumerate().filter_map(drawn).take(NODES).collect();
        let folded = siblings.len() - drawn.len();
        let nodes = drawn.into_iter().map(|node| (Step::Node(node), depth, parent));
        nodes.chain((folded > 0).then_some((Step::Folded(folded), depth, parent))).collect()
    }

    fn node(&mut self, node: usize, depth: usize, parent: Option<usize>) -> std::fmt::Result {
        let (x, y) = self.place(depth);
        self.edge(parent, x, y)?;
        let uri = &self.graph.nodes[node].uri;
        let found = self.findings.get(uri.as_str()).copied().unwrap_or(0);
        let class = if found > 0 { " class=\"found\"" } else { "" };
        let name = uri.trim_end_matches('/').rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(uri);
        let label = middle(&plain(name), LABEL).into_owned();
        self.places.insert(node, Spot { x, y, end: x + 14 + columns(&label) * LETTER });
        writeln!(
            self.shapes,
            "<g{class}><title>{}{}</title><circle cx=\"{x}\" cy=\"{y}\" r=\"4\"/><text x=\"{}\" y=\"{}\">{}</text></g>",
            text(uri),
            if found > 0 { format!(": {found} found here") } else { String::new() },
            x + 8,
            y + 4,
            text(&label),
        )
    }

    fn fold(&mut self, count: usize, depth: usize, parent: Option<usize>) -> std::fmt::Result {
        let (x, y) = self.place(depth);
        self.edge(parent, x, y)?;
        writeln!(self.shapes, "<text class=\"more\" x=\"{}\" y=\"{}\">and {count} more</text>", x + 8, y + 4)
    }

    fn place(&mut self, depth: usize) -> (usize, usize) {
        self.rows += 1;
        self.columns = self.columns.max(depth);
        (depth * COLUMN + 10, self.rows * ROW)
    }

    fn edge(&mut self, parent: Option<usize>, x: usize, y: usize) -> std::fmt::Result {
        let Some(from) = parent.and_then(|parent| self.places.get(&parent)) else { return Ok(()) };
        writeln!(self.shapes, "<path d=\"M{} {} V{y} H{x}\"/>", from.x, from.y)
    }

    /// A further link to a node; a link to an ancestor is part of a cycle.
    fn across(&mut self, from: usize, to: usize) -> std::fmt::Result {
        let (Spot { y: y1, end: x1, .. }, Spot { y: y2, end: x2, .. }) = (self.places[&from], self.places[&to]);
        let class = if self.reaches(to, from) { "cycle" } else { "again" };
        // Bent to the right so that it does not cross names; a node that links to itself gets a loop.
        let bend = x1.max(x2) + 60;
        let (above, below) = if from == to { (y1 - 14, y1 + 14) } else { (y1, y2) };
        writeln!(self.shapes, "<path class=\"{class}\" d=\"M{x1} {y1} C{bend} {above} {bend} {below} {x2} {y2}\"/>")
    }

    fn reaches(&self, from: usize, to: usize) -> bool {
        let (mut seen, mut ahead) = (HashSet::new(), vec![from]);
        while let Some(node) = ahead.pop() {
            if node == to {
                return true;
            }
            if seen.insert(node) {
                ahead.extend(&self.graph.nodes[node].children);
            }
        }
        false
    }
}

#[derive(Clone, Copy)]
struct Spot {
    x: usize,
    y: usize,
    /// The end of its name.
    end: usize,
}

enum Step {
    Node(usize),
    Folded(usize),
}
