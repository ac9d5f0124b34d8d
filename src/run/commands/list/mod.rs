//! `mcp-conform list`: lists rules, suites, faults and variations.

mod by_page;
mod coverage;
mod rule_pages;

use std::mem::ManuallyDrop;

use serde_json::json;

use self::coverage::{coverage, traceability};
use crate::{
    cli::{ListArgs, Listed},
    error::{Error, exit},
    evidence::Side,
    evidence::Transport,
    reference,
    run::{
        inputs::{configured, profiles, suites::load},
        process::{Surroundings, console},
    },
    suite::{Applies, Suite, fits, profiles},
};

pub fn list(args: &ListArgs, surroundings: &Surroundings) -> Result<u8, Error> {
    // The program exits after this command. Dropping the suites first would take a tenth of its time.
    let suites = || {
        let own = configured::with_own_suites(&args.suite, surroundings)?;
        load(&Side::ALL, &own, surroundings.color).map(ManuallyDrop::new)
    };
    let lines: Vec<String> = match args.what {
        Listed::Faults => faults("fault", reference::server::faults(), args),
        Listed::Variations => faults("variation", reference::server::variations(), args),
        Listed::Suites => {
            suites()?.iter().filter(|suite| wanted(args, &suite.id)).map(|suite| of_suite(suite, args.json)).collect()
        }
        Listed::Profiles => of_profiles(args)?,
        Listed::Rules => rules(args, &suites()?)?,
    };
    if let (Some(pattern), true) = (&args.pattern, lines.is_empty()) {
        return Err(Error::usage(format!("no name contains `{pattern}`")));
    }
    console::say(&lines.join("\n"));
    Ok(exit::CONFORMING)
}

fn wanted(args: &ListArgs, name: &str) -> bool {
    args.pattern.as_ref().is_none_or(|pattern| fits(&format!("*{pattern}*"), name))
}

fn faults(kind: &str, mut faults: Vec<reference::server::FaultInfo>, args: &ListArgs) -> Vec<String> {
    faults.retain(|fault| wanted(args, fault.name.as_ref()));
    faults.sort_by(|a, b| a.name.cmp(&b.name));
    let line = |fault: reference::server::FaultInfo| {
        if args.json {
            json!({ kind: fault.name, "about": fault.about, "since": fault.since, "until": fault.until,
                "transports": fault.transports })
            .to_string()
        } else {
            format!("{:<36} {}", fault.name, fault.about)
        }
    };
    faults.into_iter().map(line).collect()
}

/// Every snapshot of every profile, with its age.
fn of_profiles(args: &ListArgs) -> Result<Vec<String>, Error> {
    let today = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date();
    let mut lines = Vec::new();
    for (name, date, _) in profiles().filter(|(name, ..)| wanted(args, name)) {
        let loaded = profiles::load(&[format!("{name}@{date}")], false)?;
        let Some((suite, profile)) = loaded.iter().find_map(|suite| Some((suite, suite.profile.as_ref()?))) else {
            continue;
        };
        let as_of: Option<jiff::civil::Date> = date.parse().ok();
        let days = as_of.map_or(0, |as_of| (today - as_of).get_days().max(0));
        lines.push(if args.json {
            json!({ "profile": name, "as_of": date, "host": profile.host, "rules": suite.rules.len(), "age_days": days })
                .to_string()
        } else {
            let age = format!("{days} day{} old", if days == 1 { "" } else { "s" });
            format!("{:<28} {:>3} rules  {age:<13} {}", profile.dated(), suite.rules.len(), profile.host)
        });
    }
    Ok(lines)
}

fn of_suite(suite: &Suite, as_json: bool) -> String {
    let (rules, untested) = (suite.rules.len(), suite.untested.len());
    if as_json {
        json!({ "suite": suite.id, "about": suite.about, "rules": rules, "untested": untested }).to_string()
    } else {
        format!("{:<28} {rules:>3} rules  {}", suite.id, suite.about)
    }
}

fn rules(args: &ListArgs, suites: &[Suite]) -> Result<Vec<String>, Error> {
    if let Some(proposal) = &args.traceability {
        return traceability(proposal, suites).map(|table| vec![table]);
    }
    if let Some(directory) = &args.pages {
        return rule_pages::write(directory, suites);
    }
    let mut lines: Vec<String> = suites.iter().flat_map(|suite| of_rules(suite, args)).collect();
    if !args.json && args.pattern.is_none() {
        lines.push(String::new());
        lines.extend(coverage(suites));
    }
    Ok(lines)
}

fn of_rules(suite: &Suite, args: &ListArgs) -> Vec<String> {
    let whole = args.pattern.is_some() && wanted(args, &suite.id);
    let named = |id: &str| whole || wanted(args, id);
    let rules = suite.rules.iter().filter(|rule| named(&rule.id)).map(|rule| {
        if !args.json {
            return format!("{:<6} {:<48} {}", rule.level.word(), rule.id, rule.statement);
        }
        json!({ "rule": rule.id, "suite": suite.id, "level": rule.level, "statement": rule.statement,
            "source": rule.source, "derived": rule.derived, "window": window(&suite.applies, &rule.applies),
            "transports": transports(&suite.applies, &rule.applies), "faults": rule.faults })
        .to_string()
    });
    let untested = suite.untested.iter().filter(|row| named(&row.id)).map(|row| {
        if !args.json {
            return format!("{:<6} {:<48} not tested: {}", row.level.word(), row.id, row.because);
        }
        json!({ "untested": row.id, "suite": suite.id, "level": row.level, "because": row.because }).to_string()
    });
    rules.chain(untested).collect()
}

/// The transports over which both apply.
fn transports(suite: &Applies, rule: &Applies) -> Vec<Transport> {
    let counts = |applies: &Applies, transport| applies.transport.is_empty() || applies.transport.contains(&transport);
    let both = |transport: &Transport| counts(suite, *transport) && counts(rule, *transport);
    Transport::ALL.into_iter().filter(both).collect()
}

/// The revisions in which both apply, as text; empty: all.
fn window(suite: &Applies, rule: &Applies) -> String {
    let since = suite.since.max(rule.since);
    let until = match (suite.until, rule.until) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
    match (since, until) {
        (None, None) => String::new(),
        (Some(since), Some(until)) => format!("{since}..{until}"),
        (Some(since), None) => format!("{since}.."),
        (None, Some(until)) => format!("..{until}"),
    }
}
