//! Profiles of hosts: reported beside the verdict, which does not depend on them.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::{Ran, ran};

/// A server with one tool that claude.ai does not take.
const DOTTED: [&str; 6] = ["run", "--reference", "--fault", "host-name-with-dot", "--filter", "tools.list"];

fn dotted(more: &[&str]) -> Ran {
    // A filter selects rules of profiles too.
    let profiles: &[&str] = if more.contains(&"--profile") { &["--filter", "profile"] } else { &[] };
    ran(DOTTED.iter().chain(more).chain(profiles).copied())
}

/// Without times, which differ in each run.
fn plain(report: &Path) -> Value {
    let mut report: Value = serde_json::from_str(&fs::read_to_string(report).unwrap()).unwrap();
    for key in ["started", "ms", "slowest", "timeline", "profiles"] {
        report.as_object_mut().unwrap().remove(key);
    }
    report
}

#[test]
fn the_verdict_does_not_depend_on_profiles() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let json = |name: &str| format!("json={}", path(name).display());
    let without = dotted(&["--report", &json("without.json")]);
    let with = dotted(&["--report", &json("with.json"), "--profile", "all"]);
    assert_eq!((without.code, with.code), (0, 0), "{}", with.stderr);
    assert_eq!(plain(&path("without.json")), plain(&path("with.json")));
    let report: Value = serde_json::from_str(&fs::read_to_string(path("with.json")).unwrap()).unwrap();
    let of = |name: &str| report["profiles"].as_array().unwrap().iter().find(|one| one["profile"] == name).cloned();
    let desktop = of("claude-desktop").unwrap();
    assert_eq!(desktop["affected"][0]["tool"], "text.echo");
    assert_eq!(desktop["affected"][0]["lost"], "server");
    assert_eq!(desktop["totals"]["by_status"]["fail"], 1);
    assert_eq!(of("amazon-q").unwrap()["totals"]["by_status"]["pass"], 1);

    let failing = dotted(&["--profile", "claude-desktop", "--fail-on", "profile"]);
    assert_eq!(failing.code, 1, "{}", failing.stdout);
    assert!(failing.stdout.contains("A profile fails the run"), "{}", failing.stdout);
    assert_eq!(dotted(&["--profile", "amazon-q", "--fail-on", "profile"]).code, 0);
}

/// A server that a host rejected, of tests/hosts/rejected.yaml.
#[derive(serde::Deserialize)]
struct Rejected {
    issue: String,
    #[serde(default, rename = "found by")]
    found_by: Vec<String>,
    silent: Option<String>,
    list: Value,
}

