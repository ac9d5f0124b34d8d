//! `matrix`: many servers, some of which hang or crash.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

use serde_json::Value;
use tempfile::TempDir;

use crate::{PROGRAM, Ran, ran};

/// A file of targets over stdio, by name and shell command, and a directory for the results.
struct Servers(TempDir);

impl Servers {
    fn new(targets: &[(&str, &str)]) -> Self {
        let servers = Self(tempfile::tempdir().unwrap());
        servers.are(targets);
        servers
    }

    fn are(&self, targets: &[(&str, &str)]) {
        let mut text = String::new();
        for (name, command) in targets {
            // A JSON string is also a TOML string.
            let argv = serde_json::json!(["sh", "-c", command]);
            writeln!(text, "[targets.{name:?}]\nstdio = {argv}").unwrap();
        }
        fs::write(self.0.path().join("targets.toml"), text).unwrap();
    }

    fn line(&self, options: &str) -> Vec<String> {
        let (targets, out) = (self.0.path().join("targets.toml"), self.out());
        let begin = ["matrix", targets.to_str().unwrap(), "--out", out.to_str().unwrap(), "--filter", "resources.list"];
        begin.into_iter().chain(options.split_whitespace()).map(str::to_owned).collect()
    }

    fn matrix(&self, options: &str) -> Ran {
        ran(self.line(options))
    }

    fn out(&self) -> std::path::PathBuf {
        self.0.path().join("results")
    }

    /// The files of results, without those of the matrix.
    fn results(&self) -> Vec<String> {
        let names = fs::read_dir(self.out()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.filter(|name| !name.starts_with("matrix.")).collect();
        names.sort();
        names
    }
}

/// `matrix.json` of a directory.
fn written(directory: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(directory.join("matrix.json")).unwrap()).unwrap()
}

/// The standing of each server.
fn standings(matrix: &Value) -> BTreeMap<&str, &str> {
    let rows = matrix["rows"].as_array().unwrap();
    rows.iter().map(|row| (row["name"].as_str().unwrap(), row["standing"].as_str().unwrap())).collect()
}

fn reference(fault: &str) -> String {
    format!("exec {PROGRAM} serve --revision 2025-11-25{}{fault}", if fault.is_empty() { "" } else { " --fault " })
}

