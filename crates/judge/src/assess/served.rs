//! What worked of each capability of the server, so that a verdict does not hide a server whose lists never work.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use conform_model::{
    evidence::{
        Evidence, Link, Message, RunContext, Side,
        conversation::{RequestAt, Said},
    },
    outcome::{Listing, Offer, RuleResult, Served, Status},
};
use conform_suite::{Applies, SURVEY, Suite};

const OFFERS: [Offer; 4] = [Offer::Tools, Offer::Resources, Offer::Prompts, Offer::Tasks];
const TASKS_EXTENSION: &str = "extensions.io.modelcontextprotocol/tasks";

/// How the survey ended a list that never worked, unless a limit of ours or the end of the run is the reason.
const FAILED: [&str; 5] = ["error", "timeout", "closed", "malformed", "answered"];

/// What the requests of a run list and use.
pub struct Used<'e> {
    links: &'e [Link],
    /// For each revision in which a server was judged; none if there was no conversation.
    contexts: Vec<(&'e RunContext, HashMap<Offer, Seen>)>,
    open: HashMap<RequestAt, (Offer, Purpose)>,
}

impl<'e> Used<'e> {
    pub fn of(evidence: &'e Evidence) -> Self {
        let failed = evidence.header.end.failed_handshake.as_ref().is_some_and(|failed| !failed.after_another);
        let of_server = evidence.contexts.iter().filter(|context| !failed && context.subject == Side::Server);
        let contexts = of_server.map(|context| (context, HashMap::new())).collect();
        Self { links: &evidence.links, contexts, open: HashMap::new() }
    }

    pub fn take(&mut self, said: &Said) {
        let Self { links, contexts, open } = self;
        let frame = said.frame;
        let revision = links.iter().find(|link| link.link == frame.link).and_then(|link| link.revision);
        let mut contexts: Vec<_> =
            contexts.iter_mut().filter(|(context, _)| Some(context.revision) == revision).collect();
        if contexts.is_empty() {
            return;
        }
        for related in &said.messages {
            let message = &related.message;
            if let Some((offer, purpose)) = purpose(message).filter(|_| frame.from == Side::Client) {
                for (_, seen) in &mut contexts {
                    seen.entry(offer).or_default().requested |= matches!(purpose, Purpose::List);
                }
                open.insert(related.sent, (offer, purpose));
            }
            let request = related.responds_to().and_then(|asked| open.remove(&asked.place));
            let Some((offer, purpose)) = request else { continue };
            let result = message.result();
            for (context, seen) in &mut contexts {
                if result["task"].is_object() || result["resultType"] == "task" {
                    let task = result["task"].get("taskId").or(result.get("taskId"));
                    seen.entry(Offer::Tasks).or_default().used.extend(task.map(Value::to_string));
                }
                let is_surveyed = surveyed(context, offer).is_some();
                seen.entry(offer).or_default().add(offer, &purpose, result, !is_surveyed);
            }
        }
    }

    pub fn served(self, evidence: &Evidence, rules: &[RuleResult], suites: &[Suite]) -> Vec<Served> {
        self.contexts
            .into_iter()
            .flat_map(|(context, seen)| in_context(evidence, context, seen, rules, suites))
            .collect()
    }
}

/// The items that the survey found. Where there are some, the items of other lists are not kept: these may be parts of it,
/// such as the children of a directory, and a walk can have a million of them.
fn surveyed(context: &RunContext, offer: Offer) -> Option<&Vec<Value>> {
    context.saves.get(SURVEY)?[offer.name()]["items"].as_array().filter(|items| !items.is_empty())
}

/// The results for one capability.
#[derive(Default)]
struct Seen {
    requested: bool,
    rejected: bool,
    works: bool,
    listed: HashSet<String>,
    used: HashSet<String>,
}

enum Purpose {
    List,
    Use(String),
}

