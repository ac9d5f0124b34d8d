//! Small things that users stumbled over.

use crate::ran;

const FAULTY: [&str; 6] = ["run", "--reference", "--fault", "list-item-without-name", "--filter", "resources.list"];

fn with<'a>(options: &[&'a str]) -> Vec<&'a str> {
    FAULTY.iter().copied().chain(options.iter().copied()).collect()
}

#[test]
fn a_failed_run_names_the_rules_even_if_only_files_are_written() {
    let directory = tempfile::tempdir().unwrap();
    let to = format!("--report=junit={}", directory.path().join("x.xml").display());
    for options in [vec![to.as_str(), "-q"], vec![to.as_str()]] {
        let failed = ran(with(&options));
        assert_eq!(failed.code, 1);
        assert!(failed.stderr.contains("FAIL  resources-list-item-name"), "{}", failed.stderr);
        assert!(failed.stderr.contains("does not conform"), "{}", failed.stderr);
    }
}

#[test]
fn nothing_is_left_to_test_after_a_green_run() {
    let directory = tempfile::tempdir().unwrap();
    let report = directory.path().join("green.json").display().to_string();
    let to = format!("--report=json={report}");
    assert_eq!(ran(["run", "--reference", "--filter", "resources.list", to.as_str()]).code, 0);
    let again = ran(["run", "--reference", "--last-failed", &report]);
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert!(again.stderr.contains("no rule failed in the last run"), "{}", again.stderr);
}

#[test]
fn the_summary_of_a_job_is_created() {
    let directory = tempfile::tempdir().unwrap();
    let summary = directory.path().join("summary.md");
    let run = assert_cmd::Command::new(crate::PROGRAM)
        .env("GITHUB_STEP_SUMMARY", &summary)
        .args(["run", "--reference", "--filter", "resources.list", "--report"])
        .arg(format!("markdown={}", summary.display()))
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
    assert!(std::fs::metadata(&summary).unwrap().len() > 0);
}

#[test]
fn a_rule_counts_once_for_all_revisions() {
    let all = ran(with(&["--revision", "all"]));
    assert!(all.stdout.contains("\n5 revisions · 1 failed · "), "{}", all.stdout);
}

#[test]
fn findings_are_shown_whole_and_nothing_else() {
    let strict = ["run", "--reference", "--fault", "list-item-without-name"];
    let shown = ran(strict.iter().copied().chain(["--filter", "resources.list", "--findings"]));
    assert_eq!(shown.code, 1);
    assert!(shown.stdout.contains("rerun"), "{}", shown.stdout);
    for other in ["by hand", "not exercised  ", "Not exercised: ", "pass  "] {
        assert!(!shown.stdout.contains(other), "{other}: {}", shown.stdout);
    }
}

#[test]
fn completions_can_be_cut_short() {
    // More than a pipe holds, so that writing fails once `head` has ended.
    let line = format!("'{}' completions bash | head -1; exit ${{PIPESTATUS[0]}}", crate::PROGRAM);
    let cut = std::process::Command::new("bash").args(["-c", &line]).output().unwrap();
    assert!(cut.status.success(), "{}", String::from_utf8_lossy(&cut.stderr));
}

#[test]
fn a_command_for_the_token_that_is_not_installed_is_named() {
    let run = ran(["run", "--http", "http://127.0.0.1:9/", "--bearer-token-command", "no-such-command-here"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("`no-such-command-here`, which prints the token, was not found"), "{}", run.stderr);
}

#[test]
fn a_new_project_has_no_custom_rule_and_ignores_stored_calls() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().display().to_string();
    assert_eq!(ran(["init", &path]).code, 0);
    let read = |name: &str| std::fs::read_to_string(directory.path().join(name)).unwrap();
    assert!(!read("mcp-conform.toml").lines().any(|line| line.starts_with("suites")));
    assert_eq!(read(".gitignore"), "/.mcp-conform/\n");
    let again = ran(["init", &path]);
    assert!(!again.stdout.contains("add `/.mcp-conform/`"), "{}", again.stdout);
}

#[test]
fn init_writes_what_a_server_shows_of_itself() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().display().to_string();
    let shown = ran(["init", &path, "--", crate::PROGRAM, "serve"]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    let text = std::fs::read_to_string(directory.path().join("mcp-conform.toml")).unwrap();
    // What works is a line, and what may have side effects a comment.
    for line in [
        "prompts.greet.with = { name = \"Ada\" }",
        "tools.add.with = { a = 1, b = 1 }",
        "# tools.add_resource.with = {}",
    ] {
        assert!(text.lines().any(|written| written == line), "{line} is not in {text}");
    }
    assert!(text.contains("\nfacts.arguments.\"file:///docs/{name}\" = "), "{text}");
    let told = shown.stdout.lines().find(|line| line.starts_with("a run tests")).unwrap_or_default();
    let numbers: Vec<usize> = told.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    assert!(matches!(numbers[..], [before, after] if after > before), "{told}");
}

#[test]
fn every_revision_of_a_client_that_can_be_tested_is() {
    let client = ["client", "--transport", "sse", "--filter", "client-initialize-first"];
    let one = ran(client.iter().copied().chain(["--revision", "2026-07-28", "--", crate::PROGRAM, "act"]));
    assert_eq!(one.code, 2, "{}", one.stderr);
    assert!(one.stderr.contains("revision 2026-07-28 does not define the transport"), "{}", one.stderr);
}

#[test]
fn exits_of_our_servers_are_no_notes_about_a_client() {
    let run = ran(["client", "--transport", "stdio", "--filter", "clients.base.cancel", "--", crate::PROGRAM, "act"]);
    assert!(!run.stdout.contains("which no rule judges"), "{}{}", run.stdout, run.stderr);
}
