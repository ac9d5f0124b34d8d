//! Generated content of any size, for walks: resources that are generated on request and never stored.
//!
//! Each resource has a number, and the children of `k` are the `fanout` numbers from `k * fanout + 1`. In a tree they
//! end with the last number. In a cyclic graph they wrap around, so every resource is a directory and the graph is
//! cyclic.

use std::str::FromStr;

use crate::content::Node;

const SCHEME: &str = "grown:///";
const FANOUT: u32 = 100;
const PAGE: u32 = 100;

/// The parameters of generated content, as in `tree:1000000,fanout:100,page:50`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grown {
    cyclic: bool,
    nodes: u64,
    fanout: u64,
    /// Children on one page.
    pub page: usize,
}

/// A directory of generated content.
#[derive(Clone, Copy)]
pub struct Branch {
    content: Grown,
    first: u64,
    /// The number of its children.
    pub length: usize,
}

impl FromStr for Grown {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("`{text}` is not valid content; write tree:N or cyclic:N, then ,fanout:F or ,page:P if need be");
        let number = |text: &str| text.parse::<u32>().ok().filter(|number| *number > 0).ok_or_else(wrong);
        let mut parts = text.split(',').map(|part| part.split_once(':').ok_or_else(wrong));
        let (kind, nodes) = parts.next().unwrap_or_else(|| Err(wrong()))?;
        let cyclic = match kind {
            "tree" => false,
            "cyclic" => true,
            _ => return Err(wrong()),
        };
        let (nodes, mut fanout, mut page) = (number(nodes)?, FANOUT, PAGE);
        for part in parts {
            match part? {
                ("fanout", given) => fanout = number(given)?,
                ("page", given) => page = number(given)?,
                _ => return Err(wrong()),
            }
        }
        Ok(Self { cyclic, nodes: nodes.into(), fanout: fanout.min(nodes).into(), page: page as usize })
    }
}

impl Grown {
    /// The root, which is the only resource in the default list.
    pub fn root(self) -> Node {
        Node { listed: true, ..self.node(0) }
    }

    pub fn find(self, uri: &str) -> Option<Node> {
        self.number(uri).map(|number| self.node(number))
    }

    /// The directory with this URI, if it exists.
    pub fn branch(self, uri: &str) -> Option<Branch> {
        let first = self.number(uri)? * self.fanout + 1;
        let after = if self.cyclic { first + self.fanout } else { (first + self.fanout).min(self.nodes) };
        let length = usize::try_from(after.checked_sub(first)?).ok()?;
        (length > 0).then_some(Branch { content: self, first, length })
    }

    fn node(self, number: u64) -> Node {
        let (uri, name) = (format!("{SCHEME}{number}"), number.to_string());
        // Its children are generated page by page, so the node does not list them.
        let node = match self.branch(&uri) {
            Some(_) => Node::directory(uri, name, &[]),
            None => Node::text(uri, name, "text/plain", format!("number {number}\n")),
        };
        node.unlisted()
    }

    /// Each number has only one spelling, so each resource has only one URI.
    fn number(self, uri: &str) -> Option<u64> {
        let digits = uri.strip_prefix(SCHEME)?;
        digits.parse().ok().filter(|number: &u64| *number < self.nodes && number.to_string() == digits)
    }
}

impl Branch {
    pub fn child(self, place: usize) -> Node {
        self.content.node((self.first + place as u64) % self.content.nodes)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// The numbers of nodes that can be reached from the root, and of the edges to them.
    fn walked(content: &str) -> (usize, usize) {
        let content: Grown = content.parse().expect("valid");
        let (mut known, mut ahead, mut edges) = (HashSet::from([content.root().uri]), vec![content.root()], 0);
        while let Some(node) = ahead.pop() {
            let branch = content.branch(&node.uri);
            assert_eq!(branch.is_some(), node.listable(), "{}", node.uri);
            for child in branch.into_iter().flat_map(|branch| (0..branch.length).map(move |place| branch.child(place)))
            {
                edges += 1;
                assert!(content.find(&child.uri).is_some(), "{}", child.uri);
                if known.insert(child.uri.clone()) {
                    ahead.push(child);
                }
            }
        }
        (known.len(), edges)
    }

    #[test]
    fn a_tree_has_each_node_once_and_a_cyclic_world_has_edges_to_spare() {
        assert_eq!(walked("tree:1"), (1, 0));
        assert_eq!(walked("tree:1000,fanout:7"), (1000, 999));
        assert_eq!(walked("tree:50,fanout:1"), (50, 49));
        assert_eq!(walked("cyclic:100,fanout:3"), (100, 300));
        assert_eq!(walked("cyclic:2"), (2, 4));
    }

    #[test]
    fn what_is_no_world_is_refused() {
        for text in
            ["", "tree", "tree:0", "tree:x", "bush:9", "tree:9,", "tree:9,fanout:0", "tree:9,leaves:2", "tree:-1"]
        {
            assert!(text.parse::<Grown>().is_err(), "{text}");
        }
        let content: Grown = "tree:10,fanout:3".parse().expect("valid");
        for uri in ["grown:///10", "grown:///01", "grown:///", "file:///1"] {
            assert!(content.find(uri).is_none(), "{uri}");
        }
    }
}
