//! The findings for one rule so far, and its final result.

use serde_json::Value;

use super::place::Place;
use conform_model::{
    evidence::{RunContext, Side},
    outcome::{Finding, Held, Level, Observation, RuleResult, Status, Subject, Unexercised},
};
use conform_suite::{
    Path, Rule, SURVEY, Scope, Suite,
    plan::{Plan, PlannedRule, without},
};

/// Findings shown per rule; more are only counted.
pub const FINDINGS_KEPT: usize = 20;
/// Findings kept of a rule about a host, until the tools that it loses are counted.
const OF_PROFILE_KEPT: usize = 2_000;
/// Locations kept per rule, so that findings that follow from its own can be folded under it.
const PLACES_KEPT: usize = 10_000;
/// Maximum number of items kept for which a rule passed.
const HELD_KEPT: usize = 50;
/// Maximum number of observations shown for a `may` rule.
const OBSERVED_KEPT: usize = 8;

pub struct Tally<'a> {
    pub suite: &'a Suite,
    pub rule: &'a Rule,
    /// The values of the names in its suite.
    pub ground: &'a Scope<'a>,
    pub left_out: Option<String>,
    /// Why the rule has nothing to judge, whatever was gathered.
    pub lacking: Option<Unexercised>,
    /// Items that `every` selected, whether or not `where` matched.
    pub seen: usize,
    pub checked: usize,
    /// Some of the items for which the rule passed.
    pub held: Vec<Held>,
    pub found: Vec<Found>,
    /// The number of findings beyond those that are kept.
    pub further: usize,
    /// The location of each finding, including those that are only counted.
    pub places: Vec<(Place, Place)>,
    pub observed: Vec<Observation>,
    /// A name or path without a value in this run, if that kept the rule from being judged.
    pub missing: Option<Unexercised>,
    pub broken: Option<String>,
    /// Why a response that the rule needs was not read.
    pub unread: Option<String>,
    /// Rules whose findings were folded under this one.
    pub also: Vec<String>,
    /// The rule under which all findings of this one were folded.
    pub folded_under: Option<String>,
}

pub struct Found {
    pub finding: Finding,
    /// The judged item, and the value in it with the violation.
    pub item: Place,
    pub at: Place,
    /// Whether it is only about how the request ended: with a result in place of an error, or without a response.
    pub is_of_end: bool,
    /// For a line that is not a message: its text without numbers. Messages that quote such lines differ only in those.
    pub line: Option<String>,
}

impl Found {
    /// Whether this finding shows everything that the other one does.
    fn shows(&self, other: &Self) -> bool {
        let (shown, other_shown) = (&self.finding, &other.finding);
        let says_the_same = shown.message == other_shown.message || self.line.is_some() && self.line == other.line;
        says_the_same
            && shown.subject == other_shown.subject
            && shown.expected == other_shown.expected
            && shown.received == other_shown.received
    }
}

