//! Decides what runs, and why the rest does not: by revision, transport, capabilities, proposals and filter.

mod extensions;
mod partition;

use std::collections::HashSet;

pub use self::extensions::{Extensions, seen};
use self::partition::Share;
use crate::{Applies, Rule, SURVEY, Suite, fits};
use conform_model::{
    error::Error,
    evidence::{ListEnd, RunContext, Transport},
    outcome::{Level, Unexercised},
    partition::Partition,
    revision::Revision,
};

/// The proposals to judge: the named ones in any case and, with `auto`, those that the server supports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposals {
    pub auto: bool,
    pub named: Vec<String>,
}

impl Proposals {
    /// The detected proposals, and these names.
    pub fn also(named: Vec<String>) -> Self {
        Self { auto: true, named }
    }

    /// Parses the option: `auto`, `none`, or names of known proposals.
    pub fn new(terms: &[String], suites: &[Suite]) -> Result<Self, Error> {
        let known = proposals(suites, &Filter::default());
        let mut read = Self { auto: terms.is_empty(), named: Vec::new() };
        for term in terms {
            match term.as_str() {
                "auto" => read.auto = true,
                "none" if terms.len() == 1 => {}
                "none" => return Err(Error::usage("--proposal none cannot be combined with others")),
                name if known.contains(&name) => read.named.push(name.to_owned()),
                name => {
                    let known = known.join(", ");
                    return Err(Error::usage(format!("unknown proposal `{name}`; known: {known}, auto and none")));
                }
            }
        }
        Ok(read)
    }
}

/// The proposals of the rules that the filter selects, without duplicates.
pub fn proposals<'a>(suites: &'a [Suite], filter: &Filter) -> Vec<&'a str> {
    let mut found = Vec::new();
    for suite in suites {
        for rule in suite.rules.iter().filter(|rule| filter.selects(suite, rule)) {
            let of = rule.applies.proposal.as_deref().or(suite.applies.proposal.as_deref());
            found.extend(of.filter(|name| !found.contains(name)));
        }
    }
    found
}

/// The proposals that affect the selected rules: those that they are about, and those whose rules replace some of them.
pub fn deciding<'a>(suites: &'a [Suite], filter: &Filter) -> Vec<&'a str> {
    let selected = |pattern: &String| {
        let mut rules = suites.iter().flat_map(|suite| suite.rules.iter().map(move |rule| (suite, rule)));
        rules.any(|(suite, rule)| filter.selects(suite, rule) && fits(pattern, &rule.id))
    };
    let mut found = proposals(suites, filter);
    for suite in suites.iter().filter(|suite| suite.replaces.iter().any(selected)) {
        found.extend(suite.applies.proposal.as_deref().filter(|name| !found.contains(name)));
    }
    found
}

/// The suites of a run in order, with the decision on every rule.
pub struct Plan<'a> {
    pub suites: Vec<PlannedSuite<'a>>,
}

pub struct PlannedSuite<'a> {
    pub suite: &'a Suite,
    pub rules: Vec<PlannedRule<'a>>,
}

pub struct PlannedRule<'a> {
    pub rule: &'a Rule,
    /// Why it is not judged, if so.
    pub left_out: Option<String>,
    /// Why it has nothing to judge, whatever is gathered.
    pub lacking: Option<Unexercised>,
}

impl PlannedSuite<'_> {
    /// Whether any rule is judged, so that gathering is needed.
    pub fn runs(&self) -> bool {
        self.rules.iter().any(|planned| planned.left_out.is_none() && planned.lacking.is_none())
    }
}

const LEVELS: [Level; 4] = [Level::Must, Level::Should, Level::Advice, Level::May];

/// The rules that the user selected. Empty: all.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    terms: Vec<Term>,
    excluded: Vec<Term>,
    /// Rules that are only selected so that the requests of their suites are sent.
    hidden: HashSet<String>,
    /// One of several parts of the selected rules.
    share: Option<Share>,
}

#[derive(Clone, Debug)]
enum Term {
    Level(Level),
    /// A suite or rule id; `*` matches any text, and a suite's id also matches its dotted children.
    Name(String),
}

impl Filter {
    /// Parses the terms, and rejects one that selects nothing. `!` before a term excludes what it selects, and the report
    /// does not show what only a term with `+` selects.
    pub fn new(terms: &[String], suites: &[Suite]) -> Result<Self, Error> {
        Self::of(terms, &suites.iter().collect::<Vec<_>>())
    }