#[test]
fn what_one_server_does_costs_it_alone() {
    let (good, nameless, uriless) =
        (reference(""), reference("list-item-without-name"), reference("list-item-without-uri"));
    let six: [(&str, &str); 6] = [
        ("good", &good),
        ("io.github.me/nameless", &nameless),
        ("nameless too", &nameless),
        ("uriless", &uriless),
        ("silent", "while read line; do :; done"),
        ("dying", "echo 'no \u{1b}[31m database' >&2; exit 3"),
    ];
    let servers = Servers::new(&six);
    let first = servers.matrix("--timeout 3 --jobs 3");
    assert_eq!(first.code, 1, "{}{}", first.stdout, first.stderr);
    assert!(!first.stdout.contains('\u{1b}'), "text of a server acts: {}", first.stdout);
    assert_eq!(first.stdout.lines().filter(|line| line.contains("/6  ")).count(), 6, "{}", first.stdout);
    assert!(first.stdout.contains("\n    2  resources-list-item-name\n"), "{}", first.stdout);
    let told = "exit 1  Of 6 servers 3 fail, 2 could not be tested or died, 1 conforms.\n";
    assert!(first.stdout.contains(told), "{}", first.stdout);

    let matrix = written(&servers.out());
    let expected = [
        ("dying", "broken"),
        ("good", "conforming"),
        ("io.github.me/nameless", "failing"),
        ("nameless too", "failing"),
        ("silent", "broken"),
        ("uriless", "failing"),
    ];
    assert_eq!(standings(&matrix), BTreeMap::from(expected));
    let common = &matrix["failures"][0];
    assert_eq!((common["rule"].as_str(), common["servers"].as_u64()), (Some("resources-list-item-name"), Some(2)));
    assert_eq!(common["named"], serde_json::json!(["io.github.me/nameless", "nameless too"]));
    for ending in ["html", "md"] {
        let text = fs::read_to_string(servers.out().join(format!("matrix.{ending}"))).unwrap();
        assert!(text.contains("resources-list-item-uri") && !text.contains('\u{1b}'), "{ending}: {text}");
    }

    // Each result is the report of a run, with the command to repeat it.
    let results = servers.results();
    assert_eq!(results.len(), 6, "{results:?}");
    let nameless_file = results.iter().find(|name| name.starts_with("io.github.me%2Fnameless.")).unwrap();
    let report = servers.out().join(nameless_file).display().to_string();
    let rendered = ran(["report", "render", &report]);
    assert_eq!(rendered.code, 1);
    assert!(rendered.stdout.contains("targets.toml io.github.me/nameless"), "{}", rendered.stdout);

    // A pipeline gets a test suite for each suite of each server, and an annotation for each rule.
    let (out, junit) = (servers.out().display().to_string(), servers.0.path().join("matrix.xml"));
    let wanted = format!("junit={}", junit.display());
    let merged = ran(["matrix", "merge", &out, "--report", "github", "--report", &wanted]);
    assert_eq!(merged.code, 1, "{}", merged.stderr);
    let annotation = "::error title=mcp-conform%3A resources-list-item-name::`name` of a listed resource MUST be a string%0A\
                      fails on io.github.me/nameless, nameless too\n";
    assert!(merged.stdout.contains(annotation), "{}", merged.stdout);
    assert!(merged.stdout.contains("::error title=mcp-conform%3A dying::exited with status 3"), "{}", merged.stdout);
    let xml = fs::read_to_string(&junit).unwrap();
    let names =
        ["good: resources.list", "nameless too: resources.list", "uriless: resources.list", "silent: mcp-conform"];
    for name in names {
        assert_eq!(xml.matches(&format!("<testsuite name=\"{name}\"")).count(), 1, "{name}: {xml}");
        assert!(xml.contains(&format!("classname=\"{name}\"")), "{name}: {xml}");
    }
    assert!(xml.contains("failures=\"3\" errors=\"2\""), "{xml}");
    for form in ["tap", "junit", "junit=-"] {
        let refused = ran(["matrix", "merge", &out, "--report", form]);
        assert_eq!(refused.code, 2, "{form}: {}", refused.stdout);
        assert!(refused.stderr.contains("--report junit=PATH and --report github"), "{}", refused.stderr);
    }

    // A server with a result is not tested again. A server with a new definition is, and its old result is replaced.
    let again = servers.matrix("--timeout 3");
    assert_eq!(again.code, 1);
    assert!(again.stdout.starts_with("4 of 6 results are in "), "{}", again.stdout);
    assert!(again.stdout.contains("/6  BROKEN  silent"), "what could not be tested is tried again: {}", again.stdout);
    assert_eq!(standings(&written(&servers.out())), standings(&matrix));
    let mut mended = six;
    mended[3].1 = &good;
    servers.are(&mended);
    let mended = servers.matrix("--timeout 3");
    assert!(mended.stdout.starts_with("3 of 6 results are in "), "{}", mended.stdout);
    assert_eq!(standings(&written(&servers.out()))["uriless"], "conforming");
    assert_eq!(servers.results().len(), 6);
    // Other options lead to other results.
    let other = servers.matrix("--timeout 3 --filter base.ping --partition count:1/6");
    assert!(other.stdout.starts_with("1/1  ok "), "{}", other.stdout);
}

