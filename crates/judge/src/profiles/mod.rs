//! Rules about named hosts: what they see besides, and their results, which the verdict does not depend on.

mod schemas;

use std::slice;

use jiff::{Timestamp, civil::Date, tz::TimeZone};
use serde_json::{Value, json};

use crate::tally::FINDINGS_KEPT;
use conform_model::{
    evidence::RunContext,
    outcome::{AffectedTool, Finding, Level, ProfileReport, RuleResult, Status, Totals},
};
use conform_suite::{
    SURVEY, Scope, Suite,
    plan::{Filter, Plan, PlannedSuite, plan},
};

/// What the rules of profiles see besides what all rules do.
pub struct Seen {
    schemas: Value,
    facts: Value,
}

impl Seen {
    /// `None` if the plan has no profile.
    pub fn of(plan: &Plan, context: &RunContext) -> Option<Self> {
        plan.suites.iter().any(|planned| planned.suite.profile.is_some()).then(|| Self::in_context(context))
    }

    fn in_context(context: &RunContext) -> Self {
        let schemas = context.saves.get(SURVEY).map(|survey| schemas::schemas(&survey["tools"]).0);
        let mut facts = context.facts.clone();
        if !facts.is_object() {
            facts = json!({});
        }
        let given = facts["installed_as"].as_str().map(str::to_owned);
        let stated = context.server["info"]["name"].as_str().map(str::to_owned);
        // A user may install a server under any name; the shortest has one character.
        facts["shortest_installed_as"] = json!(given.as_deref().unwrap_or("x"));
        facts["installed_as"] = json!(given.or(stated).unwrap_or_else(|| "x".to_owned()));
        Self { schemas: schemas.unwrap_or_else(|| json!([])), facts }
    }

    /// Binds the names in the scope of a profile.
    pub fn bind<'a>(&'a self, scope: &mut Scope<'a>) {
        scope.bind("schemas", &self.schemas);
        scope.bind("facts", &self.facts);
    }
}

/// The profiles that are judged on the evidence of a run.
#[derive(Clone, Copy)]
pub struct Profiles<'a> {
    suites: &'a [Suite],
    /// `None` without suites.
    filter: Option<&'a Filter>,
}

impl<'a> Profiles<'a> {
    pub const NONE: Self = Self { suites: &[], filter: None };

    pub const fn new(suites: &'a [Suite], filter: &'a Filter) -> Self {
        Self { suites, filter: Some(filter) }
    }

    /// The selected rules of each.
    pub fn planned(self, context: &RunContext) -> impl Iterator<Item = PlannedSuite<'a>> {
        let one = move |suite| self.filter.map(|filter| plan(slice::from_ref(suite), context, filter).suites);
        self.suites.iter().filter_map(one).flatten()
    }

    /// The report of one, unless it has no rules to show.
    pub fn report(
        self,
        suite: &Suite,
        mut rules: Vec<RuleResult>,
        context: &RunContext,
        started: u64,
    ) -> Option<ProfileReport> {
        let profile = suite.profile.as_ref()?;
        rules.retain(|rule| self.filter.is_some_and(|filter| filter.shows(&rule.id)));
        if rules.is_empty() {
            return None;
        }
        let tools = &context.saves.get(SURVEY)?["tools"];
        let affected = rules.iter().flat_map(|rule| of_rule(rule, tools)).collect();
        for rule in &mut rules {
            rule.further += rule.findings.len().saturating_sub(FINDINGS_KEPT);
            rule.findings.truncate(FINDINGS_KEPT);
        }
        let mut report = ProfileReport {
            profile: profile.name.clone(),
            as_of: profile.as_of.clone(),
            host: profile.host.clone(),
            extends: profile.extends.clone(),
            age_days: age(&profile.as_of, started).unwrap_or_default(),
            totals: Totals::default(),
            tools: tools["items"].as_array().map_or(0, Vec::len),
            affected,
            rules,
        };
        total(&mut report);
        Some(report)
    }
}

/// How many days before the run the host was looked at.
fn age(as_of: &str, started: u64) -> Option<usize> {
    let tested = Timestamp::from_second(started.try_into().ok()?).ok()?.to_zoned(TimeZone::UTC).date();
    usize::try_from((tested - as_of.parse::<Date>().ok()?).get_days()).ok()
}

/// Counts the results again.
pub fn total(report: &mut ProfileReport) {
    let mut totals = Totals { rules: report.rules.len(), ..Totals::default() };
    for rule in &report.rules {
        *totals.by_status.entry(rule.status).or_insert(0) += 1;
    }
    totals.by_status.sort_keys();
    report.totals = totals;
}

/// The tools that the rule is about, each once.
fn of_rule(rule: &RuleResult, tools: &Value) -> Vec<AffectedTool> {
    let Some(evidence) = rule.evidence.as_ref().filter(|_| matches!(rule.status, Status::Fail | Status::Warn)) else {
        return Vec::new();
    };
    let mut affected: Vec<AffectedTool> = Vec::new();
    for finding in &rule.findings {
        let one = AffectedTool {
            tool: tool_of(finding, tools),
            rule: rule.id.clone(),
            lost: evidence.lost,
            fails: rule.level == Level::Fail,
        };
        if !affected.contains(&one) {
            affected.push(one);
        }
    }
    affected
}

/// The listed tool in which the finding is; empty if it is about the whole list or something else.
fn tool_of(finding: &Finding, tools: &Value) -> String {
    let pointer = finding.pointer.as_deref().unwrap_or_default();
    let frame = finding.frames.last().copied();
    let holds = |origin: &Value| {
        let at = origin["pointer"].as_str().unwrap_or_default();
        let inside = pointer.strip_prefix(at).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        inside && !at.is_empty() && origin["frame"].as_u64() == frame
    };
    let origins = tools["origins"].as_array().map(Vec::as_slice).unwrap_or_default();
    let index = origins.iter().position(holds);
    index.and_then(|index| tools["items"][index]["name"].as_str()).unwrap_or_default().to_owned()
}
