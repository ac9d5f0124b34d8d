//! `check`, `list` and `tree`.

use std::collections::HashSet;

use serde_json::Value;

use crate::{ran, typed};

#[test]
fn check_accepts_what_is_built_in_and_an_own_suite() {
    let ran = typed("check");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(ran.stdout.ends_with(" rules: no mistakes\n"), "{}", ran.stdout);

    let own = typed("check tests/cli/own.yaml");
    assert_eq!((own.code, own.stderr.as_str()), (0, ""));
    assert_eq!(own.stdout, "1 suite with 1 rule: no mistakes\n");
}

#[test]
fn an_own_suite_is_judged_with_the_others() {
    let (report, code) = crate::report("run --reference --suite tests/cli/own.yaml --filter own");
    assert_eq!(code, 0, "{report:#}");
    let ids: Vec<_> = report["rules"].as_array().unwrap().iter().map(|rule| &rule["id"]).collect();
    assert_eq!(ids, ["own-greets"]);
}

#[test]
fn check_shows_where_a_mistake_is() {
    let ran = typed("check tests/lint/regex.yaml");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains(" --> tests/lint/regex.yaml:7:"), "{}", ran.stderr);
    assert!(ran.stderr.contains("\n\nerror: 2 mistakes in the suites;"), "{}", ran.stderr);

    let missing = typed("check tests/cli/no-such-suite.yaml");
    assert_eq!(missing.code, 2);
    assert!(missing.stderr.starts_with("error: failed to read `tests/cli/no-such-suite.yaml`: "), "{}", missing.stderr);
}

/// The names in `list WHAT --json`; also checks that `list WHAT` has a line for each, before any table.
fn listed(what: &str, members: &[&str]) -> HashSet<String> {
    let json = typed(&format!("list {what} --json"));
    let lines = typed(&format!("list {what}"));
    assert_eq!((json.code, lines.code), (0, 0));
    assert_eq!(json.stdout.lines().count(), lines.stdout.lines().take_while(|line| !line.is_empty()).count());
    let mut names = HashSet::new();
    for (json, line) in json.stdout.lines().zip(lines.stdout.lines()) {
        let json: Value = serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"));
        // Untested requirements have only a name and a reason.
        if json.get("untested").is_none() || what == "suites" {
            for member in members {
                assert!(json.get(member).is_some(), "{member} is missing: {json}");
            }
        }
        let name = [members[0], "untested"].iter().find_map(|member| json[member].as_str()).unwrap();
        assert!(line.contains(name), "{line} does not name {name}");
        assert!(names.insert(name.to_owned()), "{name} comes twice");
    }
    names
}

#[test]
fn list_names_everything_once() {
    let rules = listed("rules", &["rule", "suite", "level", "statement", "source", "window", "transports", "faults"]);
    assert!(rules.contains("resources-list-item-name"));
    let suites = listed("suites", &["suite", "about", "rules"]);
    assert!(suites.contains("resources.list"));
    let faults = listed("faults", &["fault", "about", "since", "until"]);
    assert!(faults.contains("list-item-without-name"));
}

#[test]
fn list_shows_what_is_covered_and_the_table_of_a_proposal() {
    let covered = typed("list rules").stdout;
    let table = covered.rsplit_once("\n\n").unwrap().1;
    assert!(table.starts_with("rules by area "), "{table}");
    assert!(table.contains("\nsep-2093 "), "{table}");

    let rows = typed("list rules --traceability sep-2093").stdout;
    assert!(rows.starts_with("sep: 2093\n"), "{rows}");
    assert!(rows.contains("\n  - check: sep2093-metadata-supported\n    text: \"The server MUST "), "{rows}");
    assert!(rows.contains("\n    excluded: \""), "{rows}");
    let rows = typed("list rules --traceability ui").stdout;
    assert!(rows.starts_with("extension: io.modelcontextprotocol/ui\nspec_url: https://"), "{rows}");
    assert!(rows.contains("\n  - check: apps-cap-declared\n") && rows.contains("\n    excluded: \""), "{rows}");
    assert_eq!(typed("list rules --traceability sep-1").code, 2);
}

#[test]
fn the_requirements_of_each_page_are_counted_with_those_without_a_rule() {
    let pages = tempfile::tempdir().unwrap();
    assert_eq!(ran(["list", "rules", "--pages", pages.path().to_str().unwrap()]).code, 0);
    let text = std::fs::read_to_string(pages.path().join("specification.md")).unwrap();
    // For each revision the requirements with a rule, and all.
    let counts = |row: &str| -> Vec<(usize, usize)> {
        let cells = row.trim_matches('|').split(" | ").skip(1);
        let cell = |cell: &str| cell.trim().split_once(" of ").map(|(a, b)| (a.parse().unwrap(), b.parse().unwrap()));
        cells.map(|text| cell(text).unwrap_or_default()).collect()
    };
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("| ")).skip(2).collect();
    let (all, rows) = rows.split_last().unwrap();
    assert!(all.starts_with("| all | ") && rows.len() > 25, "{text}");
    for (revision, sum) in counts(all).into_iter().enumerate() {
        let of_pages = rows.iter().map(|row| counts(row)[revision]);
        let added = of_pages.fold((0, 0), |sum, (tested, all)| {
            assert!(tested <= all);
            (sum.0 + tested, sum.1 + all)
        });
        assert!(sum == added && sum.0 > 100, "{sum:?} and {added:?}");
    }
    let newest = "| [basic/patterns/mrtr](https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr) |  |  |  |  | ";
    assert!(rows.iter().any(|row| row.starts_with(newest)), "{text}");
    let (_, of_page) = text.split_once("\n## basic/lifecycle\n").unwrap();
    let (of_page, _) = of_page.split_once("\n## ").unwrap();
    let reason =
        "- `lifecycle-server-maximum-timeout` The server SHOULD enforce a maximum timeout, regardless of progress: ";
    assert!(of_page.contains(reason), "{of_page}");
}

