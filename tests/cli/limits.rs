//! A reached limit is reported by its name. Those that end a run or a suite are tested in `tests/hostile`.

use crate::{PROGRAM, ran, report, typed};

fn walked(limit: &str) -> String {
    let ran = typed(&format!("run --reference --filter sep-2093.lists --limit {limit}"));
    ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn of_a_walk() {
    for (limit, told) in [("walk_nodes=5", "5 nodes"), ("walk_pages=2", "2 pages"), ("walk_depth=2", "2 levels")] {
        let said = walked(limit);
        assert!(said.contains(&format!("the limit of {told} was reached")), "{limit}: {said}");
    }
}

/// The whole walk would take many times as long.
#[test]
fn of_the_time_for_a_walk() {
    let far = ["walk_seconds=1", "walk_nodes=10000000", "walk_pages=10000000", "walk_depth=1000"];
    let limits = far.iter().flat_map(|limit| ["--limit", limit]);
    let server = ["--filter", "sep-2093.lists", "--", PROGRAM, "serve", "--content", "tree:1000000"];
    let said = ran(["run"].into_iter().chain(limits).chain(server)).stdout;
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("the limit of 1 seconds was reached"), "{said}");
}

#[test]
fn of_the_messages_that_a_finding_shows() {
    let run = "run --reference --fault read-adds-neighbour --filter sep2093-read-nonlistable-same-uri";
    let shown = |limit: &str| {
        let (report, _) = report(&format!("{run}{limit}"));
        let rules = report["rules"].as_array().expect("rules").clone();
        let findings = rules.iter().flat_map(|rule| rule["findings"].as_array().into_iter().flatten());
        findings.map(|finding| finding["frames"].as_array().map_or(0, Vec::len)).max()
    };
    assert_eq!(shown(""), Some(2));
    assert_eq!(shown(" --limit evidence_frames=1"), Some(1));
}
