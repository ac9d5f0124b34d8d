//! `mcp-conform tree`: the resources of a server as a tree.
//!
//! If resources declare that they can be listed (SEP-2093), their children are requested, once for each resource.
//! Otherwise the tree is built from the segments of the URIs. Skills follow, with the files in their directories.

mod draw;
mod graph;

use std::{collections::HashSet, sync::Arc};

use serde_json::Value;

use self::graph::{Graph, Node, RESOURCES};
use super::listing::list;
use crate::{
    cli::{TreeArgs, TreeFormat},
    error::{Error, exit},
    evidence::{Recorder, SKILLS},
    run::{
        inputs::{credentials, job::Revisions, target},
        process::{Surroundings, console, runtime::unless_ended},
    },
    session::{Opener, Session, Wish},
};

pub fn tree(args: &TreeArgs, surroundings: &Surroundings) -> Result<u8, Error> {
    let wish = match args.revision.parse()? {
        Revisions::One(revision) => Wish::Exactly(revision),
        Revisions::Auto => Wish::Newest,
        Revisions::All => return Err(Error::usage("`tree` shows one revision: name it, or leave out --revision")),
    };
    let (mut target, mut facts, limits) = target::target(&args.target, surroundings)?;
    unless_ended(credentials::obtain(&mut target, &mut facts, &limits))?;
    let recorder = Recorder::new(limits.memory_bytes, limits.disk_bytes, limits.record_messages);
    let opener = Opener { target, limits, recorder, profile: target::profile(&[])?, known: Arc::default() };
    let graph = unless_ended(async {
        let session = opener.open(wish).await.map_err(|unopened| unopened.error)?;
        let graph = Fetch { session: &session, nodes: args.nodes, depth: args.depth }.graph().await;
        session.close().await;
        graph
    })?;
    if graph.nodes.is_empty() {
        console::complain("the server lists no resources");
        if args.format == TreeFormat::Text {
            return Ok(exit::CONFORMING);
        }
    }
    console::say(&match args.format {
        TreeFormat::Text => draw::text(&graph, surroundings.color),
        TreeFormat::Dot => draw::dot(&graph),
        TreeFormat::Mermaid => draw::mermaid(&graph),
        TreeFormat::Json => draw::json(&graph),
    });
    Ok(exit::CONFORMING)
}

/// Requests the lists of the server, within limits.
struct Fetch<'a> {
    session: &'a Session,
    nodes: usize,
    depth: usize,
}

impl Fetch<'_> {
    async fn graph(&self) -> Result<Graph, Error> {
        let (listed, why) = self.list(RESOURCES, None).await;
        let skills = self.skills().await;
        if let (true, true, Some(why)) = (listed.is_empty(), skills.is_empty(), &why) {
            return Err(Error::Target {
                tried: RESOURCES.into(),
                came: why.clone(),
                help: "the server has no resources".into(),
                refused: false,
            });
        }
        let mut graph = Graph::default();
        graph.notes.extend(why.map(|why| format!("resources/list failed: {why}")));
        if listed.len() > self.nodes {
            graph.notes.push(format!("{} resources are not shown (--nodes {})", listed.len() - self.nodes, self.nodes));
        }
        let can_read_directories = self.skills_capability().is_some_and(|settings| settings["directoryRead"] == true);
        let skills: Vec<Node> =
            skills.iter().filter_map(|skill| Node::of_skill(skill, can_read_directories)).take(self.nodes).collect();
        let resources = listed.iter().filter_map(|resource| Node::of(resource, RESOURCES));
        // A resource of a skill is shown in its directory.
        let listed: Vec<Node> =
            resources.filter(|node| !skills.iter().any(|skill| skill.contains(node))).take(self.nodes).collect();
        if listed.iter().any(|node| node.listed_by.is_some()) {
            self.walk(listed, &mut graph).await;
        } else {
            graph::by_segments(listed, &mut graph);
        }
        self.walk(skills, &mut graph).await;
        Ok(graph)
    }

    /// What the server declares about skills, if it has them.
    fn skills_capability(&self) -> Option<&Value> {
        let hello = self.session.hello.as_ref()?.result.as_ref()?;
        hello["capabilities"].pointer(&format!("/{}", SKILLS.capability))
    }

    async fn skills(&self) -> Vec<Value> {
        match self.skills_capability() {
            Some(_) => list(self.session, ("tree", SKILLS.method, SKILLS.field), None, self.nodes).await.0,
            None => Vec::new(),
        }
    }

    /// Breadth first from the listed resources. The children of each are requested once.
    async fn walk(&self, listed: Vec<Node>, graph: &mut Graph) {
        let mut next: Vec<usize> = listed.into_iter().map(|node| graph.add(node)).collect();
        let roots = next.clone();
        let mut asked = HashSet::new();
        for depth in 0.. {
            let level: Vec<usize> = next.drain(..).filter(|index| asked.insert(*index)).collect();
            if level.is_empty() {
                break;
            }
            for index in level {
                let Some(method) = graph.nodes[index].listed_by else { continue };
                if depth >= self.depth || graph.nodes.len() >= self.nodes {
                    graph.nodes[index].why = Some("not listed".to_owned());
                    let flag = if depth >= self.depth { "--depth" } else { "--nodes" };
                    graph.note(&format!("some were not listed: the limit {flag} was reached"));
                    continue;
                }
                let uri = graph.nodes[index].uri.clone().unwrap_or_default();
                let (children, why) = self.list(method, Some(&uri)).await;
                graph.nodes[index].why = why;
                for child in children.iter().filter_map(|child| Node::of(child, method)) {
                    let child = graph.add(child);
                    if !graph.nodes[index].children.contains(&child) {
                        graph.nodes[index].children.push(child);
                    }
                    next.push(child);
                }
            }
        }
        graph.find_roots(&roots);
    }

    /// A list of resources, and why it is incomplete.
    async fn list(&self, method: &str, uri: Option<&str>) -> (Vec<Value>, Option<String>) {
        list(self.session, ("tree", method, "resources"), uri, self.nodes).await
    }
}
