//! The graph of resources, as far as a walk has seen it: a one-line summary, and data for a drawing.

use std::collections::HashMap;

use indexmap::IndexMap;
use serde_json::Value;

use conform_model::{
    evidence::RunContext,
    outcome::{Graph, GraphNode},
};
use conform_suite::{SURVEY, Suite, Verb, Walk};

/// Maximum number of nodes in a report.
const KEPT: usize = 1000;

/// A summary of the widest walk.
pub fn summary(context: &RunContext, suites: &[Suite]) -> Option<String> {
    let (walk, graph) = widest_walk(context, suites)?;
    Some(size(walk, graph))
}

/// The limit that the widest walk reached, if any.
pub fn limit_of(context: &RunContext, suites: &[Suite]) -> Option<String> {
    let (walk, graph) = widest_walk(context, suites)?;
    Some(format!("{}: {}", walk.method, limit(graph)?))
}

/// The graph of what was walked: the listed resources, and the directories of skills.
pub fn graph(context: &RunContext, suites: &[Suite]) -> Option<Graph> {
    let (_, widest) = widest_walk(context, suites)?;
    let mut graph = Graph { nodes: Vec::new(), roots: 0, limit: limit(widest) };
    let mut known = HashMap::new();
    let listed = context.saves.get(SURVEY).and_then(|survey| survey["resources"]["items"].as_array());
    // Several suites walk the same graph, with other limits: the widest walk of each method counts. For skills it is one
    // for each.
    let mut walked: IndexMap<&str, Vec<&Value>> = IndexMap::new();
    for (walk, seen) in walks(context, suites) {
        let widest = walked.entry(&walk.method).or_default();
        if seen.iter().map(|graph| nodes(graph)).sum::<u64>() > widest.iter().map(|graph| nodes(graph)).sum() {
            *widest = seen;
        }
    }
    let visits = || walked.values().flatten().filter_map(|seen| seen["visits"].as_array()).flatten();
    let tops = visits().filter(|visit| visit["depth"] == 0).map(|visit| &visit["key"]);
    for uri in listed.into_iter().flatten().map(|item| &item["uri"]).chain(tops).filter_map(Value::as_str) {
        enter(&mut graph, &mut known, uri);
    }
    graph.roots = graph.nodes.len();
    for visit in visits() {
        let Some(parent) = visit["key"].as_str().and_then(|key| enter(&mut graph, &mut known, key)) else { continue };
        for child in visit["children"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if let Some(child) = enter(&mut graph, &mut known, child)
                && !graph.nodes[parent].children.contains(&child)
            {
                graph.nodes[parent].children.push(child);
            }
        }
    }
    Some(graph)
}

/// The index of a node; `None` if the graph is full.
fn enter<'a>(graph: &mut Graph, known: &mut HashMap<&'a str, usize>, uri: &'a str) -> Option<usize> {
    if let Some(index) = known.get(uri) {
        return Some(*index);
    }
    let index = graph.nodes.len();
    if index >= KEPT {
        graph.limit.get_or_insert_with(|| format!("only the first {KEPT} nodes are kept"));
        return None;
    }
    known.insert(uri, index);
    graph.nodes.push(GraphNode { uri: uri.to_owned(), children: Vec::new() });
    Some(index)
}

/// The step and result of the walk with the most nodes.
fn widest_walk<'a>(context: &'a RunContext, suites: &'a [Suite]) -> Option<(&'a Walk, &'a Value)> {
    let walks = walks(context, suites).flat_map(|(walk, graphs)| graphs.into_iter().map(move |graph| (walk, graph)));
    walks.filter(|(_, graph)| nodes(graph) > 0).max_by_key(|(_, graph)| nodes(graph))
}

/// The results of each step that walks: one, or with `each` one for each item.
fn walks<'a>(context: &'a RunContext, suites: &'a [Suite]) -> impl Iterator<Item = (&'a Walk, Vec<&'a Value>)> {
    let steps = suites.iter().flat_map(|suite| suite.gather.iter().map(move |step| (suite, step)));
    steps.filter_map(|(suite, step)| match (&step.verb, &step.save) {
        (Verb::Walk(walk), Some(save)) => {
            let saved = context.saves.get(&suite.id)?.get(save)?;
            let entries = saved.as_array().map(|entries| entries.iter().map(|entry| &entry["reply"]).collect());
            Some((walk, entries.unwrap_or_else(|| vec![saved])))
        }
        _ => None,
    })
}

fn nodes(graph: &Value) -> u64 {
    graph["nodes"].as_u64().unwrap_or_default()
}

/// The size of the graph.
fn size(walk: &Walk, graph: &Value) -> String {
    let count = |member: &str, one: &str| {
        let count = graph[member].as_u64().unwrap_or_default();
        format!("{count} {one}{}", if count == 1 { "" } else { "s" })
    };
    format!(
        "{} walked: {}, {} deep, {}, {} repeated",
        walk.method,
        count("nodes", "node"),
        count("depth", "level"),
        count("cycles", "cycle"),
        count("repeats", "node"),
    )
}

/// The limit, if any, that kept the rest of the graph from being judged.
fn limit(graph: &Value) -> Option<String> {
    let limits = &graph["limits"];
    let limit = match graph["end"].as_str()? {
        "node-limit" => format!("{} nodes", limits["nodes"]),
        "depth-limit" => format!("{} levels", limits["depth"]),
        "page-limit" => format!("{} pages", limits["pages"]),
        "time-limit" => format!("{} seconds", limits["seconds"]),
        "disk-limit" => "the disk".to_owned(),
        _ => return None,
    };
    Some(format!("the limit of {limit} was reached; the rest was not judged"))
}