    /// The same for suites that are not in one list.
    pub fn of(terms: &[String], suites: &[&Suite]) -> Result<Self, Error> {
        let (mut selected, mut excluded, mut beside) = (Vec::new(), Vec::new(), Vec::new());
        for text in terms {
            let (list, text) = match text.split_at_checked(1) {
                Some(("!", text)) => (&mut excluded, text),
                Some(("+", text)) => (&mut beside, text),
                _ => (&mut selected, text.as_str()),
            };
            // Reports write some levels in capitals.
            let level = LEVELS.into_iter().find(|level| text.eq_ignore_ascii_case(level.word()));
            list.push(level.map_or_else(|| Term::Name(text.to_owned()), Term::Level));
        }
        for term in selected.iter().chain(&excluded).chain(&beside) {
            let selects = suites.iter().any(|suite| suite.rules.iter().any(|rule| term.selects(suite, rule)));
            if let (Term::Name(name), false) = (term, selects) {
                let known = suites.iter().flat_map(|suite| {
                    std::iter::once(suite.id.as_str()).chain(suite.rules.iter().map(|rule| rule.id.as_str()))
                });
                let meant = nearest(name, known).map(|near| format!("did you mean {near}? ")).unwrap_or_default();
                return Err(Error::Usage {
                    message: format!("the filter `{name}` matches no suite, rule or level"),
                    help: Some(format!("{meant}`mcp-conform list rules` lists all")),
                });
            }
        }
        let of_terms = Self { terms: selected, excluded, ..Self::default() };
        if beside.is_empty() || of_terms.terms.is_empty() {
            return Ok(of_terms);
        }
        let rules = || suites.iter().flat_map(|suite| suite.rules.iter().map(move |rule| (suite, rule)));
        let only_beside = rules().filter(|(suite, rule)| {
            beside.iter().any(|term| term.selects(suite, rule)) && !of_terms.selects(suite, rule)
        });
        Ok(Self { hidden: only_beside.map(|(_, rule)| rule.id.clone()).collect(), ..of_terms })
    }

    /// Restricts the filter to one part of a run.
    #[must_use]
    pub fn part(self, part: Partition, suites: &[Suite]) -> Self {
        let share = Share::of(part, &self, suites);
        Self { share: Some(share), ..self }
    }

    /// Whether some rules are not selected.
    pub fn is_restricted(&self) -> bool {
        !self.terms.is_empty() || !self.excluded.is_empty()
    }

    /// Whether the report shows this rule. Others are judged only because it depends on them.
    pub fn shows(&self, rule: &str) -> bool {
        !self.hidden.contains(rule) && self.share.as_ref().is_none_or(|share| share.rules.contains(rule))
    }

    pub fn selects(&self, suite: &Suite, rule: &Rule) -> bool {
        if self.share.as_ref().is_some_and(|share| !share.suites.contains(&suite.id)) {
            return false;
        }
        if self.excluded.iter().any(|term| term.selects(suite, rule)) {
            return false;
        }
        if self.hidden.contains(&rule.id) {
            return true;
        }
        let (levels, names): (Vec<_>, Vec<_>) = self.terms.iter().partition(|term| matches!(term, Term::Level(_)));
        [levels, names].iter().all(|terms| terms.is_empty() || terms.iter().any(|term| term.selects(suite, rule)))
    }
}

impl Term {
    fn selects(&self, suite: &Suite, rule: &Rule) -> bool {
        match self {
            Self::Level(level) => rule.level == *level,
            Self::Name(name) => {
                fits(name, &rule.id)
                    || fits(name, &suite.id)
                    || suite.id.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('.'))
            }
        }
    }
}

/// The most similar name, if any is similar enough.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    const NEAR: f64 = 0.8;
    let rated = known.map(|known| (known, strsim::jaro_winkler(known, name))).filter(|(_, nearness)| *nearness > NEAR);
    rated.max_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(known, _)| known)
}

/// Decides what runs. Suites without a selected rule are omitted entirely.
pub fn plan<'a>(suites: &'a [Suite], context: &RunContext, filter: &Filter) -> Plan<'a> {
    let suites: Vec<&Suite> = suites_of(suites, context).collect();
    let counting: Vec<&Suite> =
        suites.iter().copied().filter(|suite| left_out(&suite.applies, context).is_none()).collect();
    let replaced = |rule: &Rule| {
        let by = counting.iter().find(|suite| suite.replaces.iter().any(|pattern| fits(pattern, &rule.id)))?;
        let name = by.applies.proposal.as_deref().or(by.applies.extension.as_deref());
        Some(format!("{} says otherwise", name.unwrap_or(&by.id)))
    };
    let suites = suites
        .into_iter()
        .filter_map(|suite| {
            let of_suite = left_out(&suite.applies, context);
            let rules: Vec<_> = suite
                .rules
                .iter()
                .filter(|rule| filter.selects(suite, rule))
                .map(|rule| PlannedRule {
                    rule,
                    left_out: of_suite.clone().or_else(|| left_out(&rule.applies, context)).or_else(|| replaced(rule)),
                    lacking: lacking(&suite.applies, context)
                        .or_else(|| lacking(&rule.applies, context))
                        .or_else(|| undeclared(suite, rule, context)),
                })
                .collect();
            (!rules.is_empty()).then_some(PlannedSuite { suite, rules })
        })
        .collect();
    Plan { suites }
}