/// The rules of a profile that have one of these statuses for a server with this list of tools.
fn rules_with(statuses: &[&str], profile: &str, list: &Value) -> Vec<String> {
    let patch = list.as_object().unwrap().iter();
    let patch = patch.map(|(name, value)| json!({ "op": "add", "path": format!("/result/{name}"), "value": value }));
    let fault = json!({
        "fault": "rejected",
        "about": "another list",
        "on": "tools/list",
        "when": { "/request/params/cursor": "absent", "/response/result/tools": "present" },
        "patch": patch.collect::<Vec<_>>(),
    });
    let program = env!("CARGO_BIN_EXE_mcp-conform");
    let options = ["run", "--profile", profile, "--filter", "profile", "--report", "json", "--", program];
    let run = ran(options.into_iter().chain(["serve", "--fault", &fault.to_string()]));
    let report: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|why| panic!("{why}: {}", run.stderr));
    let rules = report["profiles"][0]["rules"].as_array().unwrap();
    let such = rules.iter().filter(|rule| statuses.iter().any(|status| rule["status"] == *status));
    such.map(|rule| rule["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_hosts_rejected_in_public_is_found() {
    let servers: Vec<Rejected> = serde_saphyr::from_str(include_str!("../hosts/rejected.yaml")).unwrap();
    let names: Vec<String> = mcp_conform::suite::profiles().map(|(name, ..)| name.to_owned()).collect();
    for Rejected { issue, found_by, silent, list } in servers {
        assert_eq!(found_by.is_empty(), silent.is_some(), "{issue}: either a rule, or a reason for none");
        for rule in found_by {
            let profile = names.iter().find(|name| rule.starts_with(&format!("{name}-"))).unwrap();
            let failing = rules_with(&["fail", "warn"], profile, &list);
            assert!(failing.contains(&rule), "{issue}: {rule} is not among {failing:?}");
        }
        if silent.is_some() {
            assert_eq!(rules_with(&["fail"], "vscode", &list), Vec::<String>::new(), "{issue}");
        }
    }
}

#[test]
fn a_profile_alone_needs_no_rule_of_the_specification() {
    let alone = ran([
        "run",
        "--reference",
        "--variation",
        "portable-tools",
        "--profile",
        "claude-desktop,vscode",
        "--filter",
        "profile",
    ]);
    assert_eq!(alone.code, 0, "{}{}", alone.stdout, alone.stderr);
    assert!(alone.stdout.contains("vscode@2026-11-29  no tool is lost"), "{}", alone.stdout);
    let unknown = ran(["run", "--reference", "--profile", "vs-code"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("did you mean vscode?"), "{}", unknown.stderr);
    let undated = ran(["run", "--reference", "--profile", "vscode@2020-01-01"]);
    assert!(undated.stderr.contains("its snapshots are 2026-11-29"), "{}", undated.stderr);
}

#[test]
fn a_file_extends_a_profile() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("house.yaml").display().to_string();
    let house = "\
profile: house
as-of: 2026-11-30
host: our editor
extends: vscode@2026-11-29
levels:
  vscode-name-characters: { level: fail, reason: our editor has no aliases }
  vscode-icons: { level: \"off\", reason: it shows none }
parameters: { tools: 1 }
rules:
  - id: house-tool-verb
    warn: Names of tools begin with a verb
    source: house rules, section 4
    seen: 2026-11-30
    certainty: page
    lost: text
    every: { tool: $survey.tools.items }
    expect: { $tool.name: { matches: \"^(get|list)_\", says: expected a verb } }
";
    fs::write(&path, house).unwrap();
    let report = dotted(&["--profile", &path, "--report", "json"]);
    assert_eq!(report.code, 0, "{}", report.stderr);
    let report: Value = serde_json::from_str(&report.stdout).unwrap();
    let profile = &report["profiles"][0];
    assert_eq!((&profile["profile"], &profile["extends"]), (&json!("house"), &json!("vscode@2026-11-29")));
    let rule = |id: &str| profile["rules"].as_array().unwrap().iter().find(|rule| rule["id"] == id);
    let status = |id: &str| rule(id).map(|rule| rule["status"].clone());
    assert_eq!(status("vscode-name-characters"), Some(json!("fail")));
    assert_eq!(status("vscode-tools"), Some(json!("fail")));
    assert_eq!(status("house-tool-verb"), Some(json!("warn")));
    assert_eq!(status("vscode-icons"), None);

    let checked = ran(["check", &path]);
    assert!(checked.stdout.contains("1 suite with"), "{}{}", checked.stdout, checked.stderr);
    for (wrong, right, says) in [
        ("vscode@2026-11-29", "vs-code", "did you mean vscode?"),
        ("vscode-icons", "vscode-icon", "unknown rule `vscode-icon`"),
        ("tools: 1", "tool: 1", "unknown parameter `tool`"),
        ("tools: 1", "tools: many", "expected a number for `tools`, received a string"),
        ("    seen: 2026-11-30\n", "", "needs `seen`"),
        ("    seen: 2026-11-30\n", "    seen: yesterday\n", "expected a date"),
        ("reason: it shows none", "reason: \" \"", "`reason` must not be empty"),
    ] {
        fs::write(&path, house.replacen(wrong, right, 1)).unwrap();
        let refused = ran(["check", &path]);
        assert_eq!(refused.code, 2, "{says}: {}", refused.stdout);
        assert!(refused.stderr.contains(says) && refused.stderr.contains("house.yaml:"), "{says}: {}", refused.stderr);
    }
}

#[test]
fn reports_show_what_fails_the_run_and_merging_keeps_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    let part = |number: usize| {
        let (part, report) = (format!("hash:{number}/2"), format!("json={}", path(&number.to_string())));
        dotted(&["--profile", "claude-desktop", "--fail-on", "profile", "--partition", &part, "--report", &report]);
        path(&number.to_string())
    };
    let merge = |form: &str| ran(["report", "merge", &part(1), &part(2), "--report", form]);
    let merged = merge("json");
    assert_eq!(merged.code, 1, "{}", merged.stderr);
    let merged: Value = serde_json::from_str(&merged.stdout).unwrap();
    assert_eq!((merged["exit_code"].as_u64(), merged["profiles"].as_array().map(Vec::len)), (Some(1), Some(1)));
    assert_eq!(merged["profiles"][0]["affected"].as_array().map(Vec::len), Some(1));
    for (form, needle) in [
        ("github", "::error title=mcp-conform%3A claude-desktop-tool-name"),
        ("sarif", "\"ruleId\": \"claude-desktop-tool-name\""),
        ("tap", " - claude-desktop-tool-name\n"),
    ] {
        let failing = merge(form);
        assert!(failing.stdout.contains(needle), "{form}: {}", failing.stdout);
        let tolerated = dotted(&["--profile", "claude-desktop", "--report", form]);
        assert!(!tolerated.stdout.contains("claude-desktop"), "{form}: {}", tolerated.stdout);
    }
}

#[test]
fn a_known_failure_of_a_profile_that_passes_is_outdated() {
    let directory = tempfile::tempdir().unwrap();
    let baseline = directory.path().join("known.toml");
    fs::write(&baseline, "[[known]]\nrule = \"amazon-q-description-length\"\nreason = \"renamed next year\"\n")
        .unwrap();
    let baseline = baseline.display().to_string();
    let options = ["--profile", "amazon-q", "--baseline", &baseline];
    assert_eq!(dotted(&options).code, 0);
    let outdated = dotted(&[&options[..], &["--fail-on", "profile"]].concat());
    assert_eq!(outdated.code, 1, "{}", outdated.stdout);
    assert!(outdated.stdout.contains("amazon-q-description-length"), "{}", outdated.stdout);
}

#[test]
fn the_configuration_names_profiles() {
    let directory = tempfile::tempdir().unwrap();
    let config = directory.path().join("mcp-conform.toml");
    let program = env!("CARGO_BIN_EXE_mcp-conform");
    let text = format!(
        "[targets.dotted]\nstdio = [\"{program}\", \"serve\", \"--fault\", \"host-name-with-dot\"]\n[profiles]\nnames = [\"bedrock\"]\nfail = true\n"
    );
    fs::write(&config, text).unwrap();
    let report =
        ran(["run", "--config", &config.display().to_string(), "--filter", "tools.list", "--filter", "profile"]);
    assert_eq!(report.code, 1, "{}{}", report.stdout, report.stderr);
    assert!(report.stdout.contains("bedrock-tool-name"), "{}", report.stdout);
}

#[test]
fn snapshots_are_listed_and_their_rules_explained() {
    let listed = ran(["list", "profiles"]);
    assert!(listed.stdout.contains("vscode@2026-11-29"), "{}", listed.stdout);
    let explained = ran(["explain", "bedrock-tool-name"]);
    for text in ["openclaw/openclaw#12949", "seen       2026-07-10", "all tools of the server", "text.echo"] {
        assert!(explained.stdout.contains(text), "{text}: {}", explained.stdout);
    }
    assert!(ran(["explain", "bedrock"]).stdout.contains("bedrock-tool-name"));
}
