//! The requirements of the specification by page and revision: how many there are, how many have a rule, and why the
//! others have none.

use std::collections::BTreeMap;

use crate::{
    evidence::Side,
    outcome::Level,
    report::link,
    revision::Revision,
    suite::{Applies, Suite, Untested},
};

/// Where the pages of a revision begin.
const SPECIFICATION: &str = "https://modelcontextprotocol.io/specification/";
/// In the first revisions, what is not on a page is in the source of the schema.
const SCHEMA: &str = "schema";
/// For requirements of suites that are about several pages.
const SEVERAL: &str = "no single page";

/// The requirements of one page.
#[derive(Default)]
struct Page<'a> {
    /// The page in the newest revision that has it.
    link: Option<String>,
    /// In each revision: those with a rule, and all.
    counts: [(usize, usize); Revision::ALL.len()],
    untested: Vec<&'a Untested>,
}

/// The text of the page in the documentation.
pub fn by_page(suites: &[&Suite]) -> String {
    let mut pages: BTreeMap<String, Page> = BTreeMap::new();
    let is_party = |suite: &&&Suite| matches!(suite.subject, Side::Server | Side::Client);
    for suite in suites.iter().filter(|suite| suite.applies.proposal.is_none()).filter(is_party) {
        for (index, revision) in Revision::ALL.into_iter().enumerate() {
            let rules = || {
                suite.rules.iter().filter(move |rule| is_required(rule.level) && is_in(suite, &rule.applies, revision))
            };
            for rule in rules() {
                if let Some((name, link)) = page(&rule.source, revision) {
                    add(&mut pages, name, link, index).0 += 1;
                }
            }
            let usual = most_frequent(rules().filter_map(|rule| page(&rule.source, revision)));
            let untested = suite.untested.iter().filter(|row| is_required(row.level));
            for row in untested.filter(|_| is_in(suite, &Applies::default(), revision)) {
                let own = row.source.as_ref().map(|source| page(source, revision));
                // A source that is not a page of the specification has no requirement of it.
                let Some((name, link)) = own.unwrap_or_else(|| usual.clone().or(Some((SEVERAL.into(), None)))) else {
                    continue;
                };
                add(&mut pages, name.clone(), link, index);
                let page = pages.entry(name).or_default();
                if !page.untested.iter().any(|known| known.id == row.id) {
                    page.untested.push(row);
                }
            }
        }
    }
    for Page { counts, .. } in pages.values_mut().filter(|page| page.counts.iter().any(|(tested, _)| *tested > 0)) {
        // Requirements without a rule do not say in which revisions they are: a page without rules is not in that revision.
        counts.iter_mut().filter(|(tested, _)| *tested == 0).for_each(|count| *count = (0, 0));
    }
    written(&pages)
}

/// Counts a requirement; the value is the counts of its page and revision.
fn add<'p>(
    pages: &'p mut BTreeMap<String, Page>,
    name: String,
    link: Option<String>,
    index: usize,
) -> &'p mut (usize, usize) {
    let page = pages.entry(name).or_default();
    page.link = link.or_else(|| page.link.take());
    page.counts[index].1 += 1;
    &mut page.counts[index]
}

const fn is_required(level: Level) -> bool {
    matches!(level, Level::Must | Level::Should)
}

fn is_in(suite: &Suite, applies: &Applies, revision: Revision) -> bool {
    [&suite.applies, applies].into_iter().all(|applies| {
        applies.since.is_none_or(|since| since <= revision) && applies.until.is_none_or(|until| revision <= until)
    })
}

/// The name of a page of the specification, and the page in this revision. `None` for a source elsewhere.
fn page(source: &str, revision: Revision) -> Option<(String, Option<String>)> {
    let link = link(source, revision)?;
    let (whole, _) = link.split_once('#').unwrap_or((&link, ""));
    if whole.ends_with("/schema.ts") {
        return Some((SCHEMA.to_owned(), None));
    }
    // Extensions have pages elsewhere.
    if source.starts_with("extensions/") {
        let (name, _) = source.split_once('#').unwrap_or((source, ""));
        return Some((name.to_owned(), Some(whole.to_owned())));
    }
    let (_, name) = whole.strip_prefix(SPECIFICATION)?.split_once('/')?;
    Some((name.to_owned(), Some(whole.to_owned())))
}

/// The page that most of these are; that of the schema, which every suite uses, only if there is no other.
fn most_frequent(pages: impl Iterator<Item = (String, Option<String>)>) -> Option<(String, Option<String>)> {
    let mut counts: BTreeMap<_, usize> = BTreeMap::new();
    for page in pages {
        *counts.entry(page).or_default() += 1;
    }
    counts.into_iter().max_by_key(|((name, _), count)| (name != SCHEMA, *count)).map(|(page, _)| page)
}

fn written(pages: &BTreeMap<String, Page>) -> String {
    let revisions = Revision::ALL.map(|revision| revision.to_string());
    let mut text = format!(
        "# Requirements by page\n\n\
         The MUST and SHOULD of the specification for servers and clients, generated from the suites by `mcp-conform list rules --pages \
         DIR`. \"9 of 11\" means that 9 of 11 requirements of the page have a rule in that revision; the reasons for the others \
         follow. A sentence of the specification with several requirements can have several rules. Proposals are not counted, nor is \
         advice. A requirement without a rule is counted on the page that most rules of its suite are about, unless it names another one, and \
         in the revisions in which that page has rules.\n\n\
         | page | {} |\n| --- |{}\n",
        revisions.join(" | "),
        " ---: |".repeat(revisions.len()),
    );
    let mut sums = [(0, 0); Revision::ALL.len()];
    for (name, page) in pages {
        text += &row(&linked(name, page), &page.counts);
        for (sum, (tested, all)) in sums.iter_mut().zip(page.counts) {
            *sum = (sum.0 + tested, sum.1 + all);
        }
    }
    text += &row("all", &sums);
    for (name, page) in pages.iter().filter(|(_, page)| !page.untested.is_empty()) {
        text += &format!("\n## {name}\n\n");
        for Untested { id, statement, because, .. } in &page.untested {
            text += &format!("- `{id}` {statement}: {}\n", because.trim());
        }
    }
    text
}

fn linked(name: &str, page: &Page) -> String {
    page.link.as_ref().map_or_else(|| name.to_owned(), |link| format!("[{name}]({link})"))
}

fn row(name: &str, counts: &[(usize, usize)]) -> String {
    let cells = counts.iter().map(|(tested, all)| match all {
        0 => String::new(),
        all => format!("{tested} of {all}"),
    });
    format!("| {name} | {} |\n", cells.collect::<Vec<_>>().join(" | "))
}
