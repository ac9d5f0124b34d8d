//! Native checks, for conditions that matchers cannot express. Each is one small file and one line in the table.

mod apps;
mod asking;
mod authorization;
pub mod files;
mod hosts;
mod lists;
mod messages;
pub mod resources;
mod schemas;
mod tasks;

use std::{borrow::Cow, panic::catch_unwind};

use serde_json::Value;

use conform_model::revision::Revision;
use conform_suite::{Scope, Template};

/// A check that suites use by its name.
pub struct Check {
    pub name: &'static str,
    /// Names that `given` must bind; one that ends in `?` is optional.
    pub given: &'static [&'static str],
    run: fn(&Given) -> Report,
}

/// All checks, by name.
pub const CHECKS: &[Check] = &[
    apps::app_document::CHECK,
    apps::app_references::CHECK,
    resources::below_one_of::CHECK,
    messages::carried_out::CHECK,
    lists::changes_told::CHECK,
    schemas::completion_counts::CHECK,
    resources::contents_metadata::CHECK,
    schemas::default_fits::CHECK,
    files::directory_children::CHECK,
    asking::elicitation_ids::CHECK,
    resources::embedded_annotations::CHECK,
    hosts::equal_names::CHECK,
    messages::extension_ids::CHECK,
    schemas::field_spelling::CHECK,
    files::file_bytes::CHECK,
    tasks::foreign_tasks::CHECK,
    files::front_matter::CHECK,
    schemas::header_annotations::CHECK,
    resources::known_children::CHECK,
    hosts::known_names::CHECK,
    resources::list_depth::CHECK,
    lists::listed_once::CHECK,
    lists::lists_agree::CHECK,
    files::manifest_uris::CHECK,
    messages::message_form::CHECK,
    messages::meta_keys::CHECK,
    resources::mime_listed::CHECK,
    hosts::mixed_verbs::CHECK,
    authorization::names_endpoint::CHECK,
    messages::names_one_of::CHECK,
    messages::no_match::CHECK,
    authorization::no_redirect::CHECK,
    authorization::not_framed::CHECK,
    lists::not_newer::CHECK,
    schemas::offered_output::CHECK,
    lists::only_declared::CHECK,
    messages::only_members::CHECK,
    schemas::output_schema::CHECK,
    messages::own_response::CHECK,
    lists::pages_agree::CHECK,
    messages::part_shape::PARAMS,
    messages::passed_unchanged::CHECK,
    resources::password_file::CHECK,
    resources::prefix_filter::CHECK,
    resources::read_children::CHECK,
    messages::part_shape::RESULT,
    files::same_fields::CHECK,
    resources::same_uri::CHECK,
    schemas::schema_dialect::CHECK,
    schemas::schema_patterns::CHECK,
    schemas::schema_references::CHECK,
    authorization::scope_names::CHECK,
    authorization::scope_sets::CHECK,
    resources::scopes_differ::CHECK,
    asking::secret_fields::CHECK,
    authorization::secure_urls::CHECK,
    authorization::session_ids::CHECK,
    asking::shorter_history::CHECK,
    resources::size_matches::CHECK,
    schemas::structured_text::CHECK,
    tasks::task_course::CHECK,
    tasks::task_requests::CHECK,
    hosts::text_length::CHECK,
    hosts::valid_in_draft::CHECK,
    messages::tells_none::CHECK,
    asking::tool_rounds::CHECK,
    files::total::CHECK,
    authorization::unguessable::CHECK,
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
