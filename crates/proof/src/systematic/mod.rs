//! Mutants that are derived, not chosen: each operator at each message, and at each field, that a faultless reference
//! program sends. The ledger says which rule finds which, and why no rule has to find the others.

mod derive;
mod hints;
mod ledger;
mod operators;
mod party;
mod sites;
mod table;

use std::env;

use self::{
    derive::{Mutant, derived},
    hints::Hints,
    ledger::{Class, Entry, Ledger, Reasons},
    party::Party,
    sites::traffic,
    table::Table,
};
use crate::{
    cli::MutantsArgs,
    mutants::{in_threads, processors},
};
use mcp_conform::{
    error::{Error, exit},
    outcome::{RunReport, Status},
    revision::Revision,
    run::{
        inputs::suites::load,
        process::{Surroundings, console},
    },
    suite::Suite,
};

/// The finding about a program that cannot be connected to.
const NO_CONNECTION: &str = "no-connection";

/// A reference program in one revision, and its mutants.
struct Reference<'a> {
    party: Party,
    revision: Revision,
    suites: &'a [Suite],
    mutants: Vec<Mutant>,
    /// The rules with findings about the program without a mutant.
    without: Vec<String>,
}

impl<'a> Reference<'a> {
    fn new(
        party: Party,
        revision: Revision,
        suites: &'a [Suite],
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Self, Error> {
        let (report, evidence) = party.run(revision, None, &[], suites)?;
        let without = findings(&report).into_iter().map(|(_, rule)| rule).collect();
        let mutants = derived(&traffic(&evidence, party.judged()), party.from(), wanted);
        Ok(Self { party, revision, suites, mutants, without })
    }

    /// The gravest finding that the mutant causes, with these rules alone, or with all if there are none.
    fn finder(&self, mutant: &Mutant, rules: &[String]) -> Option<String> {
        let found = match self.party.run(self.revision, Some(&mutant.fault), rules, self.suites) {
            Ok((report, _)) => findings(&report),
            Err(_) => vec![(Status::Fail, NO_CONNECTION.to_owned())],
        };
        let fresh = |rule: &String| !self.without.contains(rule) && (rules.is_empty() || rules.contains(rule));
        let (status, rule) = found.into_iter().find(|(_, rule)| fresh(rule))?;
        if status == Status::Broken {
            console::say(&format!("broken: {} {}: {rule}", self.revision, mutant.name()));
        }
        Some(rule)
    }

    /// The rule that the ledger names if it still finds the mutant; else a rule that found a similar one; else any.
    fn search(&self, mutant: &Mutant, known: Option<&Entry>, hints: &Hints) -> Option<String> {
        let alone = |rules: &[String]| if rules.is_empty() { None } else { self.finder(mutant, rules) };
        let own = known.and_then(Clone::clone).filter(|rule| rule != NO_CONNECTION);
        let quick = own.and_then(|rule| alone(&[rule])).or_else(|| alone(&hints.of(mutant)));
        let rule = quick.or_else(|| self.finder(mutant, &[]));
        rule.iter()
            .filter(|rule| *rule != NO_CONNECTION)
            .for_each(|rule| hints.add(&mutant.place, mutant.operator, rule));
        rule
    }

    /// Whether the rule that the ledger names finds the mutant, alone or with what the others send. One that no rule found is
    /// not run again.
    fn holds(&self, mutant: &Mutant, entry: &Entry) -> bool {
        let Some(rule) = entry else { return true };
        let alone = rule != NO_CONNECTION && self.finder(mutant, std::slice::from_ref(rule)).is_some();
        alone || self.finder(mutant, &[]).is_some()
    }
}

/// The rules with findings, the gravest first.
fn findings(report: &RunReport) -> Vec<(Status, String)> {
    let order = [Status::Fail, Status::Warn, Status::Advice, Status::Broken];
    let rank = |status| order.iter().position(|one| *one == status);
    let mut found: Vec<_> =
        report.rules.iter().filter_map(|rule| Some((rank(rule.status)?, rule.id.clone()))).collect();
    found.sort();
    found.into_iter().map(|(rank, id)| (order[rank], id)).collect()
}

/// What happens to the ledger.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Work {
    /// Nothing: it is shown.
    Show,
    /// It is proved.
    Prove,
    /// All mutants are searched for again.
    Search,
    /// Only those that it lacks.
    SearchNew,
}

