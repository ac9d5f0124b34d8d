//! What worked of each capability, in words.

use indexmap::IndexMap;

use conform_model::outcome::{Listing, Offer, RunReport, Served};

/// One part of a line for each capability, and whether its list fails.
pub fn parts(report: &RunReport) -> Vec<(String, bool)> {
    let (offered, absent): (Vec<_>, Vec<_>) =
        newest(report).into_iter().partition(|served| served.declared || served.used > 0 || served.listed > 0);
    let mut parts: Vec<(String, bool)> = offered.into_iter().map(|served| part(report, served)).collect();
    if !absent.is_empty() {
        let names: Vec<&str> = absent.iter().map(|served| served.offer.name()).collect();
        parts.push((format!("{}: not declared", names.join(", ")), false));
    }
    parts
}

/// The lists that never work and the rules that were not tested because of that, for the verdict: what follows after "no".
pub fn failing(report: &RunReport) -> Option<String> {
    let mut failing: IndexMap<Offer, &Served> = IndexMap::new();
    for served in report.served.iter().filter(|served| fails(served) && served.untested > 0) {
        failing.insert(served.offer, served);
    }
    let nouns: Vec<_> = failing.keys().map(|offer| offer.noun()).collect();
    let names: Vec<&str> = failing.keys().map(|offer| offer.name()).collect();
    let untested: usize = failing.values().map(|served| served.untested).sum();
    let (noun, was) = if untested == 1 { ("rule", "was") } else { ("rules", "were") };
    // Where the list works in other revisions, the newest one in which it does not is named.
    let only_in = failing.values().find(|served| {
        let same = |other: &&Served| other.offer == served.offer && other.list == Listing::Works;
        report.served.iter().any(|other| same(&other))
    });
    let only_in = only_in.map(|served| format!(" in {}", served.revision)).unwrap_or_default();
    (!failing.is_empty()).then(|| {
        format!(
            "{} could be listed{only_in}, so {untested} {noun} about {} {was} not tested",
            nouns.join(" and no "),
            names.join(" and ")
        )
    })
}

fn fails(served: &Served) -> bool {
    served.declared && served.list == Listing::Fails
}

/// The last revision that has each capability.
fn newest(report: &RunReport) -> Vec<&Served> {
    let mut newest: IndexMap<Offer, &Served> = IndexMap::new();
    for served in &report.served {
        newest.insert(served.offer, served);
    }
    newest.into_values().collect()
}

fn part(report: &RunReport, served: &Served) -> (String, bool) {
    let name = served.offer.name();
    let used = match served.offer {
        Offer::Tools => "called",
        Offer::Resources => "read",
        Offer::Prompts => "rendered",
        Offer::Tasks => "created",
    };
    if served.offer == Offer::Tasks {
        return (format!("{name}: {} {used}", served.used), false);
    }
    let elsewhere = report.served.iter().rev().find(|other| other.offer == served.offer && fails(other));
    match (served.list, elsewhere) {
        (Listing::Fails, _) => (format!("{name}: the list fails"), true),
        (Listing::Unknown, _) => (format!("{name}: not listed, {} {used}", served.used), false),
        (Listing::Works, None) => (format!("{name}: {} listed, {} {used}", served.listed, served.used), false),
        (Listing::Works, Some(other)) => {
            let in_other = format!("the list fails in {}", other.revision);
            (format!("{name}: {} listed, {} {used}, {in_other}", served.listed, served.used), true)
        }
    }
}
