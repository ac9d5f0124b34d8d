//! The names that are in scope for every step and rule of a suite.

use serde_json::{Map, Value, json};

use super::{Scope, Suite};
use conform_model::evidence::{RunContext, Side};

/// Id of the suite whose saves are in scope everywhere, as `$survey`.
pub const SURVEY: &str = "survey";

/// Facts that the program determines itself, or adds to given ones.
pub const FOUND: [&str; 32] = [
    "aliased_uris",
    "annotated",
    "authorization",
    "bare_calls",
    "beginning",
    "bystander",
    "calls",
    "case_swapped_calls",
    "encoded_uri",
    "endpoint",
    "expansions",
    "garbled_uri",
    "gets",
    "guesses",
    "harmless",
    "issuer",
    "resource",
    "left_alone",
    "malformed_calls",
    "metadata",
    "scopes",
    "missing_uri",
    "outside",
    "prefixes",
    "second_variables",
    "shortest_installed_as",
    "task_calls",
    "traversal_prompts",
    "untasked_calls",
    "variables",
    "wrong_calls",
    "wrong_gets",
];

/// `$survey`, `$facts`, `$values`, `$server`, `$client`, `$revision`, `$transport`, and what the suite saved.
pub fn ground<'a>(context: &'a RunContext, suite: &Suite) -> Scope<'a> {
    let mut scope = Scope::new();
    if context.subject == Side::Client {
        for (name, value) in &context.saves {
            scope.bind(name.as_str(), value);
        }
    }
    scope.own("values", values(suite, context));
    scope.own("revision", json!(context.revision));
    scope.own("transport", json!(context.transport));
    scope.bind("facts", &context.facts);
    scope.bind("server", &context.server);
    scope.bind("client", &context.client);
    if let Some(saves) = context.saves.get(SURVEY) {
        scope.bind(SURVEY, saves);
    }
    for (name, value) in context.saves.get(&suite.id).and_then(Value::as_object).into_iter().flatten() {
        scope.bind(name.as_str(), value);
    }
    scope
}

/// The rows of `values` that apply in the revision of the run.
fn values(suite: &Suite, context: &RunContext) -> Value {
    let mut values = Map::new();
    for (name, rows) in &suite.values {
        let holds = |since: Option<_>, until: Option<_>| {
            since.is_none_or(|since| since <= context.revision) && until.is_none_or(|until| context.revision <= until)
        };
        if let Some(row) = rows.iter().find(|row| holds(row.since, row.until)) {
            values.insert(name.clone(), row.is.clone());
        }
    }
    Value::Object(values)
}
