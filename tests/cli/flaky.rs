//! Rules that fail, and pass when they are tested again.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{PROGRAM, Ran, ran};

/// A server that has a fault until it was started so many times, and a number of those starts.
pub struct Flaky {
    folder: tempfile::TempDir,
    starts: usize,
}

/// Rules of one suite, so that few processes are started.
const FILTER: [&str; 2] = ["--filter", "resources.list"];

impl Flaky {
    /// The fault is there for all of a first run, and in no later one.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let script = format!(
            "n=$(cat \"$1\" 2>/dev/null || echo 0); n=$((n+1)); echo $n > \"$1\"; fault=\n\
             if [ $n -le $2 ]; then fault='--fault list-item-without-name'; fi\nexec {PROGRAM} serve $fault\n"
        );
        fs::write(folder.path().join("server.sh"), script).unwrap();
        let mut flaky = Self { folder, starts: usize::MAX };
        // How many processes a run starts is not known in advance.
        assert_eq!(flaky.run(&[]).code, 1);
        flaky.starts = fs::read_to_string(flaky.path("starts")).unwrap().trim().parse().unwrap();
        flaky
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn argv(&self) -> Vec<String> {
        let [server, starts] = ["server.sh", "starts"].map(|name| self.path(name).display().to_string());
        // A shell cannot count further.
        vec!["sh".into(), server, starts, self.starts.min(1_000_000).to_string()]
    }

    /// A run of the server as it is before its first start.
    pub fn run(&self, options: &[&str]) -> Ran {
        let _ = fs::remove_file(self.path("starts"));
        let options = options.iter().map(|option| (*option).to_owned());
        let typed = ["run"].into_iter().chain(FILTER).map(str::to_owned).chain(options).chain(["--".to_owned()]);
        ran(typed.chain(self.argv()))
    }
}

#[test]
fn what_passes_in_a_retry_is_flaky_in_every_format() {
    let server = Flaky::new();
    let shown = server.run(&["--retries", "2"]);
    assert_eq!(shown.code, 1, "{}", shown.stdout);
    for told in [
        "FLAKY  resources-list-item-name\n",
        "\n  failed once, passed in retry 1\n",
        "accept  --flaky pass accepts what passes in a retry\n",
        "1 flaky · ",
        "exit 1  The server does not always conform: 1 rule is flaky.",
    ] {
        assert!(shown.stdout.contains(told), "{told}: {}", shown.stdout);
    }
    for (format, failing, passing) in [
        ("json", "\"status\": \"flaky\"", "\"flaky\": \"pass\""),
        (
            "junit",
            "<failure message=\"`name` is missing\" type=\"flaky\">",
            "<flakyFailure message=\"`name` is missing\"",
        ),
        ("tap", "\nnot ok 8 - resources-list-item-name\n", "\nok 8 - resources-list-item-name\n"),
        ("sarif", "\"level\": \"error\"", "\"level\": \"warning\""),
        (
            "github",
            "::error title=mcp-conform%3A resources-list-item-name::",
            "::warning title=mcp-conform%3A resources-",
        ),
        ("markdown", "\n### Flaky\n", "\n### Flaky\n"),
        ("html", "<h2>Flaky</h2>", "<h2>Flaky</h2>"),
        ("badge", "1 of 9 violated", "1 of 9 violated"),
    ] {
        let path = server.path(format).display().to_string();
        for (flaky, code, expected) in [("fail", 1, failing), ("pass", 0, passing)] {
            let written = server.run(&["--retries", "1", "--flaky", flaky, "--report", &format!("{format}={path}")]);
            assert_eq!(written.code, code, "{format}: {}", written.stderr);
            let text = fs::read_to_string(&path).unwrap();
            assert!(text.contains(expected), "{expected}: {text}");
        }
    }
}

#[test]
fn a_rule_that_fails_each_time_fails_however_often_it_is_tested() {
    let server = Flaky::new();
    let always = server.path("always").display().to_string();
    let typed =
        ["run", "--filter", "resources.list", "--retries", "2", "--flaky", "pass", "--transcript", &always, "--"];
    let script = server.argv();
    let (last, argv) = script.split_last().unwrap();
    assert_ne!(last, "1000000");
    let shown =
        ran(typed.iter().map(|word| (*word).to_owned()).chain(argv.iter().cloned()).chain(["1000000".to_owned()]));
    assert_eq!(shown.code, 1, "{}", shown.stdout);
    assert!(shown.stdout.contains("FAIL  resources-list-item-name"), "{}", shown.stdout);
    assert_eq!(fs::read_to_string(&always).unwrap().matches("\n{\"retry\":").count(), 2);
}

