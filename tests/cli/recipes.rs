//! Every `rerun` and `by hand` of a report reproduces its finding, and does not do so on a server without the fault.
//!
//! By default some of the faults are tested: of suites from all areas, over both transports, and so each form of
//! recipe. `cargo test --test cli recipes -- --ignored` tests all of them. `MCP_CONFORM_FAULTS=TEXT` selects those with
//! the text in their name, and `MCP_CONFORM_SLICE=K/N` every Nth from the Kth.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    process::{Command, Stdio},
    sync::Mutex,
    thread,
};

use jiff::{SignedDuration, Timestamp};
use mcp_conform::{
    evidence::Transport,
    reference::{self},
    revision::Revision,
    run::{
        built_in,
        trials::{Trial, trials},
    },
    suite::Suite,
};
use regex::{Captures, Regex};
use serde_json::{Value, json};

use crate::{PROGRAM, server::Reference};

/// Concurrent servers. Most of the time is waiting.
const AT_ONCE: usize = 12;

/// Faults whose recipe shows the finding, but shows the same on a server without the fault.
const ALIKE: [(&str, &str); 11] = [
    ("capabilities-remembered", "the server remembers what earlier requests of the whole run declared"),
    ("cursor-demanded-later", "the server rejects what it accepted earlier in the run"),
    ("meta-remembered", "the server remembers earlier requests of the whole run"),
    ("version-checked-once", "the server checks only the first request"),
    ("version-of-last-request", "the server remembers the request before, on any connection"),
    ("stops-after-third-request", "which request is the fourth depends on all before"),
    ("file-says-listable", "what the response contradicts stands in a list"),
    ("undeclared-read-bundles", "what the response contradicts stands in a list"),
    ("disconnect-aborts", "the response that never came would come on a stream opened later"),
    ("get-stream-cut-without-retry", "the server closes the stream after a while"),
    ("progress-crosses-streams", "two streams have to be open at once"),
];

/// The results of one fault over one transport.
#[derive(Debug, Default)]
struct Seen {
    reruns: usize,
    recipes: usize,
    /// Rules whose findings have no recipe.
    without: BTreeSet<String>,
    flaws: Vec<String>,
}

#[test]
fn a_part_of_them_shows_the_faults_again() {
    let suites = built_in().expect("the built-in suites load");
    let newest = newest_trials();
    let mut wanted: BTreeMap<String, &Trial> = BTreeMap::new();
    for (index, suite) in suites.iter().step_by(3).enumerate() {
        let over = if index % 2 == 0 { Transport::Stdio } else { Transport::Http };
        let named: BTreeSet<&String> = suite.rules.iter().flat_map(|rule| &rule.faults).collect();
        let of_suite = || newest.iter().filter(|trial| trial.fault.as_ref().is_some_and(|fault| named.contains(fault)));
        let first = of_suite().find(|trial| trial.transport == over).or_else(|| of_suite().next());
        wanted.extend(first.map(|trial| (trial.name(), trial)));
    }
    let seen = try_all(&wanted.into_values().collect::<Vec<_>>(), &suites);
    assert!(seen.reruns > 25 && seen.recipes > 15, "{} reruns, {} recipes", seen.reruns, seen.recipes);
    assert!(seen.flaws.is_empty(), "{}", seen.flaws.join("\n"));
}

#[test]
#[ignore = "takes half an hour"]
fn all_of_them_show_the_faults_again() {
    let named = std::env::var("MCP_CONFORM_FAULTS").unwrap_or_default();
    let newest = newest_trials();
    let wanted = newest.iter().filter(|trial| trial.name().contains(&named)).collect::<Vec<_>>();
    let slice: Vec<usize> = std::env::var("MCP_CONFORM_SLICE")
        .map_or_else(|_| vec![0, 1], |text| text.split('/').filter_map(|part| part.parse().ok()).collect());
    let wanted: Vec<_> = wanted.into_iter().skip(slice[0]).step_by(slice[1]).collect();
    let suites = built_in().expect("the built-in suites load");
    let seen = try_all(&wanted, &suites);
    println!(
        "{} trials, {} rerun, {} by hand, {} rules without a recipe",
        wanted.len(),
        seen.reruns,
        seen.recipes,
        seen.without.len()
    );
    println!("without: {}", seen.without.iter().map(String::as_str).collect::<Vec<_>>().join(" "));
    assert!(seen.flaws.is_empty(), "{} flaws\n{}", seen.flaws.len(), seen.flaws.join("\n"));
}