#[test]
fn list_without_more_shows_the_suites() {
    assert_eq!(typed("list").stdout, typed("list suites").stdout);
}

#[test]
fn the_plan_names_every_suite_with_its_connection_and_why() {
    let (report, _) =
        crate::report("run --reference --filter resources.list --filter resources.read --revision 2025-11-25");
    let ran = typed("run --reference --filter resources.list --filter resources.read --revision 2025-11-25 --plan");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(ran.stdout.starts_with("schedule for 2025-11-25 over stdio\n"), "{}", ran.stdout);
    let lanes: Vec<&str> =
        ran.stdout.lines().filter(|line| line.contains("connection") && line.contains(": ")).collect();
    let planned = |suite: &str| lanes.iter().any(|lane| lane.split([':', ',', ' ']).any(|name| name == suite));
    let rules = report["rules"].as_array().unwrap();
    let judged: HashSet<&str> = rules
        .iter()
        .filter(|rule| rule["checked"].as_u64().is_some_and(|checked| checked > 0))
        .filter_map(|rule| rule["suite"].as_str())
        .collect();
    assert!(judged.contains("resources.read"), "{judged:?}");
    let missing: Vec<_> = judged.iter().filter(|suite| !planned(suite)).collect();
    assert!(missing.is_empty(), "{missing:?} of\n{}", ran.stdout);
    let reasons = ran.stdout.lines().filter(|line| line.starts_with("    ")).count();
    assert_eq!(reasons, lanes.len(), "{}", ran.stdout);
}

#[test]
fn the_rules_of_a_run_are_listed_and_excluded() {
    let listed = |line: &str| typed(&format!("run --list {line}")).stdout;
    let all = listed("--filter base.ping");
    assert!(all.lines().count() > 1 && all.lines().all(|line| line.starts_with("base.ping ")), "{all}");
    for excluding in ["--exclude ping-result-empty", "--filter !ping-result-empty"] {
        let rest = listed(&format!("--filter base.ping {excluding}"));
        assert_eq!(rest.lines().count() + 1, all.lines().count(), "{rest}");
        assert!(!rest.contains("ping-result-empty"), "{rest}");
    }
    let unknown = typed("run --reference --exclude no-such-rule");
    assert_eq!(unknown.code, 2, "{}", unknown.stderr);

    let found = typed("list rules ping-result").stdout;
    assert!(found.contains("ping-result-empty") && !found.contains("resources-"), "{found}");
    assert_eq!(typed("list rules no-such-name").code, 2);
}

#[test]
fn what_failed_last_is_run_again() {
    let directory = tempfile::tempdir().unwrap();
    let report = directory.path().join("report.json").display().to_string();
    let faulty = ["run", "--reference", "--fault", "list-item-without-name", "--filter", "resources.list"];
    let to = format!("--report=json={report}");
    let first = ran(faulty.iter().copied().chain([to.as_str()]));
    assert_eq!(first.code, 1);
    assert!(first.stderr.contains(&format!("wrote {report}")), "{}", first.stderr);
    let again = ran(["run", "--reference", "--last-failed", &report]);
    assert_eq!(again.code, 0, "{}{}", again.stdout, again.stderr);
    assert!(again.stdout.contains("\n1 passed"), "{}", again.stdout);
}

#[test]
fn words_that_are_no_command_lead_to_one() {
    for (line, meant) in [
        ("diff a.json b.json", "mcp-conform report diff"),
        ("report a.json", "mcp-conform report render a.json"),
        ("version", "mcp-conform --version"),
        ("rules", "mcp-conform list rules"),
    ] {
        let ran = typed(line);
        assert_eq!(ran.code, 2, "{line}");
        assert!(ran.stderr.contains(meant), "{line}: {}", ran.stderr);
    }
}

#[test]
fn two_reports_share_stdout() {
    let line = "run --reference --fault list-item-without-name --filter resources.list --report human --report github";
    let both = typed(line);
    assert_eq!(both.code, 1);
    assert!(both.stdout.contains("\nFAIL  resources-list-item-name\n"), "{}", both.stdout);
    assert!(both.stdout.contains("\n::error title=mcp-conform"), "{}", both.stdout);
    assert!(both.stdout.contains("%0Ahttps://modelcontextprotocol.io/"), "{}", both.stdout);
}

#[test]
fn the_tree_has_the_files_of_each_skill_in_its_directory() {
    let ran = ran(["tree", "--", crate::PROGRAM, "serve", "--extension", "skills"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    // A file of a skill that is listed as a resource too is shown once.
    assert_eq!(ran.stdout.matches("git-workflow/SKILL.md").count(), 1, "{}", ran.stdout);
    let (_, skills) = ran.stdout.split_once("\ngit-workflow\n").expect("a skill");
    assert!(skills.contains("└── references\n    └── BRANCHES.md\n"), "{skills}");
    assert!(skills.contains("│   └── forms\n│       └── claim.json\n"), "{skills}");
}

#[test]
fn the_html_report_draws_resources_and_skills() {
    let words = ["run", "--filter", "skills-dir-*", "--report", "html=-"];
    let page = ran(words.into_iter().chain(["--", crate::PROGRAM, "serve", "--extension", "skills"])).stdout;
    for drawn in [">docs</text>", ">refunds</text>", ">claim.json</text>"] {
        assert!(page.contains(drawn), "{drawn} is not drawn");
    }
}