impl<'a> Tally<'a> {
    /// One for each rule, in plan order.
    pub fn all(plan: &Plan<'a>, grounds: &'a [Scope<'a>]) -> Vec<Self> {
        let suites = plan.suites.iter().zip(grounds);
        let tallies = suites
            .flat_map(|(planned, ground)| planned.rules.iter().map(move |rule| Self::new(planned.suite, rule, ground)));
        tallies.collect()
    }

    /// Whether the rule applies, and has the facts that it needs.
    pub const fn is_judged(&self) -> bool {
        self.left_out.is_none() && self.lacking.is_none()
    }

    fn new(suite: &'a Suite, planned: &PlannedRule<'a>, ground: &'a Scope<'a>) -> Self {
        Self {
            suite,
            rule: planned.rule,
            ground,
            left_out: planned.left_out.clone(),
            lacking: planned.lacking.clone(),
            seen: 0,
            checked: 0,
            held: Vec::new(),
            found: Vec::new(),
            further: 0,
            places: Vec::new(),
            observed: Vec::new(),
            missing: None,
            broken: None,
            unread: None,
            also: Vec::new(),
            folded_under: None,
        }
    }

    /// Adds a finding, or counts it with an equal one at another location.
    pub fn find(&mut self, found: Found) {
        if self.places.len() < PLACES_KEPT {
            self.places.push((found.item.clone(), found.at.clone()));
        }
        let same_place = |known: &Found| known.at == found.at && known.finding.message == found.finding.message;
        if self.found.iter().any(|known| same_place(known) && known.finding.subject == found.finding.subject) {
            return;
        }
        if let Some(known) = self.found.iter_mut().find(|known| known.shows(&found)) {
            known.finding.alike += 1;
        } else if self.found.len() < if self.suite.profile.is_some() { OF_PROFILE_KEPT } else { FINDINGS_KEPT } {
            self.found.push(found);
        } else {
            self.further += 1;
        }
    }

    /// Records that the rule passed, up to a limit. `held` is called only if it is recorded.
    pub fn hold(&mut self, held: impl FnOnce() -> Held) {
        if self.held.len() < HELD_KEPT {
            self.held.push(held());
        }
    }

    pub fn observe(&mut self, path: &Path, value: &Value) {
        let is_known = |seen: &Observation| seen.what == path.text && seen.value == *value;
        if self.observed.len() < OBSERVED_KEPT && !self.observed.iter().any(is_known) {
            self.observed.push(Observation { what: path.text.clone(), value: value.clone() });
        }
    }

    pub fn finish(mut self, context: &RunContext) -> RuleResult {
        // Empty lines around a banner say less than the banner, and no response less than a wrong one.
        let is_empty = |line: &String| line.trim().is_empty();
        self.found.sort_by_key(|found| (found.line.as_ref().is_some_and(is_empty), found.is_of_end));
        let findings: Vec<&Finding> = self.found.iter().map(|found| &found.finding).collect();
        if let Some(text) = self.rule.if_all.as_ref().filter(|_| all_alike(&findings, self.checked, self.further)) {
            for found in &mut self.found {
                found.finding.message += &format!("; all {} fail with the same error, {text}", self.checked);
            }
        }
        let incident = context.incidents.get(&self.suite.id);
        let (status, reason) = if let Some(reason) = self.left_out {
            (Status::NotApplicable, Some(reason))
        } else if self.lacking.is_some() {
            (Status::NotExercised, None)
        } else if !self.found.is_empty() {
            (self.rule.level.of_failure(), None)
        } else if let Some(reason) = self.broken.or(self.unread) {
            (Status::Broken, Some(reason))
        } else if self.folded_under.is_some() {
            (Status::NotExercised, None)
        } else if self.checked > 0 && self.rule.level == Level::May {
            (Status::Observed, None)
        } else if self.checked > 0 {
            (Status::Pass, None)
        } else if let Some(incident) = incident {
            (Status::Broken, Some(incident.clone()))
        } else {
            (Status::NotExercised, None)
        };
        let unexercised = (status == Status::NotExercised).then(|| {
            let folded = |cause| Unexercised::in_this_run(format!("not judged where {cause} failed"));
            let not_run = || context.not_run.get(&self.suite.id).map(Unexercised::in_this_run);
            let of_this_kind = || match self.suite.subject {
                Side::Server | Side::AuthorizationServer => self.missing.unwrap_or_else(|| match self.seen {
                    0 => unseen(self.rule, context),
                    _ => Unexercised::nothing_to_test("no response met the rule's precondition"),
                }),
                // In a recorded conversation, this program did not start the client.
                Side::Client if context.saves.contains_key("runs") || context.scenario.is_none() => {
                    Unexercised::nothing_to_test("the client did nothing that the rule is about")
                }
                Side::Client => Unexercised::in_this_run("the client was not started in this world"),
                Side::Gateway => Unexercised::nothing_to_test("no message of this kind passed the gateway"),
            };
            self.lacking.or_else(|| self.folded_under.map(folded)).or_else(not_run).unwrap_or_else(of_this_kind)
        });
        let (needs, reason) = match unexercised {
            Some(Unexercised { needs, text }) => (Some(needs), Some(text)),
            None => (None, reason),
        };
        RuleResult {
            id: self.rule.id.clone(),
            suite: self.suite.id.clone(),
            subject: match self.suite.subject {
                Side::Server => Subject::Server,
                Side::Client => Subject::Client,
                Side::Gateway => Subject::Gateway,
                Side::AuthorizationServer => Subject::AuthorizationServer,
            },
            revision: context.revision,
            level: self.rule.level,
            level_reason: self.rule.level_reason.clone(),
            status,
            statement: self.rule.statement.clone(),
            source: self.rule.source.clone(),
            evidence: self.rule.evidence.clone(),
            derived: self.rule.derived.clone(),
            hint: self.rule.hint.clone(),
            checked: self.checked,
            findings: self.found.into_iter().map(|found| found.finding).collect(),
            further: self.further,
            held: self.held,
            reason,
            needs,
            observed: self.observed,
            also: self.also,
        }
    }
}

/// Whether these are findings for all of at least three items, which differ only in what they name.
fn all_alike(findings: &[&Finding], checked: usize, further: usize) -> bool {
    const FEWEST: usize = 3;
    let kind =
        |finding: &Finding| finding.message.replace(&finding.subject, "").replace(|c: char| c.is_ascii_digit(), "");
    let places: usize = findings.iter().map(|finding| 1 + finding.alike).sum();
    let Some((first, others)) = findings.split_first() else { return false };
    checked >= FEWEST && places + further == checked && others.iter().all(|other| kind(other) == kind(first))
}

/// What the rule judges and the run did not have, in terms of a server.
fn unseen(rule: &Rule, context: &RunContext) -> Unexercised {
    let none_in = |fact: &str| context.facts[fact].as_array().is_none_or(Vec::is_empty);
    let absent = |path: &Path| {
        Some(Unexercised::nothing_to_test(match (path.root.as_str(), path.first_member()) {
            (SURVEY, Some("resources")) => "the server lists no resources",
            (SURVEY, Some("templates")) => "the server lists no resource templates",
            (SURVEY, Some("tools")) => "the server lists no tools",
            (SURVEY, Some("prompts")) => "the server lists no prompts",
            (SURVEY, Some("reads")) => "no resource was read",
            ("facts", Some("calls")) if none_in("calls") => return Some(without("tools", context)),
            ("facts", Some("gets")) if none_in("gets") => return Some(without("prompts", context)),
            ("facts", Some("calls")) => "no call of this kind is known for any tool",
            ("facts", Some("gets")) => "no arguments of this kind are known for any prompt",
            ("asked", _) => "the server sent no request to the client",
            ("streams", _) => "the server opened no event stream",
            ("calls", _) => "no generated call was of this kind",
            ("growth", _) => {
                let why = "too few calls were made to measure it, or there is no process of the server";
                return Some(Unexercised::in_this_run(why));
            }
            ("sequences", _) => "no tools were called that create, read, and update or delete the same thing",
            _ => return None,
        }))
    };
    let mut over = rule.every.iter().flat_map(|every| &every.over);
    over.find_map(absent).unwrap_or_else(|| Unexercised::nothing_to_test("the server sent no message of this kind"))
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::*;

    #[test]
    fn all_fail_alike_if_no_item_passes_and_messages_differ_only_in_its_name() {
        let of = |subject: &str, why: &str| -> Finding {
            let message = format!("received error -32603 ({why}), expected a result");
            from_value(json!({ "subject": subject, "message": message })).expect("a finding")
        };
        let away = |name: &str| of(name, &format!("cannot read {name}: connection refused after 12 ms"));
        let findings =
            [away("a://one"), away("a://two"), of("a://three", "cannot read a://three: connection refused after 9 ms")];
        let [one, two, three] = findings.each_ref();
        assert!(all_alike(&[one, two, three], 3, 0) && all_alike(&[one, two, three], 5, 2));
        assert!(!all_alike(&[one, two, three], 4, 0), "one passes");
        assert!(!all_alike(&[one, two], 2, 0), "two are few");
        assert!(!all_alike(&[one, two, &of("a://three", "no such file")], 3, 0));
    }
}