impl Work {
    fn of(args: &MutantsArgs) -> Self {
        match env::var_os("MCP_CONFORM_BLESS") {
            _ if args.list => Self::Show,
            None => Self::Prove,
            Some(how) if how == "new" => Self::SearchNew,
            Some(_) => Self::Search,
        }
    }

    const fn writes(self) -> bool {
        matches!(self, Self::Search | Self::SearchNew)
    }

    /// The entry of a mutant; `None` if it is not as in the ledger.
    fn entry(self, reference: &Reference, mutant: &Mutant, known: Option<&Entry>, hints: &Hints) -> Option<Entry> {
        match (self, known) {
            (Self::Show, _) => known.cloned(),
            (Self::Prove, Some(entry)) => reference.holds(mutant, entry).then(|| entry.clone()),
            (Self::Prove, None) => None,
            (Self::SearchNew, Some(entry)) => Some(entry.clone()),
            (Self::Search | Self::SearchNew, _) => Some(reference.search(mutant, known, hints)),
        }
    }
}

/// Proves the ledger, or with `MCP_CONFORM_BLESS` writes it: all of it, or with `new` what it lacks.
pub fn systematic(args: &MutantsArgs, surroundings: &Surroundings) -> Result<u8, Error> {
    let (party, work) = (if args.clients { Party::Client } else { Party::Server }, Work::of(args));
    let suites = load(&[party.judged()], &[], surroundings.color)?;
    let mut ledger = Ledger::read(party.name()).map_err(Error::usage)?;
    let reasons = Reasons::read(party.name()).map_err(Error::usage)?;
    let hints = Hints::of_ledger(&ledger);
    let (mut table, mut flaws) = (Table::default(), Vec::new());
    let wanted =
        |revision: &Revision| args.revision.is_empty() || args.revision.iter().any(|name| name == revision.as_str());
    let selected = |name: &str| args.filters.is_empty() || args.filters.iter().any(|filter| name.contains(filter));
    for revision in Revision::ALL.into_iter().rev().filter(wanted) {
        if !work.writes() && !ledger.has(revision) {
            console::say(&format!("{revision}: not in the ledger"));
            continue;
        }
        let mut reference = Reference::new(party, revision, &suites, selected)?;
        args.part.keep(&mut reference.mutants, Mutant::name);
        let entries = in_threads(&reference.mutants, processors(), |mutant| {
            work.entry(&reference, mutant, ledger.entry(mutant, revision), &hints)
        });
        for (mutant, entry) in reference.mutants.iter().zip(entries) {
            let class = reasons.class(mutant, revision, entry.as_ref());
            table.add(mutant, &class);
            let flaw = match class {
                _ if work == Work::Show => {
                    console::say(&mutant.explained(revision, &class));
                    None
                }
                _ if entry.is_none() => Some("not as in the ledger"),
                Class::Unknown => Some("no rule finds it, and no reason covers it"),
                _ => None,
            };
            flaws.extend(flaw.map(|flaw| format!("{revision} {}: {flaw}", mutant.name())));
            if let Some(entry) = entry.filter(|_| work.writes()) {
                ledger.set(mutant, revision, entry);
            }
        }
        if work.writes() {
            ledger.write(party.name()).map_err(Error::usage)?;
        }
    }
    for line in table.lines().chain(flaws.iter().map(|flaw| format!("✗ {flaw}"))) {
        console::say(&line);
    }
    Ok(if flaws.is_empty() { exit::CONFORMING } else { exit::FAILED })
}