/// The suites for the context's subject. If that is a client, only those with the scenario of the suite that the context is
/// named after.
fn suites_of<'a>(suites: &'a [Suite], context: &RunContext) -> impl Iterator<Item = &'a Suite> {
    let named = context.scenario.as_ref().and_then(|id| suites.iter().find(|suite| suite.id == *id));
    let scenario = named.and_then(|suite| suite.scenario.as_ref());
    let subject = context.subject;
    suites.iter().filter(move |suite| {
        suite.subject == subject
            && suite.scenario.as_ref() == scenario
            && suite.generated == context.generated.is_some()
    })
}

/// Why something does not apply here, as text for the report.
pub fn left_out(applies: &Applies, context: &RunContext) -> Option<String> {
    window(applies, context.revision)
        .or_else(|| transport(applies, context.transport))
        .or_else(|| {
            let proposal = applies.proposal.as_ref()?;
            (!context.proposals.contains(proposal))
                .then(|| format!("tested only if the server shows signs of {proposal}, or with --proposal {proposal}"))
        })
        .or_else(|| {
            let extension = applies.extension.as_ref()?;
            (!context.extensions.contains(extension)).then(|| {
                let name = extensions::short(extension);
                format!("tested only if the server declares {extension}, or with --extension {name}")
            })
        })
        .or_else(|| {
            (applies.protected && !context.protected).then(|| "the server does not require authorization".to_owned())
        })
        .or_else(|| {
            applies.server.iter().find_map(|capability| match capability.strip_prefix('!') {
                Some(absent) => context.offers(absent).then(|| format!("the server declares {absent}")),
                None => (!context.offers(capability)).then(|| format!("the server does not declare {capability}")),
            })
        })
}

/// The fact about the server that is needed and missing.
pub fn lacking(applies: &Applies, context: &RunContext) -> Option<Unexercised> {
    let fact = applies.facts.iter().find(|fact| context.facts.get(fact.as_str()).is_none())?;
    Some(without(fact, context))
}

/// What a rule needs that this fact would exercise.
pub fn without(fact: &str, context: &RunContext) -> Unexercised {
    if let Some(nothing) = of_no_use(fact, context) {
        return Unexercised::nothing_to_test(nothing);
    }
    Unexercised::without(match fact {
        "oauth_client" => return Unexercised::without_option("--register, or --client-id with --redirect-uri"),
        "register" | "other_client" => return Unexercised::without_option("--register"),
        "login" => {
            return Unexercised::without_option("--login, or `login` of the authorization server in mcp-conform.toml");
        }
        "tools" | "prompts" => format!("[{fact}.NAME]"),
        "own_token" => "a bearer token".to_owned(),
        "client_id" => "`client_id` under auth of the target".to_owned(),
        "grant" => "`client_id` and `client_secret` under auth of the target".to_owned(),
        fact => match fact.strip_suffix("_token") {
            Some(token) => format!("the token `{token}` under auth.others of the target"),
            None => format!("facts.{fact}"),
        },
    })
}

/// Why this fact cannot be given: the server lists nothing that it can be about.
fn of_no_use(fact: &str, context: &RunContext) -> Option<&'static str> {
    let survey = context.saves.get(SURVEY)?;
    let lists_no = |what: &str| {
        let listed = &survey[what];
        ListEnd::is_complete(listed) && listed["items"].as_array().is_some_and(Vec::is_empty)
    };
    match fact {
        "change" | "children" if lists_no("resources") && lists_no("templates") => {
            Some("the server lists no resources")
        }
        "arguments" if lists_no("templates") => Some("the server lists no resource templates"),
        "prompts" if lists_no("prompts") => Some("the server lists no prompts"),
        "tools" | "slow" | "asking" | "outside_roots" | "task" | "slow_task" | "task_input" if lists_no("tools") => {
            Some("the server lists no tools")
        }
        _ => None,
    }
}

/// Where no response has an object of capabilities, nothing follows from one that is not among them.
fn undeclared(suite: &Suite, rule: &Rule, context: &RunContext) -> Option<Unexercised> {
    let unknown = context.server.get("hello").is_some() && !context.server["capabilities"].is_object();
    let looks = rule.looks_at_capabilities() || suite.applies.lacks_some();
    let why = "the server's capabilities are not known: no response declares them";
    (unknown && looks).then(|| Unexercised::in_this_run(why))
}

fn window(applies: &Applies, revision: Revision) -> Option<String> {
    let (since, until) = (applies.since, applies.until);
    if let Some(since) = since.filter(|since| revision < *since) {
        return Some(format!("since {since} only"));
    }
    until.filter(|until| revision > *until).map(|until| format!("until {until} only"))
}

fn transport(applies: &Applies, transport: Transport) -> Option<String> {
    let wanted = &applies.transport;
    (!wanted.is_empty() && !wanted.contains(&transport)).then(|| {
        let names: Vec<_> = wanted.iter().map(|transport| transport.as_str()).collect();
        format!("over {} only", names.join(" or "))
    })
}
