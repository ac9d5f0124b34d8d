//! The names that are in scope for every step and rule of a suite.

use serde_json::{Map, Value, json};

use super::{Scope, Suite};
use crate::evidence::Scene;

/// Id of the suite whose saves are in scope everywhere, as `$survey`.
pub const SURVEY: &str = "survey";

/// What can be known about a server that it does not say itself.
pub const FACTS: &[&str] = &[
    "missing_uri",
    "prefix",
    "outside_file",
    "second_identity",
    "arguments",
    "children",
    "change",
    "list_change",
    "slow",
    "versions",
    "tool_list_change",
    "prompt_list_change",
    "task",
    "slow_task",
    "task_input",
    "failing_task",
    "broken_task",
    "tools",
    "prompts",
    "asking",
    "outside_roots",
    "guarded",
    "handle",
    "registration",
    "client_id",
    "grant",
    "own_token",
    "expired_token",
    "forged_token",
    "foreign_token",
    "unbound_token",
    "alien_token",
    "orphaned_token",
    "narrow_token",
    "broad_token",
    "upper_token",
    "second_token",
];

/// `$survey`, `$facts`, `$values`, `$server`, `$client`, `$revision`, `$transport`, and what the suite saved.
pub fn ground<'a>(scene: &'a Scene, suite: &Suite) -> Scope<'a> {
    let mut scope = Scope::new();
    scope.own("values", values(suite, scene));
    scope.own("revision", json!(scene.revision));
    scope.own("transport", json!(scene.transport));
    scope.bind("facts", &scene.facts);
    scope.bind("server", &scene.server);
    scope.bind("client", &scene.client);
    if let Some(saves) = scene.saves.get(SURVEY) {
        scope.bind(SURVEY, saves);
    }
    for (name, value) in scene.saves.get(&suite.id).and_then(Value::as_object).into_iter().flatten() {
        scope.bind(name.as_str(), value);
    }
    scope
}

/// The rows of `values` that hold in the revision of the scene.
fn values(suite: &Suite, scene: &Scene) -> Value {
    let mut values = Map::new();
    for (name, rows) in &suite.values {
        let holds = |since: Option<_>, until: Option<_>| {
            since.is_none_or(|since| since <= scene.revision) && until.is_none_or(|until| scene.revision <= until)
        };
        if let Some(row) = rows.iter().find(|row| holds(row.since, row.until)) {
            values.insert(name.clone(), row.is.clone());
        }
    }
    Value::Object(values)
}