/// Every fault in the newest revision where it can show, over stdio and over Streamable HTTP.
fn newest_trials() -> Vec<Trial> {
    let mut newest: BTreeMap<(String, &str), Trial> = BTreeMap::new();
    for trial in trials(&Revision::ALL, &[Transport::Stdio, Transport::Http]) {
        // A protected server needs tokens, which `rerun` names but does not contain.
        if let Some(fault) = trial.fault.clone().filter(|_| !trial.protected) {
            newest.insert((fault, trial.transport.as_str()), trial);
        }
    }
    newest.into_values().collect()
}

fn try_all(trials: &[&Trial], suites: &[Suite]) -> Seen {
    let directory = tempfile::tempdir().expect("a directory");
    let config = directory.path().join("mcp-conform.toml");
    // The facts that `--reference` has built in.
    let mut facts = reference::server::facts();
    let mut apart =
        |name: &str| facts.as_object_mut().and_then(|facts| facts.remove(name)).unwrap_or_else(|| json!({}));
    let (tools, prompts) = (apart("tools"), apart("prompts"));
    let known = json!({ "facts": facts, "tools": tools, "prompts": prompts });
    fs::write(&config, toml::to_string(&known).expect("TOML")).expect("a file");
    let (next, all) = (Mutex::new(trials.iter()), Mutex::new(Seen::default()));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(trial) = next.lock().ok().and_then(|mut trials| trials.next()) {
                    let seen = seen(trial, suites, &config);
                    for flaw in &seen.flaws {
                        eprintln!("{}: {flaw}", trial.name());
                    }
                    let mut all = all.lock().expect("nobody panics with it");
                    all.reruns += seen.reruns;
                    all.recipes += seen.recipes;
                    all.without.extend(seen.without);
                    all.flaws.extend(seen.flaws.into_iter().map(|flaw| format!("{}: {flaw}", trial.name())));
                }
            });
        }
    });
    all.into_inner().expect("nobody panics with it")
}

fn seen(trial: &Trial, suites: &[Suite], config: &Path) -> Seen {
    let mut seen = Seen::default();
    let fault = trial.fault.clone().unwrap_or_default();
    let rules: Vec<&str> = suites
        .iter()
        .flat_map(|suite| &suite.rules)
        .filter(|rule| rule.faults.contains(&fault))
        .map(|rule| rule.id.as_str())
        .collect();
    let server = server(trial, true);
    let target = match &server {
        Some(server) => format!("--http {} --config {}", server.http, config.display()),
        None if trial.proposal.as_ref().is_none_or(|name| name.starts_with("sep-")) => {
            format!("--reference --fault {fault}")
        }
        None => format!("--stdio '{}' --config {}", served(trial, true), config.display()),
    };
    let filters: String = rules.iter().map(|rule| format!(" --filter {rule}")).collect();
    let line = format!("mcp-conform run {target} --timeout 2 --revision {}{filters}", trial.revision);
    let Some(result) = failed(&line, &rules) else {
        // Some faults show only together with requests of other suites.
        return seen;
    };
    let id = result["id"].as_str().unwrap_or_default();
    let findings: Vec<&Value> = result["findings"].as_array().into_iter().flatten().collect();
    let Some(first) = findings.first() else { return seen };
    let rerun = first["reproduce"].as_str().unwrap_or_default().to_owned();
    seen.reruns += 1;
    let again = fresh(trial, true, server.as_ref(), &rerun, |line| failed(line, &[id]));
    if again.is_none() {
        seen.flaws.push(format!("{id} does not fail again: {rerun}"));
    }
    let Some((finding, recipe)) = findings.iter().find_map(|finding| Some((finding, finding["by_hand"].as_str()?)))
    else {
        seen.without.insert(id.to_owned());
        return seen;
    };
    seen.recipes += 1;
    let faulty = fresh(trial, true, server.as_ref(), recipe, shell);
    let healthy = match &server {
        Some(_) => fresh(trial, false, server.as_ref(), recipe, shell),
        None => shell(&recipe.replace(&format!(" --fault {fault}"), "")),
    };
    let is_alike = ALIKE.iter().any(|(name, _)| *name == fault);
    if plain(&faulty) == plain(&healthy) && !is_alike {
        seen.flaws.push(format!("{id} by hand shows the same without the fault:\n{recipe}\n{}", cut(&faulty)));
    } else if let Some(missing) = missing(finding, &faulty) {
        seen.flaws.push(format!("{id} by hand does not show {missing}:\n{recipe}\n{}", cut(&faulty)));
    }
    seen
}

fn cut(text: &str) -> String {
    text.chars().take(1500).collect()
}