fn in_context(
    evidence: &Evidence,
    context: &RunContext,
    mut seen: HashMap<Offer, Seen>,
    rules: &[RuleResult],
    suites: &[Suite],
) -> Vec<Served> {
    let survey = |offer: Offer| context.saves.get(SURVEY).map(|survey| &survey[offer.name()]);
    let offers = OFFERS.into_iter().filter(|offer| *offer != Offer::Tasks || has_tasks(context));
    let told = offers.map(|offer| {
        let seen = seen.remove(&offer).unwrap_or_default();
        let declared = match offer {
            Offer::Tasks => context.offers("tasks") || context.offers(TASKS_EXTENSION),
            _ => context.offers(offer.name()),
        };
        let failed =
            survey(offer).and_then(|list| list["end"].as_str()).map_or(seen.rejected, |end| FAILED.contains(&end));
        let list = match () {
            () if seen.works => Listing::Works,
            () if seen.requested && failed && evidence.header.end.interrupted.is_none() => Listing::Fails,
            () => Listing::Unknown,
        };
        let listed = surveyed(context, offer).map_or(seen.listed, |items| names(offer, items).collect());
        // A server may serve what it does not list, and that is not what the line is about.
        let used = seen.used.iter().filter(|name| list != Listing::Works || listed.contains(*name)).count();
        let fails = declared && list == Listing::Fails;
        let untested = if fails { untested(offer, context, rules, suites) } else { 0 };
        Served { offer, revision: context.revision, declared, list, listed: listed.len(), used, untested }
    });
    told.collect()
}

/// Tasks are a part of one revision, and an extension of later ones.
fn has_tasks(context: &RunContext) -> bool {
    context.revision.features().tasks || context.revision.is_modern()
}

/// The rules about this capability that were not exercised, except those that need more facts anyway.
fn untested(offer: Offer, context: &RunContext, rules: &[RuleResult], suites: &[Suite]) -> usize {
    let of_suites = suites.iter().flat_map(|suite| suite.rules.iter().map(move |rule| (suite, rule)));
    let about = of_suites.filter(|(suite, rule)| {
        let both = [&suite.applies, &rule.applies];
        let needs_it =
            |applies: &Applies| applies.server.iter().any(|path| path.split('.').next() == Some(offer.name()));
        let is_about = suite.id.split('.').next() == Some(offer.name()) || both.into_iter().any(needs_it);
        is_about && both.into_iter().all(|applies| applies.facts.is_empty())
    });
    let ids: HashSet<&str> = about.map(|(_, rule)| rule.id.as_str()).collect();
    let is_untested = |rule: &&RuleResult| rule.revision == context.revision && rule.status == Status::NotExercised;
    rules.iter().filter(is_untested).filter(|rule| ids.contains(rule.id.as_str())).count()
}

/// How requests name the items of a list.
fn names(offer: Offer, items: &[Value]) -> impl Iterator<Item = String> {
    let field = if offer == Offer::Resources { "uri" } else { "name" };
    items.iter().filter_map(move |item| item[field].as_str()).map(str::to_owned)
}

/// What a message lists or uses.
fn purpose(message: &Message) -> Option<(Offer, Purpose)> {
    let using = |offer, field: &str| Some((offer, Purpose::Use(message.params()[field].as_str()?.to_owned())));
    match message.method {
        "tools/list" => Some((Offer::Tools, Purpose::List)),
        "resources/list" => Some((Offer::Resources, Purpose::List)),
        "prompts/list" => Some((Offer::Prompts, Purpose::List)),
        "tools/call" => using(Offer::Tools, "name"),
        "resources/read" => using(Offer::Resources, "uri"),
        "prompts/get" => using(Offer::Prompts, "name"),
        _ => None,
    }
}

impl Seen {
    fn add(&mut self, offer: Offer, purpose: &Purpose, result: &Value, keeps_items: bool) {
        match purpose {
            Purpose::List => match result[offer.name()].as_array() {
                Some(items) => {
                    self.works = true;
                    self.listed.extend(names(offer, items).filter(|_| keeps_items));
                }
                None => self.rejected = true,
            },
            // Neither a tool that failed nor one that requests input first has worked.
            Purpose::Use(name) if result.is_object() => {
                if result["isError"] != true && result["resultType"] != "input_required" {
                    self.used.insert(name.clone());
                }
            }
            Purpose::Use(_) => {}
        }
    }
}