#[test]
fn a_transcript_has_the_retries_and_is_judged_alike() {
    let server = Flaky::new();
    let path = server.path("transcript").display().to_string();
    let first = server.run(&["--retries", "3", "--quiet", "--transcript", &path]);
    let again = ran(["judge", &path, "--quiet"]);
    assert_eq!((first.code, &first.stdout), (again.code, &again.stdout));
    assert!(first.stdout.starts_with("FLAKY  resources-list-item-name\n"), "{}", first.stdout);
    // Nothing fails any more after the first retry.
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text.matches("\n{\"retry\":").count(), 1);
    // Without the retry, the rule has failed.
    fs::write(&path, text.split("{\"retry\":").next().unwrap()).unwrap();
    assert!(ran(["judge", &path, "--quiet"]).stdout.starts_with("FAIL  resources-list-item-name\n"));
}

#[test]
fn a_list_of_known_failures_has_no_say_about_a_flaky_rule() {
    let server = Flaky::new();
    let known = server.path("known.toml");
    let entry = "[[known]]\nrule = \"resources-list-item-name\"\nsubject = \"memo://status\"\n";
    fs::write(&known, entry).unwrap();
    let shown = server.run(&["--retries", "1", "--baseline", known.to_str().unwrap()]);
    assert_eq!(shown.code, 1, "{}", shown.stdout);
    assert!(shown.stdout.contains("FLAKY") && !shown.stdout.contains("OUTDATED"), "{}", shown.stdout);
    // A rule that is known to fail is not tested again.
    fs::write(&known, entry.lines().take(2).collect::<Vec<_>>().join("\n")).unwrap();
    let shown = server.run(&["--retries", "1", "--baseline", known.to_str().unwrap()]);
    assert!(shown.stdout.contains("KNOWN  resources-list-item-name"), "{}", shown.stdout);
}

/// A configuration in the folder that names the server.
fn configured(server: &Flaky, keys: &str) -> PathBuf {
    let path = server.path("mcp-conform.toml");
    let argv = serde_json::json!(server.argv());
    fs::write(&path, format!("{keys}\n[targets.server]\nstdio = {argv}\n")).unwrap();
    path
}

fn of_file(server: &Flaky, config: &Path, options: &[&str]) -> Ran {
    let _ = fs::remove_file(server.path("starts"));
    let typed = ["run", "--quiet", "--config", config.to_str().unwrap()].into_iter().chain(FILTER);
    ran(typed.chain(options.iter().copied()))
}

#[test]
fn the_configuration_sets_both_and_options_come_first() {
    let server = Flaky::new();
    let config = configured(&server, "retries = 1\nflaky = \"pass\"");
    let shown = of_file(&server, &config, &[]);
    assert_eq!(shown.code, 0, "{}", shown.stdout);
    assert!(shown.stdout.ends_with("exit 0  The server conforms, but 1 rule is flaky.\n"), "{}", shown.stdout);
    assert_eq!(of_file(&server, &config, &["--flaky", "fail"]).code, 1);
    let without = of_file(&server, &config, &["--retries", "0"]);
    assert!(without.stdout.starts_with("FAIL  "), "{}", without.stdout);
    // With --fail-fast nothing is tested again.
    assert!(of_file(&server, &config, &["--fail-fast"]).stdout.starts_with("FAIL  "));

    let config = configured(&server, "retries = 11\nflaky = \"maybe\"");
    let refused = of_file(&server, &config, &[]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("`retries` must be at most 10"), "{}", refused.stderr);
    assert!(refused.stderr.contains(":2:"), "{}", refused.stderr);
    let alone = ran(["run", "--reference", "--flaky", "pass"]);
    assert_eq!(alone.code, 2);
    assert!(alone.stderr.contains("--flaky has no effect without --retries"), "{}", alone.stderr);
}
