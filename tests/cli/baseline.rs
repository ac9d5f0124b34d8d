//! Known failures.

use std::fs;

use crate::ran;

const FAULTY: [&str; 4] = ["run", "--reference", "--fault", "list-item-without-name"];
const FILTER: [&str; 2] = ["--filter", "resources.list"];

#[test]
fn what_is_known_is_expected_and_what_is_gone_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("known.toml").display().to_string();

    let written = ran(FAULTY.iter().chain(&FILTER).copied().chain(["--write-baseline", &path]));
    assert_eq!(written.code, 0, "{}", written.stdout);
    let text = fs::read_to_string(&path).unwrap();
    let entry = "[[known]]\nrule = \"resources-list-item-name\"\nsubject = \"memo://status\"\nreason = \"\"";
    assert!(text.contains(entry), "{text}");

    // The reason is kept when the list is written again, and is reported.
    fs::write(&path, text.replace("reason = \"\"", "reason = \"until 2.0\"")).unwrap();
    ran(FAULTY.iter().chain(&FILTER).copied().chain(["--write-baseline", &path]));
    let known = ran(FAULTY.iter().chain(&FILTER).copied().chain(["--baseline", &path]));
    assert_eq!(known.code, 0, "{}", known.stdout);
    assert!(known.stdout.contains("KNOWN  resources-list-item-name"), "{}", known.stdout);
    assert!(known.stdout.contains("until 2.0"), "{}", known.stdout);
    assert!(known.stdout.contains("exit 0  All failures are known."), "{}", known.stdout);

    // A filter that leaves the rule out does not show that it passes.
    ran(FAULTY.iter().copied().chain(["--filter", "prompts.list", "--write-baseline", &path]));
    assert!(fs::read_to_string(&path).unwrap().contains("until 2.0"));

    // Other rules still fail.
    let other = ran([
        "run",
        "--reference",
        "--fault",
        "list-item-without-uri",
        "--filter",
        "resources.list",
        "--baseline",
        &path,
    ]);
    assert_eq!(other.code, 1, "{}", other.stdout);

    let mended = ran(["run", "--reference"].iter().chain(&FILTER).copied().chain(["--baseline", &path]));
    assert_eq!(mended.code, 1, "{}", mended.stdout);
    let told = mended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("resources-list-item-name now passes for file:///"), "{}", mended.stdout);
    assert!(told.contains(": remove them"), "{}", mended.stdout);

    // Every format names it: a user of only that format has to know what failed.
    let forms = ["github", "junit", "tap", "sarif", "markdown", "json"].map(|form| vec!["--report", form]);
    for form in forms.into_iter().chain([vec!["--quiet"]]) {
        let mended =
            ran(["run", "--reference"].iter().chain(&FILTER).copied().chain(["--baseline", &path]).chain(form));
        assert_eq!(mended.code, 1);
        assert!(mended.stdout.contains("resources-list-item-name now passes"), "{}", mended.stdout);
        let counted = mended.stdout.contains(r#"failures="1""#) || !mended.stdout.contains("<testsuites");
        assert!(counted, "{}", mended.stdout);
    }

    // A rule that was not judged this time does not count as fixed.
    let elsewhere =
        ran(["run", "--reference", "--filter", "base.ping", "--revision", "2025-11-25", "--baseline", &path]);
    assert_eq!(elsewhere.code, 0, "{}", elsewhere.stdout);
}

#[test]
fn what_a_rule_finds_besides_fails() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("known.toml").display().to_string();
    let run = |option: &str| ran(FAULTY.iter().chain(&FILTER).copied().chain([option, &path]));
    run("--write-baseline");
    let text = fs::read_to_string(&path).unwrap();
    let (others, last) = text.rsplit_once("\n# ").unwrap();
    assert!(last.contains("subject = "), "{text}");
    fs::write(&path, format!("{others}\n")).unwrap();
    let new = run("--baseline");
    assert_eq!(new.code, 1, "{}", new.stdout);
    let subject = last.split("subject = \"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    assert!(new.stdout.contains(&format!("  {subject}: ")), "{subject}: {}", new.stdout);

    // An entry without a subject covers the whole rule; entries that are no longer needed are not written again.
    fs::write(&path, "[[known]]\nrule = \"resources-list-item-name\"\nreason = \"all\"\n").unwrap();
    assert_eq!(run("--baseline").code, 0);
    let gone = "[[known]]\nrule = \"resources-list-item-name\"\nsubject = \"gone:\"\n";
    fs::write(&path, gone).unwrap();
    // Other suites list resources too, so a filtered run does not show that nothing fails.
    assert_eq!(run("--write-baseline").code, 0);
    assert!(fs::read_to_string(&path).unwrap().contains("gone:"));
    assert_eq!(ran(FAULTY.iter().copied().chain(["--write-baseline", &path])).code, 0);
    assert!(!fs::read_to_string(&path).unwrap().contains("gone:"));
}

