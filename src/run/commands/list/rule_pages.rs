//! `mcp-conform list rules --pages DIR`: pages about the rules that can be linked to, one per area.

use std::{collections::BTreeMap, fmt::Write, fs, path::Path};

use super::by_page::by_page;
use crate::{
    error::Error,
    report,
    run::{
        commands::explain::{newest, scope},
        process::console::failed,
    },
    suite::{Rule, Suite, Untested},
};

/// The page about the specification. No area has this name.
const BY_PAGE: &str = "specification";

/// Writes a page for each area, one about the pages of the specification and an index; the value says what was written.
pub fn write(directory: &Path, suites: &[Suite]) -> Result<Vec<String>, Error> {
    let mut areas: BTreeMap<&str, Vec<&Suite>> = BTreeMap::new();
    for suite in suites.iter().filter(|suite| !suite.rules.is_empty() || !suite.untested.is_empty()) {
        areas.entry(suite.id.split('.').next().unwrap_or(&suite.id)).or_default().push(suite);
    }
    fs::create_dir_all(directory).map_err(|source| failed(directory, "write", source))?;
    let index = ("README".to_owned(), table(&areas));
    let of_specification = (BY_PAGE.to_owned(), by_page(&areas.values().flatten().copied().collect::<Vec<_>>()));
    let pages = areas.iter().map(|(area, suites)| ((*area).to_owned(), page(area, suites)));
    let put = |(name, text): (String, String)| {
        let path = directory.join(format!("{name}.md"));
        fs::write(&path, text).map_err(|source| failed(&path, "write", source))?;
        Ok(path.display().to_string())
    };
    [index, of_specification].into_iter().chain(pages).map(put).collect()
}

fn table(areas: &BTreeMap<&str, Vec<&Suite>>) -> String {
    let mut text = "# Rules\n\n\
        All rules, generated from the suites by `mcp-conform list rules --pages DIR`.\n\n\
        A rule states what a server MUST or SHOULD do, or MAY; advice is not in the specification. If it *applies* to revisions, \
        transports or capabilities, it is *not applicable* to other servers. If it needs facts in mcp-conform.toml, or \
        the server sent no such message, it is *not exercised*. `mcp-conform explain RULE` also shows how a rule is \
        tested, and a violation. [Requirements by page](specification.md) counts them by page of the specification.\n\n\
        | area | suites | rules | not tested |\n| --- | ---: | ---: | ---: |\n"
        .to_owned();
    for (area, suites) in areas {
        let count = |of: fn(&Suite) -> usize| suites.iter().map(|suite| of(suite)).sum::<usize>();
        let (rules, untested) = (count(|suite| suite.rules.len()), count(|suite| suite.untested.len()));
        text += &format!("| [{area}]({area}.md) | {} | {rules} | {untested} |\n", suites.len());
    }
    text
}

fn page(area: &str, suites: &[&Suite]) -> String {
    let mut text = format!("# {area}\n\n");
    for suite in suites {
        text += &format!("- [{}](#{}): {}\n", suite.id, suite.id.replace('.', ""), suite.about);
    }
    for suite in suites {
        // Writing to a string does not fail.
        let _ = of_suite(&mut text, suite);
    }
    text
}

fn of_suite(text: &mut String, suite: &Suite) -> std::fmt::Result {
    writeln!(text, "\n## {}\n\n{}", suite.id, suite.about)?;
    suite.rules.iter().try_for_each(|rule| of_rule(text, suite, rule))?;
    if !suite.untested.is_empty() {
        writeln!(text, "\nNot tested in {}:\n", suite.id)?;
    }
    suite.untested.iter().try_for_each(|row| of_untested(text, row))
}

fn of_rule(text: &mut String, suite: &Suite, rule: &Rule) -> std::fmt::Result {
    writeln!(text, "\n### {}\n\n{}\n", rule.id, rule.statement)?;
    writeln!(text, "- applies: {}", scope(&suite.applies, &rule.applies))?;
    let source = match report::link(&rule.source, newest(suite, rule)) {
        Some(link) => format!("[{}]({link})", rule.source),
        None => rule.source.clone(),
    };
    writeln!(text, "- source: {source}")?;
    for (word, said) in [("why", &rule.derived), ("hint", &rule.hint)] {
        said.iter().try_for_each(|said| writeln!(text, "- {word}: {}", said.trim()))?;
    }
    let faults: Vec<String> = rule.faults.iter().map(|fault| format!("`{fault}`")).collect();
    if faults.is_empty() { Ok(()) } else { writeln!(text, "- proved by the faults: {}", faults.join(", ")) }
}

fn of_untested(text: &mut String, row: &Untested) -> std::fmt::Result {
    writeln!(text, "- `{}` {}: {}", row.id, row.statement, row.because.trim())
}
