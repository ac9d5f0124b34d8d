//! Judges all rules of a plan over the evidence.
//!
//! Most rules look at what the suites saved. Rules over `$transcript`, `$messages`, `$exchanges` and `$asked` look at the whole
//! run, which need not be in memory: it passes by once, item by item, and each such rule looks at each item.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{
    exchange::Assembler,
    fold::fold,
    item::{NOT_ASKED, item_of, judge_item},
    posts::Posts,
    streams::Streams,
    tally::Tally,
};
use crate::{
    evidence::{Frame, Link, Scene},
    outcome::RuleResult,
    plan::Plan,
    suite::{Node, Path, Scope, Suite, Test, ground},
};

/// Names whose items pass by one at a time.
pub const STREAMED: [&str; 5] = ["transcript", "messages", "exchanges", "streams", "asked"];

/// Verdicts on every rule of the plan, in its order. `frames` are all frames of the run, in order.
pub fn judge(plan: &Plan, scene: &Scene, links: &[Link], frames: impl Iterator<Item = Arc<Frame>>) -> Vec<RuleResult> {
    let mut tallies: Vec<Tally> = plan
        .suites
        .iter()
        .flat_map(|planned| planned.rules.iter().map(|rule| Tally::new(planned.suite, rule)))
        .collect();
    let grounds: Vec<(&Suite, Scope)> =
        plan.suites.iter().map(|planned| (planned.suite, ground(scene, planned.suite))).collect();
    let ground_of =
        |suite: &Suite| grounds.iter().find(|(known, _)| std::ptr::eq(*known, suite)).map(|(_, scope)| scope);

    let (mut streamed, mut still): (Vec<&mut Tally>, Vec<&mut Tally>) = tallies
        .iter_mut()
        .filter(|tally| tally.left_out.is_none() && tally.lacking.is_none())
        .partition(|tally| STREAMED.iter().any(|root| looks_at(tally, root)));
    for tally in &mut still {
        if let Some(scope) = ground_of(tally.suite) {
            judge_saved(tally, scope, scene);
        }
    }
    let mut gathered: Vec<Vec<Value>> = streamed.iter().map(|_| Vec::new()).collect();
    pass_by(scene, links, frames, |root, item| {
        for (tally, collection) in streamed.iter_mut().zip(&mut gathered) {
            if looks_at(tally, root)
                && let Some(scope) = ground_of(tally.suite)
            {
                judge_passing(tally, scope, scene, root, item, collection);
            }
        }
    });
    for (tally, collection) in streamed.iter_mut().zip(gathered) {
        if let Some(scope) = ground_of(tally.suite) {
            judge_collected(tally, scope, scene, collection);
        }
    }
    fold(&mut tallies);
    tallies.into_iter().map(|tally| tally.finish(scene)).collect()
}

/// Whether a rule looks at the streamed name.
fn looks_at(tally: &Tally, root: &str) -> bool {
    let is_root = |path: &Path| path.root == root;
    if let Some(every) = &tally.rule.every {
        return every.over.iter().any(is_root);
    }
    match &tally.rule.test {
        Test::Expect(clauses) => clauses.iter().any(|clause| is_root(&clause.subject)),
        Test::Observe(paths) => paths.iter().any(is_root),
        Test::Check { given, .. } => given.iter().any(|(_, template)| template.references().into_iter().any(is_root)),
    }
}

fn judge_saved(tally: &mut Tally, scope: &Scope, scene: &Scene) {
    let rule = tally.rule;
    let Some(every) = &rule.every else {
        judge_item(tally, scope, scene.revision, None);
        return;
    };
    for path in &every.over {
        let (Some(nodes), Some(root)) = (path.select(scope), scope.lookup(&path.root)) else {
            tally.missing.get_or_insert_with(|| NOT_ASKED.to_owned());
            continue;
        };
        // An array that is selected as a whole stands for its items.
        let whole = matches!(nodes.as_slice(), [only] if only.value.is_array());
        let nodes = if whole { elements(&nodes[0]) } else { nodes };
        for node in &nodes {
            let item = item_of(&every.var, path, node, root);
            let mut inner = Scope::over(scope);
            inner.bind(every.var.as_str(), node.value);
            judge_item(tally, &inner, scene.revision, Some(&item));
        }
    }
}

