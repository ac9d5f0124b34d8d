//! What rules see of a revision besides messages: how the client was started, and what it did.

use indexmap::IndexMap;
use serde_json::{Value, json};

use super::{facts::Start, oauth};
use crate::{
    evidence::{RunContext, Side, Transport},
    outcome::World,
    revision::Revision,
};

/// What is known of these starts besides their messages.
pub fn saves<'a>(starts: &(impl Iterator<Item = &'a Start> + Clone)) -> IndexMap<String, Value> {
    let runs = starts.clone().map(|start| json!(start.run)).collect();
    let spawns = starts.clone().flat_map(|start| start.spawns.clone()).collect();
    let actions = starts.clone().flat_map(|start| start.actions.clone()).collect();
    let views = oauth::NAMES.map(|name| {
        let of = |start: &'a Start| start.views.iter().flat_map(move |views| views.named(name).to_owned());
        (name, starts.clone().flat_map(of).collect())
    });
    [("runs", runs), ("spawns", spawns), ("actions", actions)]
        .into_iter()
        .chain(views)
        .map(|(name, values)| (name.to_owned(), Value::Array(values)))
        .collect()
}

pub fn context(
    revision: Revision,
    transport: Transport,
    world: Option<World>,
    saves: IndexMap<String, Value>,
) -> RunContext {
    RunContext {
        scenario: world.as_ref().map(|world| world.scenario.clone()),
        world,
        proposals: crate::reference::server::PROPOSALS.map(str::to_owned).to_vec(),
        saves,
        ..RunContext::new(revision, Side::Client, transport)
    }
}
