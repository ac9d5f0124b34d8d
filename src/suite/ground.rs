//! The names that are in scope for every step and rule of a suite.

use serde_json::{Map, Value, json};

use super::{Scope, Suite};
use crate::evidence::{RunContext, Side};

/// Id of the suite whose saves are in scope everywhere, as `$survey`.
pub const SURVEY: &str = "survey";

/// The type of a fact that `[facts]` in the configuration can set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Text,
    Arguments,
    Children,
    ChangeOfOne,
    Change,
    ToolCall,
    Versions,
    Asking,
    OutsideRoots,
    Call,
    Flag,
    /// It comes from another part of the configuration.
    Elsewhere,
}

/// What can be known about a server beyond what the server declares.
pub const FACTS: &[(&str, Form)] = &[
    ("missing_uri", Form::Text),
    ("prefix", Form::Text),
    ("outside_file", Form::Text),
    ("second_identity", Form::Text),
    ("arguments", Form::Arguments),
    ("children", Form::Children),
    ("change", Form::ChangeOfOne),
    ("list_change", Form::Change),
    ("slow", Form::ToolCall),
    ("versions", Form::Versions),
    ("tool_list_change", Form::Change),
    ("prompt_list_change", Form::Change),
    ("task", Form::ToolCall),
    ("slow_task", Form::ToolCall),
    ("task_input", Form::ToolCall),
    ("failing_task", Form::ToolCall),
    ("broken_task", Form::ToolCall),
    ("tools", Form::Elsewhere),
    ("prompts", Form::Elsewhere),
    ("asking", Form::Asking),
    ("outside_roots", Form::OutsideRoots),
    ("guarded", Form::Call),
    ("user_owned_call", Form::Call),
    ("registration", Form::Flag),
    ("client_id", Form::Elsewhere),
    ("grant", Form::Elsewhere),
    ("own_token", Form::Elsewhere),
    ("expired_token", Form::Elsewhere),
    ("forged_token", Form::Elsewhere),
    ("foreign_token", Form::Elsewhere),
    ("unbound_token", Form::Elsewhere),
    ("alien_token", Form::Elsewhere),
    ("orphaned_token", Form::Elsewhere),
    ("narrow_token", Form::Elsewhere),
    ("broad_token", Form::Elsewhere),
    ("upper_token", Form::Elsewhere),
    ("second_token", Form::Elsewhere),
];

/// Facts that the program determines itself, or adds to given ones.
pub const FOUND: [&str; 27] = [
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
    "left_alone",
    "malformed_calls",
    "missing_uri",
    "outside",
    "prefixes",
    "second_variables",
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