fn server(trial: &Trial, faulty: bool) -> Option<Reference> {
    let mut options: Vec<&str> = Vec::new();
    if let Some(fault) = trial.fault.as_deref().filter(|_| faulty) {
        options.extend(["--fault", fault]);
    }
    if let Some(proposal) = &trial.proposal {
        options.extend(["--proposal", proposal]);
    }
    (trial.transport == Transport::Http).then(|| Reference::with(&options))
}

fn served(trial: &Trial, faulty: bool) -> String {
    let fault = trial.fault.as_deref().filter(|_| faulty).map(|fault| format!(" --fault {fault}")).unwrap_or_default();
    let proposal = trial.proposal.as_deref().map(|name| format!(" --proposal {name}")).unwrap_or_default();
    format!("mcp-conform serve{fault}{proposal}")
}

/// Runs the line, over HTTP with a server that has not received any request.
fn fresh<T>(trial: &Trial, faulty: bool, old: Option<&Reference>, line: &str, act: impl Fn(&str) -> T) -> T {
    let (Some(old), Some(new)) = (old, server(trial, faulty)) else { return act(line) };
    // The line may contain another address of this machine, with the same port.
    let port = |server: &Reference| format!(":{}/", server.http.split([':', '/']).nth(4).unwrap_or_default());
    act(&line.replace(&port(old), &port(&new)))
}

/// The first of these rules that fails in a run.
fn failed(line: &str, rules: &[&str]) -> Option<Value> {
    let report: Value = serde_json::from_str(&shell(&format!("{line} --report json"))).ok()?;
    let results = report["rules"].as_array()?;
    let fails = |result: &&Value| result["findings"].is_array() && rules.iter().any(|rule| result["id"] == *rule);
    results.iter().find(fails).cloned()
}

fn shell(script: &str) -> String {
    let directory = Path::new(PROGRAM).parent().expect("a directory").display().to_string();
    let path = format!("{directory}:{}", std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new("timeout");
    command.args(["60", "sh", "-c", script]).env("PATH", path).env_remove("NO_COLOR").stdin(Stdio::null());
    let output = command.output().expect("a shell");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    // The response to a captured request is printed on stderr; so is the progress of curl.
    let besides = String::from_utf8_lossy(&output.stderr).into_owned();
    let besides: String =
        besides.lines().filter(|line| line.starts_with(['{', 'H', 'd'])).map(|line| format!("{line}\n")).collect();
    if script.contains("--report json") { said } else { said + &besides }
}

/// The text without the parts that differ in each run, such as times.
fn plain(text: &str) -> String {
    let patterns = [
        (r"(?im)^date: .*$", ""),
        (r"[0-9a-f]{8}-[0-9a-f-]{27}", "ID"),
        (r"[0-9a-f]{12,}", "HEX"),
        (r#""requestState":"[^"]*""#, "STATE"),
        (r"127\.0\.0\.1:\d+", "HOST"),
    ];
    let pattern = |text| Regex::new(text).expect("a pattern");
    let time = pattern(r"\d{4}-\d\d-\d\dT[0-9:.]+(Z|[+-][0-9:]+)");
    let is_now = |text: &str| {
        text.parse::<Timestamp>()
            .is_ok_and(|time| time.duration_since(Timestamp::now()).abs() < SignedDuration::from_hours(1))
    };
    let timeless = time.replace_all(
        text,
        |found: &Captures| {
            if is_now(&found[0]) { "TIME".to_owned() } else { found[0].to_owned() }
        },
    );
    patterns
        .iter()
        .fold(timeless.into_owned(), |text, (from, instead)| pattern(from).replace_all(&text, *instead).into_owned())
}

/// The message of the server in the finding, if it is not in the output.
fn missing(finding: &Value, output: &str) -> Option<String> {
    let messages = finding["messages"].as_array()?;
    let last = messages.last().filter(|message| message["from"] == "server")?["text"].as_str()?;
    if last.contains('…') {
        return None;
    }
    if let Some(status) = last.strip_prefix("HTTP ") {
        let status = status.split(' ').next().unwrap_or_default();
        return (!output.contains(&format!("HTTP/1.1 {status}"))).then(|| last.to_owned());
    }
    let wanted: Value = serde_json::from_str(&plain(last)).ok()?;
    let is_it = |line: &str| {
        let line = line.strip_prefix("data:").unwrap_or(line).trim();
        serde_json::from_str::<Value>(plain(line).trim_start_matches('\u{feff}')).is_ok_and(|value| value == wanted)
    };
    (!output.lines().any(is_it)).then(|| last.to_owned())
}