#[test]
fn parts_and_their_merge_are_the_whole() {
    let servers = Servers::new(&[("a", "exit 1"), ("b", "exit 2"), ("c", "exit 3")]);
    for (part, of) in [("count:1/2", 1), ("count:2/2", 2)] {
        let ran = servers.matrix(&format!("--partition {part}"));
        assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.stdout.lines().filter(|line| line.contains("BROKEN")).count(), of, "{}", ran.stdout);
    }
    assert!(!servers.out().join("matrix.json").exists(), "a part is no matrix");
    fs::write(servers.out().join("damaged.json"), "{").unwrap();
    let out = servers.out().display().to_string();
    let merged = ran(["matrix", "merge", &out]);
    assert_eq!(merged.code, 3, "{}", merged.stdout);
    assert!(merged.stderr.contains("damaged.json` is skipped: this is not a report"), "{}", merged.stderr);
    let matrix = written(&servers.out());
    assert_eq!((matrix["servers"].as_u64(), matrix["unreadable"].as_u64()), (Some(3), Some(1)));
    assert_eq!(standings(&matrix).into_keys().collect::<Vec<_>>(), ["a", "b", "c"]);
}

#[test]
fn mistakes_are_told_before_any_server_is_tested() {
    let servers = Servers::new(&[("first", "exit 1")]);
    let targets = servers.0.path().join("targets.toml");
    let text = fs::read_to_string(&targets).unwrap();
    fs::write(
        &targets,
        format!("{text}[targets.second]\nhttp = \"http://127.0.0.1:1\"\nheaders = {{ A = \"${{NO_SUCH}}\" }}\n"),
    )
    .unwrap();
    let unset = servers.matrix("");
    assert_eq!((unset.code, unset.stdout.as_str()), (2, ""));
    assert!(
        unset.stderr.contains("targets.toml:5:") && unset.stderr.contains("`NO_SUCH` is not set"),
        "{}",
        unset.stderr
    );

    let part = servers.matrix("--partition hash:3/2");
    assert_eq!(part.code, 2);
    assert!(part.stderr.contains("part 3 of 2 does not exist; the second of four is `hash:2/4`"), "{}", part.stderr);
    fs::write(&targets, "[facts]\n").unwrap();
    let none = servers.matrix("");
    assert!(none.stderr.contains("has no targets") && none.stderr.contains("[targets.NAME]"), "{}", none.stderr);
    assert!(servers.matrix("--run-timeout 0").stderr.contains("--run-timeout takes a number of seconds above 0"));
    let empty = ran(["matrix", "merge", &servers.0.path().display().to_string()]);
    assert_eq!(empty.code, 2);
    assert!(empty.stderr.contains("there are no results"), "{}", empty.stderr);
}

/// After an interruption finished results are kept, no process keeps running, and the same command continues.
#[cfg(target_os = "linux")]
#[test]
fn stopped_and_gone_on() {
    use std::{
        io::{BufRead as _, BufReader},
        process::{Command, Stdio},
    };

    let servers = Servers::new(&[]);
    let id = servers.0.path().join("id");
    let endless = format!("echo $$ >{}; while read line; do :; done; while :; do sleep 1; done", id.display());
    let good = reference("");
    servers.are(&[("first", &good), ("endless", &endless), ("last", "exit 1")]);
    let mut program = Command::new(PROGRAM)
        .args(servers.line("--jobs 1 --timeout 1000 --run-timeout 1000"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(program.stdout.take().unwrap()).lines();
    let line = lines.next().unwrap().unwrap();
    assert!(line.starts_with("1/3  ok ") && line.contains("  first"), "{line}");
    let started = || fs::read_to_string(&id).is_ok_and(|id| id.ends_with('\n'));
    while !started() {
        std::thread::yield_now();
    }
    let process = rustix::process::Pid::from_child(&program);
    rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
    let output = program.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(stderr.starts_with("stopped: 1 of 3 results are in "), "{stderr}");
    assert_eq!(servers.results().len(), 1);
    let id = fs::read_to_string(&id).unwrap();
    let stat = fs::read_to_string(format!("/proc/{}/stat", id.trim())).unwrap_or_default();
    assert!(stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with(['Z', 'X'])), "{stat} still runs");

    servers.are(&[("first", &good), ("endless", "exit 1"), ("last", "exit 1")]);
    let on = servers.matrix("--jobs 1 --timeout 1000 --run-timeout 1000");
    assert!(on.stdout.starts_with("1 of 3 results are in "), "{}", on.stdout);
    assert_eq!(written(&servers.out())["servers"], 3);
}
