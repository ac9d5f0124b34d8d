//! All parts of a run together equal the whole run.

use std::collections::BTreeMap;

use mcp_conform::{partition::Partition, plan::Filter, run::built_in, suite::Suite};
use serde_json::Value;

use crate::{ran, report, typed};

fn part(text: &str) -> Partition {
    text.parse().expect("a part")
}

/// The suites that one part of these rules gathers.
fn gathered<'a>(rules: [&str; 2], text: &str, suites: &'a [Suite]) -> Vec<&'a str> {
    let filter = Filter::new(&rules.map(str::to_owned), suites).expect("a filter").part(part(text), suites);
    let selected = |suite: &&Suite| suite.rules.iter().any(|rule| filter.selects(suite, rule));
    suites.iter().filter(selected).map(|suite| suite.id.as_str()).collect()
}

#[test]
fn parts_have_each_rule_once() {
    let suites = built_in().expect("good suites");
    for terms in [vec![], vec!["must".to_owned()], vec!["base.ping".to_owned()]] {
        let whole = Filter::new(&terms, &suites).expect("a filter");
        for (by, of) in [("hash", 1), ("hash", 5), ("count", 4), ("count", 7)] {
            let parts = (1..=of).map(|number| part(&format!("{by}:{number}/{of}")));
            let filters: Vec<Filter> = parts.map(|part| whole.clone().part(part, &suites)).collect();
            for (suite, rule) in suites.iter().flat_map(|suite| suite.rules.iter().map(move |rule| (suite, rule))) {
                let shown = filters.iter().filter(|filter| filter.shows(&rule.id)).count();
                assert_eq!(shown, usize::from(whole.selects(suite, rule)), "{} in {by} of {of}", rule.id);
            }
        }
    }
}

#[test]
fn suites_without_a_rule_of_the_part_stay_out_unless_they_are_looked_at() {
    let suites = built_in().expect("good suites");
    let saved = ["sep2093-read-listable-child-metadata", "sep2093-list-uri-paginated"];
    assert_eq!(gathered(saved, "count:1/2", &suites), ["sep-2093.contents"]);
    assert_eq!(gathered(saved, "count:2/2", &suites), ["sep-2093.lists"]);
    let of_all = ["sep2093-list-uri-paginated", "resources-listen-result-shape"];
    assert_eq!(gathered(of_all, "count:1/2", &suites), ["sep-2093.lists"]);
    assert_eq!(gathered(of_all, "count:2/2", &suites), ["sep-2093.lists", "resources.listen"]);
}

/// The status of each rule in each revision.
fn verdicts(report: &Value) -> BTreeMap<(String, String), String> {
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let rules = report["rules"].as_array().expect("rules").iter();
    rules.map(|rule| ((text(&rule["id"]), text(&rule["revision"])), text(&rule["status"]))).collect()
}

#[test]
fn parts_joined_are_the_whole_run() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = |number: usize| directory.path().join(format!("{number}.json")).display().to_string();
    for (run, by, of) in [
        ("--reference --fault list-item-without-name --filter resources.list --filter base.ids", "hash", 2),
        ("--reference --fault scope-of-leaf-empty --filter sep-2093", "count", 3),
    ] {
        let (whole, code) = report(&format!("run {run}"));
        for number in 1..=of {
            typed(&format!("run {run} --partition {by}:{number}/{of} --report json={}", file(number)));
        }
        let files: Vec<String> = (1..=of).map(file).collect();
        let merge = |files: &[String]| {
            let options = ["report", "merge", "--report", "json"].map(str::to_owned);
            ran(options.iter().chain(files))
        };
        let merged = merge(&files);
        let joined: Value = serde_json::from_str(&merged.stdout).expect("a report");
        assert_eq!(verdicts(&joined), verdicts(&whole), "{run}");
        assert_eq!((merged.code, &joined["partition"]), (code, &Value::Null), "{run}");
        let some = merge(&files[1..]);
        assert_eq!((some.code, some.stdout.as_str()), (2, ""), "{run}");
        assert!(some.stderr.starts_with(&format!("error: part 1 of {of} is missing\n")), "{}", some.stderr);
        let twice = merge(&[&files[..], &files[..1]].concat());
        assert!(twice.stderr.starts_with(&format!("error: part 1 of {of} was specified twice\n")), "{}", twice.stderr);
        let human = ran(["report", "render", &files[0]]);
        assert!(human.stdout.contains(&format!("part  {by}:1/{of} of the run")), "{}", human.stdout);
    }
}

#[test]
fn a_part_that_there_is_not_is_refused() {
    for (given, message) in [
        ("hash:0/4", "parts are numbered from 1"),
        ("count:5/4", "part 5 of 4 does not exist"),
        ("4", "expected `hash:` or `count:`"),
    ] {
        let refused = typed(&format!("run --reference --partition {given}"));
        assert_eq!(refused.code, 2, "{given}");
        assert!(refused.stderr.contains(message), "{given}: {}", refused.stderr);
    }
}
