//! What worked of each capability of the server, so that a verdict does not hide a server whose lists never work.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::{
    evidence::{Evidence, FrameKind, RunContext, Side},
    outcome::{Listing, Offer, RuleResult, Served, Status},
    suite::{Applies, SURVEY, Suite},
};

const OFFERS: [Offer; 4] = [Offer::Tools, Offer::Resources, Offer::Prompts, Offer::Tasks];
const TASKS_EXTENSION: &str = "extensions.io.modelcontextprotocol/tasks";

/// How the survey ended a list that never worked, unless a limit of ours or the end of the run is the reason.
const FAILED: [&str; 5] = ["error", "timeout", "closed", "malformed", "answered"];

/// For each revision in which a server was judged; nothing if there was no conversation.
pub fn served(evidence: &Evidence, rules: &[RuleResult], suites: &[Suite]) -> Vec<Served> {
    if evidence.header.end.failed_handshake.as_ref().is_some_and(|failed| !failed.after_another) {
        return Vec::new();
    }
    let of_server = evidence.contexts.iter().filter(|context| context.subject == Side::Server);
    of_server.flat_map(|context| in_context(evidence, context, rules, suites)).collect()
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

fn in_context(evidence: &Evidence, context: &RunContext, rules: &[RuleResult], suites: &[Suite]) -> Vec<Served> {
    let survey = |offer: Offer| context.saves.get(SURVEY).map(|survey| &survey[offer.name()]);
    let items = |offer| survey(offer).and_then(|list| list["items"].as_array()).filter(|items| !items.is_empty());
    let mut seen = results(evidence, context, |offer| items(offer).is_some());
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
        let listed = items(offer).map_or(seen.listed, |items| names(offer, items).collect());
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

/// Matches responses to the requests that list or use something. Where the survey has the list, the items of other lists
/// are not kept: these may be parts of it, such as the children of a directory, and a walk can have a million of them.
fn results(evidence: &Evidence, context: &RunContext, is_surveyed: impl Fn(Offer) -> bool) -> HashMap<Offer, Seen> {
    let mut seen: HashMap<Offer, Seen> = HashMap::new();
    let mut open: HashMap<(u32, String), (Offer, Purpose)> = HashMap::new();
    for frame in evidence.frames_in(context.revision, context.scenario.as_deref()) {
        let Some(message) = frame.message.as_ref().filter(|_| frame.kind == FrameKind::Message) else { continue };
        let batch = message.as_array().map_or_else(|| std::slice::from_ref(message), Vec::as_slice);
        for message in batch {
            let key = (frame.link, message["id"].to_string());
            match frame.from {
                Side::Client => {
                    if let Some((offer, purpose)) = purpose(message) {
                        seen.entry(offer).or_default().requested |= matches!(purpose, Purpose::List);
                        open.insert(key, (offer, purpose));
                    }
                }
                Side::Server if message["method"].is_null() => {
                    if let Some((offer, purpose)) = open.remove(&key) {
                        if message["result"]["task"].is_object() || message["result"]["resultType"] == "task" {
                            let task = message["result"]["task"].get("taskId").or(message["result"].get("taskId"));
                            seen.entry(Offer::Tasks).or_default().used.extend(task.map(Value::to_string));
                        }
                        seen.entry(offer).or_default().add(offer, purpose, message, !is_surveyed(offer));
                    }
                }
                Side::Server | Side::Gateway => {}
            }
        }
    }
    seen
}

/// How requests name the items of a list.
fn names(offer: Offer, items: &[Value]) -> impl Iterator<Item = String> {
    let field = if offer == Offer::Resources { "uri" } else { "name" };
    items.iter().filter_map(move |item| item[field].as_str()).map(str::to_owned)
}

/// What a message lists or uses.
fn purpose(message: &Value) -> Option<(Offer, Purpose)> {
    let using = |offer, field: &str| Some((offer, Purpose::Use(message["params"][field].as_str()?.to_owned())));
    match message["method"].as_str()? {
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
    fn add(&mut self, offer: Offer, purpose: Purpose, response: &Value, keeps_items: bool) {
        let result = &response["result"];
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
                    self.used.insert(name);
                }
            }
            Purpose::Use(_) => {}
        }
    }
}
