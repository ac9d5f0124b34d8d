//! The methods, one file per area, and the table of the revisions that have them.

mod completion;
mod dialect;
mod lifecycle;
mod page;
mod params;
mod prompts;
mod resources;
mod rounds;
pub mod skills;
mod subscriptions;
mod task_extension;
mod tasks;
mod tools;

use serde_json::Value;

use crate::{context::Context, fail::Fail, options::Proposals};
use conform_model::revision::Revision;

pub use lifecycle::{identity, initialize, result_meta};
pub use params::Params;
pub use subscriptions::closed;
pub use task_extension::EXTENSION;
pub use tasks::answered;
pub use tools::input_schema;

pub type Handler = fn(&mut Context, Params) -> Result<Value, Fail>;

/// The handler of a method, if the revision or an enabled proposal has it. `initialize` is not in the table, because it
/// sets the revision.
pub fn find(method: &str, revision: Revision, proposals: Proposals) -> Option<Handler> {
    let handler: Handler = match method {
        "resources/list" => resources::list,
        "resources/templates/list" => resources::templates,
        "resources/read" => resources::read,
        "resources/metadata" if proposals.metadata => resources::metadata,
        "resources/get" if proposals.versioned => dialect::get,
        "tools/list" => tools::list,
        "tools/call" => tools::call,
        "prompts/list" => prompts::list,
        "prompts/get" => prompts::get,
        "completion/complete" => completion::complete,
        _ if revision.features().tasks => return tasks(method).or_else(|| legacy(method)),
        _ if revision.is_modern() && proposals.skills => return modern(method).or_else(|| of_skills(method)),
        _ => return if revision.is_modern() { modern(method) } else { legacy(method) },
    };
    Some(handler)
}

fn modern(method: &str) -> Option<Handler> {
    match method {
        "server/discover" => Some(lifecycle::discover),
        "subscriptions/listen" => Some(subscriptions::listen),
        "tasks/get" => Some(task_extension::get),
        "tasks/update" => Some(task_extension::update),
        "tasks/cancel" => Some(task_extension::cancel),
        _ => None,
    }
}

fn of_skills(method: &str) -> Option<Handler> {
    match method {
        "skills/list" => Some(skills::list),
        "skills/get" => Some(skills::get),
        "resources/directory/read" => Some(skills::read_directory),
        _ => None,
    }
}

/// Only one revision has tasks in its core.
fn tasks(method: &str) -> Option<Handler> {
    match method {
        "tasks/get" => Some(tasks::get),
        "tasks/result" => Some(tasks::result),
        "tasks/list" => Some(tasks::list),
        "tasks/cancel" => Some(tasks::cancel),
        _ => None,
    }
}

fn legacy(method: &str) -> Option<Handler> {
    match method {
        "ping" => Some(lifecycle::ping),
        "logging/setLevel" => Some(lifecycle::set_level),
        "resources/subscribe" => Some(subscriptions::subscribe),
        "resources/unsubscribe" => Some(subscriptions::unsubscribe),
        _ => None,
    }
}

/// In 2026-07-28, complete results of these methods say how long they can be cached.
pub fn can_be_kept(method: &str) -> bool {
    matches!(
        method,
        "server/discover"
            | "tools/list"
            | "prompts/list"
            | "resources/list"
            | "resources/templates/list"
            | "resources/read"
            | "skills/list"
            | "skills/get"
    )
}