#[test]
fn an_update_removes_what_now_passes_and_changes_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("known.toml").display().to_string();
    let kept = "# Ours.\n\n# Before 2.0.\n[[known]]\nrule = \"resources-list-item-name\" # a comment\nreason = '''\n[[a]]'''\n";
    let gone =
        "\n# About ping.\n[[known]]\n# It was slow.\nreason = \"slow\"\nrule = \"ping-answered\"\nsubject = \"ping\"\n";
    let after = "\n# About URIs.\n[[known]]\nrule = \"resources-templates-answered\"\nrevision = \"2024-11-05\"\n";
    fs::write(&path, format!("{kept}{gone}{after}{gone}")).unwrap();
    let run = |options: &[&str]| {
        let rules = ["--filter", "ping-answered", "--revision", "2025-11-25"];
        ran(FAULTY.iter().chain(&FILTER).copied().chain(rules).chain(options.iter().copied()))
    };
    let updated = run(&["--baseline", &path, "--update-baseline"]);
    assert_eq!(updated.code, 0, "{}{}", updated.stdout, updated.stderr);
    assert!(updated.stderr.contains(&format!("updated {path}: removed 2 entries that now pass")), "{}", updated.stderr);
    assert!(!updated.stdout.contains("OUTDATED") && !updated.stdout.contains("now passes"), "{}", updated.stdout);
    assert_eq!(fs::read_to_string(&path).unwrap(), format!("{kept}{after}"));
    // Nothing is added, and without an entry that passes nothing is written.
    fs::write(&path, after).unwrap();
    assert_eq!(run(&["--baseline", &path, "--update-baseline"]).code, 1);
    assert_eq!(fs::read_to_string(&path).unwrap(), after);

    fs::write(&path, "known = [{ rule = \"ping-answered\", subject = \"ping\" }]\n").unwrap();
    let refused = run(&["--baseline", &path, "--update-baseline"]);
    assert!(refused.stderr.contains("the entry on line 1 is not a table of its own"), "{}", refused.stderr);
    let refused = run(&["--update-baseline"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("--update-baseline needs a list of known failures"), "{}", refused.stderr);
}

#[test]
fn a_list_that_helps_nothing_is_refused_before_the_run() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("known.toml").display().to_string();
    for (text, told) in [
        ("[[known]]\nrule = \"resources-list-item-nam\"\n", "did you mean resources-list-item-name?"),
        ("[[known]]\nrul = \"x\"\n", "unknown field `rul`"),
        ("[[known]\n", "is not a baseline"),
    ] {
        fs::write(&path, text).unwrap();
        let refused = ran(["run", "--reference", "--baseline", &path]);
        assert_eq!(refused.code, 2, "{}", refused.stdout);
        assert!(refused.stderr.contains(told), "{}", refused.stderr);
    }
}

#[test]
fn a_violated_should_does_not_pass_without_strict() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("known.toml").display().to_string();
    let run = |options: &[&str]| {
        let line = ["run", "--reference", "--fault", "list-item-twice", "--filter", "resources.list"];
        ran(line.into_iter().chain(options.iter().copied()))
    };
    assert_eq!(run(&["--strict", "--write-baseline", &path]).code, 0);
    assert!(fs::read_to_string(&path).unwrap().contains("resources-list-item-uri-unique"));
    let judged = run(&["--baseline", &path]);
    assert_eq!(judged.code, 0, "{}", judged.stdout);
    assert!(!judged.stdout.contains("OUTDATED"), "{}", judged.stdout);
}

#[test]
fn an_annotation_about_an_outdated_entry_stands_at_its_line() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("known.toml").display().to_string();
    let entry = "[[known]]\nreason = \"old\"\nrule = \"ping-answered\"\nsubject = \"ping\"\n";
    fs::write(&path, format!("# A comment.\n\n{entry}")).unwrap();
    let typed = ["run", "--reference", "--revision", "2025-11-25", "--filter", "ping-answered"];
    let done = ran(typed.into_iter().chain(["--baseline", &path, "--report", "github"]));
    let expected =
        format!("::error file={path},line=5,title=mcp-conform::ping-answered now passes for ping: remove this entry\n");
    assert!(done.stdout.contains(&expected), "{}{}", done.stdout, done.stderr);
}

#[test]
fn the_comment_of_an_entry_has_the_whole_message() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("known.toml").display().to_string();
    let rule = "lifecycle-no-reliance-on-undeclared-capability";
    let typed = ["run", "--reference", "--fault", "capabilities-remembered", "--filter", rule];
    ran(typed.into_iter().chain(["--write-baseline", &path]));
    let text = fs::read_to_string(&path).unwrap();
    let comments: Vec<&str> = text.lines().skip(2).filter_map(|line| line.strip_prefix("# ")).collect();
    let message = comments.join(" ");
    assert!(message.starts_with("`inputRequests.name` is {") && message.ends_with("expected nothing"), "{text}");
    assert!(comments.iter().all(|line| line.chars().count() <= 100), "{text}");
}