fn elements<'a>(node: &Node<'a>) -> Vec<Node<'a>> {
    let items = node.value.as_array().into_iter().flatten().enumerate();
    items.map(|(index, value)| Node { value, location: format!("{}/{index}", node.location) }).collect()
}

/// One item that passes by, as the only element of the array that the streamed name stands for.
fn judge_passing(
    tally: &mut Tally,
    scope: &Scope,
    scene: &Scene,
    root: &str,
    item: &Value,
    collection: &mut Vec<Value>,
) {
    let rule = tally.rule;
    if let Some(every) = &rule.every {
        for path in every.over.iter().filter(|path| path.root == root) {
            for node in path.select_in(item) {
                let of = item_of(&every.var, path, &node, item);
                let mut inner = Scope::over(scope);
                inner.bind(every.var.as_str(), node.value);
                judge_item(tally, &inner, scene.revision, Some(&of));
            }
        }
        return;
    }
    let paths: Vec<_> = match &rule.test {
        Test::Observe(paths) => paths.iter().collect(),
        Test::Expect(clauses) => clauses.iter().map(|clause| &clause.subject).collect(),
        Test::Check { given, .. } => given.iter().flat_map(|(_, template)| template.references()).collect(),
    };
    for path in paths.into_iter().filter(|path| path.root == root) {
        for node in path.select_in(item) {
            if matches!(rule.test, Test::Observe(_)) {
                tally.checked += 1;
                tally.observe(path, node.value);
            } else {
                collection.extend(item.get(0).filter(|_| collection.len() < COLLECTED_AT_MOST).cloned());
                break;
            }
        }
    }
}

/// Rules without `every` over a streamed name judge all items that it selects together; more than these are left out.
const COLLECTED_AT_MOST: usize = 10_000;

fn judge_collected(tally: &mut Tally, scope: &Scope, scene: &Scene, collection: Vec<Value>) {
    if tally.rule.every.is_some() || matches!(tally.rule.test, Test::Observe(_)) {
        return;
    }
    if collection.is_empty() {
        return;
    }
    let collection = Value::Array(collection);
    let mut inner = Scope::over(scope);
    for root in STREAMED {
        inner.bind(root, &collection);
    }
    judge_item(tally, &inner, scene.revision, None);
}

/// Hands every item of the streamed names to `look`, in the order of the run.
fn pass_by(
    scene: &Scene,
    links: &[Link],
    frames: impl Iterator<Item = Arc<Frame>>,
    mut look: impl FnMut(&'static str, &Value),
) {
    let ours = |link: u32| links.iter().find(|known| known.link == link && known.revision == Some(scene.revision));
    let mut assemblers: Vec<(u32, Assembler, Streams)> = Vec::new();
    let mut posts = Posts::default();
    for frame in frames {
        let Some(link) = ours(frame.link) else { continue };
        let index = assemblers.iter().position(|(known, ..)| *known == frame.link).unwrap_or_else(|| {
            assemblers.push((frame.link, Assembler::new(link), Streams::new(link)));
            assemblers.len() - 1
        });
        let passed = assemblers[index].1.take(&frame);
        for exchange in passed.exchanges {
            look("exchanges", &json!([exchange]));
        }
        for message in passed.messages {
            look("messages", &json!([message]));
        }
        if let Some(stream) = assemblers[index].2.take(&frame) {
            look("streams", &json!([stream]));
        }
        for asked in passed.asked {
            look("asked", &json!([asked]));
        }
        if let Ok(mut item) = serde_json::to_value(&*frame) {
            item["transport"] = json!(link.transport);
            posts.describe(&frame, &mut item);
            item["brief"] = json!(link.brief);
            look("transcript", &json!([item]));
        }
    }
    for (_, assembler, streams) in assemblers {
        for stream in streams.rest() {
            look("streams", &json!([stream]));
        }
        for exchange in assembler.rest() {
            look("exchanges", &json!([exchange]));
        }
    }
}
