//! The nodes that a walk has seen and the edges between them, in a few bytes each. Only a hash is kept of a node. Only
//! edges between listed nodes are kept, since no other can be part of a cycle.

use std::{
    collections::{HashMap, HashSet},
    hash::{BuildHasher, RandomState},
    ops::Range,
};

#[derive(Default)]
pub struct Graph {
    hasher: RandomState,
    /// Nodes that cannot be listed.
    leaves: HashSet<u64>,
    /// Nodes that can, with their numbers: 0, 1, 2, ...
    listed: HashMap<u64, u32>,
    /// For each number, the range of its children in `children`.
    lists: Vec<Range<usize>>,
    children: Vec<u32>,
    edges: usize,
}

impl Graph {
    pub fn hash(&self, key: &str) -> u64 {
        self.hasher.hash_one(key)
    }

    pub fn knows(&self, hash: u64) -> bool {
        self.leaves.contains(&hash) || self.listed.contains_key(&hash)
    }

    /// Adds a new node, and returns its number if it can be listed.
    pub fn enter(&mut self, hash: u64, is_listed: bool) -> Option<u32> {
        if !is_listed {
            self.leaves.insert(hash);
            return None;
        }
        let number = u32::try_from(self.listed.len()).ok()?;
        self.listed.insert(hash, number);
        Some(number)
    }

    /// Adds an edge. Edges of one parent must be added in sequence.
    pub fn link(&mut self, parent: u32, child: u64) {
        self.edges += 1;
        let Some(&child) = self.listed.get(&child) else { return };
        let (parent, end) = (parent as usize, self.children.len());
        if self.lists.len() <= parent {
            self.lists.resize(parent + 1, end..end);
        }
        self.children.push(child);
        self.lists[parent].end = end + 1;
    }

    pub fn nodes(&self) -> usize {
        self.leaves.len() + self.listed.len()
    }

    pub fn edges(&self) -> usize {
        self.edges
    }

    /// The number of back edges: without them, there would be no cycle.
    pub fn cycles(&self) -> usize {
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            New,
            OnTheWay,
            Done,
        }
        let mut states = vec![State::New; self.listed.len()];
        let mut cycles = 0;
        for start in 0..self.lists.len() {
            if states[start] != State::New {
                continue;
            }
            states[start] = State::OnTheWay;
            let mut way = vec![(start, self.lists[start].clone())];
            while let Some((node, left)) = way.last_mut() {
                let Some(next) = left.next() else {
                    states[*node] = State::Done;
                    way.pop();
                    continue;
                };
                let child = self.children[next] as usize;
                match states[child] {
                    State::New => {
                        states[child] = State::OnTheWay;
                        way.push((child, self.lists.get(child).cloned().unwrap_or_default()));
                    }
                    State::OnTheWay => cycles += 1,
                    State::Done => {}
                }
            }
        }
        cycles
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A graph of listed nodes, each with its children.
    fn graph(lists: &[(&str, &[&str])]) -> Graph {
        let mut graph = Graph::default();
        let keys = || lists.iter().flat_map(|(parent, children)| [*parent].into_iter().chain(children.iter().copied()));
        for key in keys() {
            let hash = graph.hash(key);
            if !graph.knows(hash) {
                graph.enter(hash, true);
            }
        }
        for (parent, children) in lists {
            let parent = graph.listed[&graph.hash(parent)];
            for child in *children {
                graph.link(parent, graph.hash(child));
            }
        }
        graph
    }

    #[test]
    fn only_what_is_listed_has_a_number() {
        let mut graph = Graph::default();
        let hashes = ["a", "b", "c"].map(|key| graph.hash(key));
        assert_eq!(hashes.map(|hash| graph.enter(hash, hash != hashes[1])), [Some(0), None, Some(1)]);
        assert!(graph.knows(hashes[1]) && !graph.knows(graph.hash("d")));
        graph.link(0, hashes[1]);
        graph.link(0, hashes[2]);
        assert_eq!((graph.nodes(), graph.edges(), graph.children.len()), (3, 2, 1));
    }

    #[test]
    fn circles_are_counted_and_diamonds_are_none() {
        assert_eq!(graph(&[("top", &["l", "r"]), ("l", &["tip"]), ("r", &["tip"])]).cycles(), 0);
        assert_eq!(graph(&[("self", &["self"])]).cycles(), 1);
        assert_eq!(graph(&[("top", &["a", "b"]), ("a", &["b"]), ("b", &["a"])]).cycles(), 1);
        let names: Vec<String> = (0..=50_000).map(|n| n.to_string()).collect();
        let children: Vec<[&str; 1]> = names[1..].iter().map(|name| [name.as_str()]).collect();
        let chain: Vec<(&str, &[&str])> =
            names.iter().zip(&children).map(|(name, child)| (name.as_str(), child.as_slice())).collect();
        assert_eq!((graph(&chain).cycles(), graph(&chain).edges()), (0, 50_000));
    }
}
