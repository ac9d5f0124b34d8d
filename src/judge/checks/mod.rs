//! Native checks, for conditions that matchers cannot express. Each is one small file and one line in the table.

mod below_one_of;
mod carried_out;
mod changes_told;
mod completion_counts;
mod contents_metadata;
mod default_fits;
mod elicitation_ids;
mod embedded_annotations;
mod field_spelling;
mod foreign_tasks;
mod header_annotations;
mod input_declared;
mod known_children;
mod leaves;
mod list_depth;
mod listed_once;
mod lists_agree;
mod message_form;
mod meta_keys;
mod mime_listed;
mod names_endpoint;
mod names_one_of;
mod no_match;
mod no_redirect;
mod not_newer;
mod offered_output;
mod only_declared;
mod only_members;
mod output_schema;
mod own_response;
mod pages_agree;
mod passed_unchanged;
mod password_file;
mod prefix_filter;
mod read_children;
mod result_shape;
pub mod same_uri;
mod schema_dialect;
mod schema_parts;
mod schema_patterns;
mod schema_references;
mod scope_names;
mod scope_sets;
mod scopes_differ;
mod secret_fields;
mod secure_urls;
mod session_ids;
mod shorter_history;
mod size_matches;
mod structured_text;
mod task_course;
mod task_requests;
mod tells_none;
mod tool_rounds;
mod unguessable;

use std::{borrow::Cow, panic::catch_unwind};

use serde_json::Value;

use crate::{
    revision::Revision,
    suite::{Scope, Template},
};

/// A check that suites use by its name.
pub struct Check {
    pub name: &'static str,
    /// Names that `given` must bind; one that ends in `?` is optional.
    pub given: &'static [&'static str],
    run: fn(&Given) -> Report,
}

/// All checks, by name.
pub const CHECKS: &[Check] = &[
    below_one_of::CHECK,
    carried_out::CHECK,
    changes_told::CHECK,
    completion_counts::CHECK,
    contents_metadata::CHECK,
    default_fits::CHECK,
    elicitation_ids::CHECK,
    embedded_annotations::CHECK,
    field_spelling::CHECK,
    foreign_tasks::CHECK,
    header_annotations::CHECK,
    input_declared::CHECK,
    known_children::CHECK,
    list_depth::CHECK,
    listed_once::CHECK,
    lists_agree::CHECK,
    message_form::CHECK,
    meta_keys::CHECK,
    mime_listed::CHECK,
    names_endpoint::CHECK,
    names_one_of::CHECK,
    no_match::CHECK,
    no_redirect::CHECK,
    not_newer::CHECK,
    offered_output::CHECK,
    only_declared::CHECK,
    only_members::CHECK,
    output_schema::CHECK,
    own_response::CHECK,
    pages_agree::CHECK,
    passed_unchanged::CHECK,
    password_file::CHECK,
    prefix_filter::CHECK,
    read_children::CHECK,
    result_shape::CHECK,
    same_uri::CHECK,
    schema_dialect::CHECK,
    schema_patterns::CHECK,
    schema_references::CHECK,
    scope_names::CHECK,
    scope_sets::CHECK,
    scopes_differ::CHECK,
    secret_fields::CHECK,
    secure_urls::CHECK,
    session_ids::CHECK,
    shorter_history::CHECK,
    size_matches::CHECK,
    structured_text::CHECK,
    task_course::CHECK,
    task_requests::CHECK,
    tells_none::CHECK,
    tool_rounds::CHECK,
    unguessable::CHECK,
    #[cfg(test)]
    Check { name: "panics", given: &[], run: |_| panic!("on purpose") },
];

/// The values that a rule passes to a check.
pub struct Given<'a> {
    values: Vec<(&'a str, Cow<'a, Value>)>,
    pub revision: Revision,
}

#[derive(Debug, Default)]
pub struct Report {
    /// The number of values judged; 0 means that the rule was not exercised.
    pub checked: usize,
    pub faults: Vec<Fault>,
    /// The check itself failed, with this message.
    pub broken: Option<String>,
}

#[derive(Debug, Default)]
pub struct Fault {
    /// The name in `given` whose value `pointer` is in.
    pub given: &'static str,
    pub pointer: String,
    pub message: String,
    pub subject: Option<String>,
    /// Whether the next run has another name for it.
    pub renamed_each_run: bool,
    pub expected: Option<Value>,
    pub received: Option<Value>,
}

impl Report {
    /// The report on one judged value.
    fn of(faults: Vec<Fault>) -> Self {
        Self { checked: 1, faults, broken: None }
    }
}

impl Given<'_> {
    /// An optional value, or null.
    pub fn value(&self, name: &str) -> &Value {
        self.values.iter().find(|(known, _)| *known == name).map_or(&Value::Null, |(_, value)| value.as_ref())
    }

    pub fn list(&self, name: &str) -> &[Value] {
        self.value(name).as_array().map(Vec::as_slice).unwrap_or_default()
    }

    pub fn text(&self, name: &str) -> &str {
        self.value(name).as_str().unwrap_or_default()
    }
}

/// Runs a check by its name. A panic in it affects this rule only.
pub fn run(name: &str, given: &[(String, Template)], scope: &Scope, revision: Revision) -> Report {
    let Some(check) = CHECKS.iter().find(|check| check.name == name) else {
        return Report { broken: Some(format!("unknown check `{name}`")), ..Report::default() };
    };
    let values =
        given.iter().filter_map(|(name, template)| Some((name.as_str(), template.look_up(scope).ok()?))).collect();
    let given = Given { values, revision };
    catch_unwind(std::panic::AssertUnwindSafe(|| (check.run)(&given))).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        let why = format!("the check `{name}` failed inside: {}", said.unwrap_or("no message"));
        Report { broken: Some(why), ..Report::default() }
    })
}

/// The report of a check on these values.
#[cfg(test)]
fn tried<const N: usize>(check: &Check, revision: Revision, given: [(&str, Value); N]) -> Report {
    (check.run)(&Given { values: given.map(|(name, value)| (name, Cow::Owned(value))).into(), revision })
}

/// The texts in a list, including nested lists.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        value => value.as_str().into_iter().collect(),
    }
}

#[cfg(test)]
mod idle_tests;
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_that_panics_breaks_its_rule_alone() {
        let report = run("panics", &[], &Scope::default(), Revision::NEWEST);
        assert_eq!(report.broken.as_deref(), Some("the check `panics` failed inside: on purpose"));
        assert_eq!((report.checked, report.faults.len()), (0, 0));
    }
}
