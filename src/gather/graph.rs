//! The nodes that a walk has seen and the edges between them, at a few bytes each: of a node only a hash is kept.

use std::{
    collections::{HashMap, hash_map::Entry},
    hash::{BuildHasher, RandomState},
};

#[derive(Default)]
pub struct Graph {
    hasher: RandomState,
    known: HashMap<u64, usize>,
    /// For each node, those that it lists.
    children: Vec<Vec<usize>>,
}

impl Graph {
    /// The number of the node with this key, and whether it is new.
    pub fn enter(&mut self, key: &str) -> (usize, bool) {
        match self.known.entry(self.hasher.hash_one(key)) {
            Entry::Occupied(known) => (*known.get(), false),
            Entry::Vacant(free) => {
                self.children.push(Vec::new());
                (*free.insert(self.children.len() - 1), true)
            }
        }
    }

    pub fn knows(&self, key: &str) -> bool {
        self.known.contains_key(&self.hasher.hash_one(key))
    }

    pub fn link(&mut self, parent: usize, child: usize) {
        self.children[parent].push(child);
    }

    pub fn nodes(&self) -> usize {
        self.children.len()
    }

    pub fn edges(&self) -> usize {
        self.children.iter().map(Vec::len).sum()
    }

    /// Edges that lead back to where they came from: without them there would be no way in a circle.
    pub fn cycles(&self) -> usize {
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            New,
            OnTheWay,
            Done,
        }
        let mut states = vec![State::New; self.nodes()];
        let mut cycles = 0;
        for start in 0..self.nodes() {
            if states[start] != State::New {
                continue;
            }
            states[start] = State::OnTheWay;
            let mut way = vec![(start, 0)];
            while let Some((node, next)) = way.last_mut() {
                let Some(&child) = self.children[*node].get(*next) else {
                    states[*node] = State::Done;
                    way.pop();
                    continue;
                };
                *next += 1;
                match states[child] {
                    State::New => {
                        states[child] = State::OnTheWay;
                        way.push((child, 0));
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

    fn graph(edges: &[(&str, &str)]) -> Graph {
        let mut graph = Graph::default();
        for (parent, child) in edges {
            let (parent, child) = (graph.enter(parent).0, graph.enter(child).0);
            graph.link(parent, child);
        }
        graph
    }

    #[test]
    fn a_key_is_new_once() {
        let mut graph = Graph::default();
        assert_eq!([graph.enter("a"), graph.enter("b"), graph.enter("a")], [(0, true), (1, true), (0, false)]);
        assert!(graph.knows("b") && !graph.knows("c"));
    }

    #[test]
    fn circles_are_counted_and_diamonds_are_none() {
        assert_eq!(graph(&[("top", "l"), ("top", "r"), ("l", "tip"), ("r", "tip")]).cycles(), 0);
        assert_eq!(graph(&[("self", "self")]).cycles(), 1);
        assert_eq!(graph(&[("top", "a"), ("top", "b"), ("a", "b"), ("b", "a")]).cycles(), 1);
        let long: Vec<_> = (0..50_000).map(|n| (n.to_string(), (n + 1).to_string())).collect();
        let long: Vec<_> = long.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        assert_eq!((graph(&long).cycles(), graph(&long).edges()), (0, 50_000));
    }
}
