//! Visits of a walk beyond those that were saved. They are streamed with the frames, and each rule that iterates over
//! visits judges each of them.

use serde_json::{Value, json};

use super::{item::judge_item, located::Item, tally::Tally};
use conform_model::evidence::{Frame, RunContext};
use conform_suite::{Node, Path, Scope, Test};

/// Judges one visit of the walk that the suite saves under the name in the frame.
pub fn judge_visit(tally: &mut Tally, context: &RunContext, frame: &Frame) {
    let (Some(save), Some(visit)) = (&frame.text, &frame.message) else { return };
    let (rule, walk) = (tally.rule, json!({ "visits": [visit] }));
    let looks = |path: &&Path| path.root == *save && path.first_member() == Some("visits");
    if let Some(every) = &rule.every {
        for path in every.over.iter().filter(looks) {
            for Node { value, location } in &visits(path.select_in(&walk)) {
                let mut inner = Scope::over(tally.ground);
                inner.bind(every.var.as_str(), value);
                let item = Item {
                    suite: tally.suite,
                    var: &every.var,
                    path,
                    root: &walk,
                    value,
                    location: &|| location.clone(),
                };
                judge_item(tally, &inner, context.revision, Some(&item));
            }
        }
    } else if let Test::Observe(paths) = &rule.test {
        for path in paths.iter().filter(looks) {
            for value in path.values_in(&walk) {
                tally.checked += 1;
                tally.observe(path, value);
            }
        }
    }
}

/// The visits that a path selects: `$graph.visits` stands for each of them.
fn visits(nodes: Vec<Node<'_>>) -> Vec<Node<'_>> {
    match nodes.as_slice() {
        [Node { value: Value::Array(visits), location }] if location == "/visits" => {
            let inside = visits.iter().enumerate();
            inside.map(|(place, value)| Node { value, location: format!("{location}/{place}") }).collect()
        }
        _ => nodes,
    }
}
